/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the part of an attr that the kernel refuses, and is the only place that does, by trial: a copy is changed in one place and
 * opened; if the error goes away, that place is the reason.
 *
 * Order: values that are invalid but could be fixed (a stack of 7 bytes); each field cleared, the
 * newest first, since an old kernel is the most likely reason; bits of masks; the context (group,
 * target); then pairs of fields.
 *
 * The error is gone when the copy opens, but also when the errno changes: the kernel checks the
 * attr before it looks for a counter, so on a machine without counters EINVAL turns into ENOENT.
 * EACCES and EPERM prove nothing: clearing exclude_kernel needs more privilege, which is checked
 * earlier.
 */
#include "perfevent/open/explain.h"

#include "perfevent/attr/attr_fields.h"
#include "perfevent/machine/kernel.h"
#include "perfevent/machine/pmu.h"
#include "perfevent/open/target.h"

#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct trial {
	const union pev_attr_buf *attr;
	struct pev_target target;
	int group_fd;
	unsigned long flags;
	int code;              /* -errno to explain */
	bool kprobe, uprobe;   /* PMUs with other names for config1 and config2 */
	char *buf;             /* the result */
	size_t size;
};

/* As in pev_event_open(): bytes that an older kernel does not know must be zero. */
static bool fits(const union pev_attr_buf *copy, uint32_t from)
{
	for (uint32_t i = copy->attr.size; i < from; i++)
		if (((const char *)copy)[i])
			return false;
	return true;
}

static int try_open(const struct trial *t, union pev_attr_buf *copy, int group_fd,
		    struct pev_target target)
{
	int fd;

	/* on arm64 a disabled member is not counted when the kernel checks the group's size */
	if (group_fd < 0)
		copy->attr.disabled = 1;
	fd = pev_open_raw_(&copy->attr, target, group_fd, t->flags);
	if (fd == -E2BIG && copy->attr.size < t->attr->attr.size && fits(copy, t->attr->attr.size))
		fd = pev_open_raw_(&copy->attr, target, group_fd, t->flags);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static bool gone(const struct trial *t, int rc)
{
	return !rc || (rc != t->code && rc != -EACCES && rc != -EPERM && rc != -E2BIG &&
		       rc != -EMFILE && rc != -ENFILE && rc != -ENOMEM);
}

static bool cures(const struct trial *t, union pev_attr_buf *copy)
{
	return gone(t, try_open(t, copy, t->group_fd, t->target));
}

static bool verdict(const struct trial *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool verdict(const struct trial *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->buf, t->size, fmt, ap);
	va_end(ap);
	return true;
}

/* "sample_stack_user = 7"; only the name for a flag. */
static void show(const struct trial *t, const struct pev_attr_field *f, char *buf, size_t size)
{
	unsigned long long value = pev_field_get_(&t->attr->attr, f);

	const char *name = t->kprobe && !strcmp(f->name, "config2") ? "probe_offset" : f->name;

	if (f->width == 1)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, value < 100000 ? "%s = %llu" : "%s = %#llx", name, value);
}

static const struct pev_attr_field *field(const char *name)
{
	const struct pev_attr_field *f;

	for (unsigned int i = 0; (f = pev_attr_field_at(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* ---- invalid values ---------------------------------------------------------- */

static bool fix_freq(struct perf_event_attr *a)
{
	if (!a->freq)
		return false;
	a->sample_freq = 1;
	return true;
}

static bool fix_period(struct perf_event_attr *a)
{
	if (a->freq || !(a->sample_period >> 63))
		return false;
	a->sample_period = 1000000;
	return true;
}

static bool fix_stack(struct perf_event_attr *a)
{
	a->sample_stack_user = 8;
	return a->sample_type & PERF_SAMPLE_STACK_USER;
}

static bool fix_regs_user(struct perf_event_attr *a)
{
	a->sample_regs_user = 1;
	return a->sample_type & PERF_SAMPLE_REGS_USER;
}

static bool fix_regs_intr(struct perf_event_attr *a)
{
	a->sample_regs_intr = 1;
	return a->sample_type & PERF_SAMPLE_REGS_INTR;
}

static bool fix_branches(struct perf_event_attr *a)
{
	bool none = !(a->branch_sample_type & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL);

	a->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
	return none && a->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static bool fix_clock(struct perf_event_attr *a)
{
	a->clockid = CLOCK_MONOTONIC;
	return a->use_clockid;
}

static bool fix_sigtrap(struct perf_event_attr *a)
{
	a->remove_on_exec = 1;
	a->enable_on_exec = 0;
	return a->sigtrap;
}

static bool fix_inherit_thread(struct perf_event_attr *a)
{
	a->inherit = 1;
	return a->inherit_thread;
}

static bool fix_bp_len(struct perf_event_attr *a)
{
	a->bp_len = a->bp_type & HW_BREAKPOINT_X ? pev_breakpoint_exec_length() : 1;
	return a->type == PERF_TYPE_BREAKPOINT;
}

static bool fix_bp_type(struct perf_event_attr *a)
{
	a->bp_type = HW_BREAKPOINT_W;
	return a->type == PERF_TYPE_BREAKPOINT;
}

static bool fix_bp_addr(struct perf_event_attr *a)
{
	a->bp_addr &= ~7ull;
	return a->type == PERF_TYPE_BREAKPOINT;
}

static bool fix_bp_user(struct perf_event_attr *a)
{
	a->bp_addr = 0x1000;
	return a->type == PERF_TYPE_BREAKPOINT;
}

static bool fix_excludes(struct perf_event_attr *a)
{
	bool any = a->exclude_user || a->exclude_kernel || a->exclude_hv || a->exclude_idle ||
		   a->exclude_host || a->exclude_guest;

	a->exclude_user = a->exclude_kernel = a->exclude_hv = 0;
	a->exclude_idle = a->exclude_host = a->exclude_guest = 0;
	return any;
}

static bool fix_weights(struct perf_event_attr *a)
{
	uint64_t both = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	bool has = (a->sample_type & both) == both;

	a->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
	return has;
}

static bool fix_inherited_read(struct perf_event_attr *a)
{
	bool has = a->inherit && a->sample_type & PERF_SAMPLE_READ;

	a->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	return has;
}

/* fix() makes the field valid and returns whether that was needed; NULL: the field is cleared, in blame_field(). */
static const struct {
	const char *field;
	bool (*fix)(struct perf_event_attr *a);
	const char *hint;
} fixes[] = {
	{ "sample_freq", fix_freq, NULL },   /* show_limit() */
	{ "sample_period", fix_period, "below 2^63" },
	{ "sample_stack_user", fix_stack, "a multiple of 8, from 8 to 65528" },
	{ "sample_regs_user", fix_regs_user, "a mask of registers that this CPU has; not empty" },
	{ "sample_regs_intr", fix_regs_intr, "a mask of registers that this CPU has; not empty" },
	{ "branch_sample_type", fix_branches, "needs a kind of branch, PERF_SAMPLE_BRANCH_ANY and "
	  "the like, beside the privilege levels" },
	{ "clockid", fix_clock, "CLOCK_MONOTONIC or _RAW; REALTIME, BOOTTIME, TAI not for "
	  "hardware events" },
	{ "sigtrap", fix_sigtrap, "needs remove_on_exec, Linux 5.13" },
	{ "inherit_thread", fix_inherit_thread, "needs inherit, Linux 5.13" },
	{ "bp_addr", fix_bp_addr, "has to be a multiple of bp_len" },
	{ "bp_len", fix_bp_len, "1, 2, 4 or 8; sizeof(long) for HW_BREAKPOINT_X" },
	{ "bp_type", fix_bp_type, "HW_BREAKPOINT_W, HW_BREAKPOINT_R | HW_BREAKPOINT_W, or "
	  "HW_BREAKPOINT_X alone" },
	{ "bp_addr", fix_bp_user, "not an address that can be watched here" },
	{ "exclude_user", fix_excludes, "and the other exclude_ fields: this PMU counts everything" },
	{ "sample_type", fix_weights, "PERF_SAMPLE_WEIGHT or PERF_SAMPLE_WEIGHT_STRUCT, not both" },
	{ "inherit", fix_inherited_read, "not with PERF_SAMPLE_READ; Linux 6.13 allows it with "
	  "PERF_SAMPLE_TID" },
	{ "remove_on_exec", NULL, "not with enable_on_exec" },
	{ "exclusive", NULL, "group leaders only" },
	{ "pinned", NULL, "group leaders only" },
	{ "inherit", NULL, "a group needs it in all events or in none; before Linux 6.13 not with "
	  "PERF_FORMAT_GROUP" },
	{ "config", NULL, "the event source knows none of that number" },
	{ "sample_period", NULL, "this event can only be counted, not sampled" },
	{ "sample_freq", NULL, "this event can only be counted, not sampled" },
	{ "sigtrap", NULL, "needs remove_on_exec, and a task as target" },
};

static const char *hint_of(const struct pev_attr_field *f)
{
	for (size_t i = 0; i < COUNT(fixes); i++)
		if (!fixes[i].fix && !strcmp(fixes[i].field, f->name))
			return fixes[i].hint;
	return NULL;
}

/* The current limit, which the kernel lowers by itself. */
static void show_limit(const struct trial *t, char *buf, size_t size)
{
	long long limit;

	if (pev_sysctl_("perf_event_max_sample_rate", &limit))
		snprintf(buf, size, "kernel.perf_event_max_sample_rate is the limit");
	else
		snprintf(buf, size, "kernel.perf_event_max_sample_rate is %lld; as root: sysctl "
			 "%skernel.perf_event_max_sample_rate=%llu", limit, pev_rate_unlock_(),
			 (unsigned long long)t->attr->attr.sample_freq);
}

static bool blame_value(const struct trial *t)
{
	char limit[200];

	show_limit(t, limit, sizeof(limit));
	for (size_t i = 0; i < COUNT(fixes); i++) {
		union pev_attr_buf copy = *t->attr;
		char shown[96];

		if (!fixes[i].fix || !fixes[i].fix(&copy.attr) || !memcmp(&copy, t->attr, sizeof(copy)) ||
		    !cures(t, &copy))
			continue;
		show(t, field(fixes[i].field), shown, sizeof(shown));
		return verdict(t, "%s (%s)", shown, fixes[i].hint ? fixes[i].hint : limit);
	}
	return false;
}

/* ---- cleared fields ----------------------------------------------------------- */

/* 5.13 as 5013; 2.6.31 as 2006. */
static unsigned int version(const char *since)
{
	unsigned int major = 0, minor = 0;

	sscanf(since, "%u.%u", &major, &minor);
	return major * 1000 + minor;
}

/* Whether the field is in use: of the members of a union, the one for this type of event. In a
 * group that is too large, clearing config may find another event a counter, which proves nothing. */
static bool is_meant(const struct trial *t, const char *name)
{
	const struct perf_event_attr *a = &t->attr->attr;
	static const char *const breakpoint[] = { "bp_addr", "bp_len", "bp_type" };
	static const char *const never[] = {
		"type", "size", "disabled", "kprobe_func", "uprobe_path", "kprobe_addr",
		"probe_offset", "aux_action",
		/* bit by bit: blame_masks() */
		"sample_type", "read_format", "branch_sample_type", "sample_regs_user",
		"sample_regs_intr",
	};

	for (size_t i = 0; i < COUNT(never); i++)
		if (!strcmp(name, never[i]))
			return false;
	for (size_t i = 0; i < COUNT(breakpoint); i++)
		if (!strcmp(name, breakpoint[i]))
			return a->type == PERF_TYPE_BREAKPOINT;
	if (t->group_fd >= 0 && !strncmp(name, "config", 6))
		return false;
	/* without its path, or at another offset, it is another probe */
	if (t->uprobe && !strncmp(name, "config", 6) && name[6])
		return false;
	if (t->kprobe && !strcmp(name, "config1"))
		return false;
	if (!strcmp(name, "config1") || !strcmp(name, "config2"))
		return a->type != PERF_TYPE_BREAKPOINT;
	if (!strcmp(name, "sample_freq") || !strcmp(name, "sample_period"))
		return a->freq == (name[7] == 'f');
	if (!strncmp(name, "wakeup_", 7))
		return a->watermark == (name[7] == 'w');
	return true;
}

#define MAX_FIELDS 128

/* Fields that are not zero, newest first. */
static size_t fields_set(const struct trial *t, const struct pev_attr_field **list)
{
	const struct pev_attr_field *f;
	size_t n = 0, at;

	for (unsigned int i = 0; (f = pev_attr_field_at(i)) && n < MAX_FIELDS; i++) {
		if (!is_meant(t, f->name) || !pev_field_get_(&t->attr->attr, f))
			continue;
		for (at = n++; at && version(list[at - 1]->since) < version(f->since); at--)
			list[at] = list[at - 1];
		list[at] = f;
	}
	return n;
}

static void leave_out(union pev_attr_buf *buf, const struct pev_attr_field *f)
{
	pev_field_set_(&buf->attr, f, 0);
	if (!strcmp(f->name, "freq"))
		buf->attr.sample_period = 1000000;
}

static bool blame_field(const struct trial *t)
{
	const struct pev_attr_field *list[MAX_FIELDS];
	size_t n = fields_set(t, list);

	for (size_t i = 0; i < n; i++) {
		union pev_attr_buf copy = *t->attr;
		const char *hint = hint_of(list[i]);
		char shown[96];

		leave_out(&copy, list[i]);
		if (!cures(t, &copy))
			continue;
		show(t, list[i], shown, sizeof(shown));
		return verdict(t, "%s (Linux %s%s%s)", shown, list[i]->since, hint ? "; " : "",
			       hint ? hint : "");
	}
	return false;
}

/* Clears two fields at a time: a PMU may refuse more than one. */
static bool blame_pair(const struct trial *t)
{
	const struct pev_attr_field *list[MAX_FIELDS];
	size_t n = fields_set(t, list);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			union pev_attr_buf copy = *t->attr;

			leave_out(&copy, list[i]);
			leave_out(&copy, list[k]);
			if (cures(t, &copy))
				return verdict(t, "%s together with %s", list[i]->name,
					       list[k]->name);
		}
	return false;
}

/* ---- bits of masks -------------------------------------------------------------- */

static const char *const sample_bits[] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW",
	"BRANCH_STACK (Linux 3.4)", "REGS_USER (Linux 3.7)", "STACK_USER (Linux 3.7)",
	"WEIGHT (Linux 3.10)", "DATA_SRC (Linux 3.10)", "IDENTIFIER (Linux 3.12)",
	"TRANSACTION (Linux 3.13)", "REGS_INTR (Linux 3.19)", "PHYS_ADDR (Linux 4.14)",
	"AUX (Linux 5.5)", "CGROUP (Linux 5.7)", "DATA_PAGE_SIZE (Linux 5.11)",
	"CODE_PAGE_SIZE (Linux 5.11)", "WEIGHT_STRUCT (Linux 5.12)",
};

static const char *const format_bits[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
	"GROUP (before Linux 6.13 not with inherit)", "LOST (Linux 6.0)",
};

static const char *const branch_bits[] = {
	"USER", "KERNEL", "HV", "ANY", "ANY_CALL", "ANY_RETURN", "IND_CALL", "ABORT_TX", "IN_TX",
	"NO_TX", "COND (Linux 3.16)", "CALL_STACK (Linux 4.1)", "IND_JUMP (Linux 4.2)",
	"CALL (Linux 4.4)", "NO_FLAGS (Linux 4.5)", "NO_CYCLES (Linux 4.5)",
	"TYPE_SAVE (Linux 4.14)", "HW_INDEX (Linux 5.7)", "PRIV_SAVE (Linux 6.1)",
	"COUNTERS (Linux 6.8)",
};

static const struct {
	const char *field, *prefix;
	const char *const *names;
	size_t n;
} masks[] = {
	{ "sample_type", "PERF_SAMPLE_", sample_bits, COUNT(sample_bits) },
	{ "read_format", "PERF_FORMAT_", format_bits, COUNT(format_bits) },
	{ "branch_sample_type", "PERF_SAMPLE_BRANCH_", branch_bits, COUNT(branch_bits) },
	{ "sample_regs_user", NULL, NULL, 0 },
	{ "sample_regs_intr", NULL, NULL, 0 },
};

/* Bits after the kernel's last known flag. */
static bool blame_reserved(const struct trial *t)
{
	static const struct {
		const char *name;
		uint16_t offset, size, bit, width;
	} reserved[] = {
		{ "__reserved_1", 40, 8, 40, 24 },
		{ "__reserved_2", 110, 2, 0, 16 },
		{ "__reserved_3", 116, 4, 3, 29 },
	};

	for (size_t i = 0; i < COUNT(reserved); i++) {
		struct pev_attr_field f = {
			reserved[i].name, "", "", reserved[i].offset, reserved[i].size,
			reserved[i].bit, reserved[i].width,
		};
		union pev_attr_buf copy = *t->attr;

		if (!pev_field_get_(&copy.attr, &f))
			continue;
		pev_field_set_(&copy.attr, &f, 0);
		if (cures(t, &copy))
			return verdict(t, "%s, which has to be 0 (was the attr cleared?)", f.name);
	}
	return false;
}

/* Clears bits with a name, or those without. */
static bool blame_mask(const struct trial *t, size_t m, bool named)
{
	const struct pev_attr_field *f = field(masks[m].field);
	uint64_t value = pev_field_get_(&t->attr->attr, f);

	for (size_t i = 64; i-- > 0;) {
		union pev_attr_buf copy = *t->attr;

		if (!(value & 1ull << i) || (i < masks[m].n) != named)
			continue;
		pev_field_set_(&copy.attr, f, value & ~(1ull << i));
		if (!cures(t, &copy))
			continue;
		if (i < masks[m].n)
			return verdict(t, "%s%s in %s", masks[m].prefix, masks[m].names[i],
				       f->name);
		return verdict(t, "bit %zu of %s, which it does not know", i, f->name);
	}
	return false;
}

/* Single bits, then whole masks: several bits may be unknown. */
static bool blame_masks(const struct trial *t)
{
	for (size_t m = 0; m < 2 * COUNT(masks); m++)
		if (blame_mask(t, m % COUNT(masks), m >= COUNT(masks)))
			return true;
	for (size_t m = 0; m < COUNT(masks); m++) {
		const struct pev_attr_field *f = field(masks[m].field);
		union pev_attr_buf copy = *t->attr;
		uint64_t value = pev_field_get_(&copy.attr, f);

		if (!value)
			continue;
		pev_field_set_(&copy.attr, f, 0);
		if (cures(t, &copy))
			return verdict(t, "%s = %#llx, of which it does not know several bits", f->name,
				       (unsigned long long)value);
	}
	return false;
}

/* ---- context of the attr ---------------------------------------------------------- */

static bool blame_flags(const struct trial *t)
{
	unsigned long known = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP |
			      PERF_FLAG_FD_CLOEXEC;

	union pev_attr_buf copy = *t->attr;
	struct trial other = *t;

	other.flags &= ~(unsigned long)PERF_FLAG_FD_OUTPUT;
	if (t->flags & ~known)
		return verdict(t, "bits %#lx of flags, which are none of PERF_FLAG_", t->flags & ~known);
	return other.flags != t->flags && cures(&other, &copy) &&
	       verdict(t, "PERF_FLAG_FD_OUTPUT: the event of group_fd needs a ring (mmap(2)), of the same CPU or task and clock");
}

static bool blame_group(const struct trial *t)
{
	union pev_attr_buf copy = *t->attr;

	if (t->group_fd < 0 || !gone(t, try_open(t, &copy, -1, t->target)))
		return false;
	return verdict(t, "the group: it may have more events than the PMU has counters; its leader has "
		       "to be no other group's member and to have the same task, CPU, clock and "
		       "inherit");
}

static bool blame_target(const struct trial *t)
{
	union pev_attr_buf copy = *t->attr;

	if (!gone(t, try_open(t, &copy, -1, t->target.cpu_ < 0 ? pev_target_cpu(0)
							       : pev_target_self())))
		return false;
	return verdict(t, t->target.cpu_ < 0 ? "a task as target: this event counts whole CPUs"
			: t->target.pid_ < 0 ? "a whole CPU as target, or that CPU"
					     : "that CPU as target");
}

/* Whether the event source may count user space and kernel together only, which this user may not try. */
static bool may_count_all(const struct trial *t)
{
	union pev_attr_buf copy = *t->attr;
	int rc;

	if (copy.attr.type < PERF_TYPE_MAX || !fix_excludes(&copy.attr))
		return false;
	rc = try_open(t, &copy, -1, t->target);
	return rc == -EACCES || rc == -EPERM;
}

/* Blames the event if a dummy in its place is not refused. */
static bool blame_event(const struct trial *t)
{
	union pev_attr_buf copy = *t->attr;

	copy.attr.type = PERF_TYPE_SOFTWARE;
	copy.attr.config = PERF_COUNT_SW_DUMMY;
	if (!cures(t, &copy))
		return false;
	if (t->attr->attr.type == PERF_TYPE_BREAKPOINT)
		return verdict(t, "more than one of bp_type = %u (HW_BREAKPOINT_W, _R | _W, or _X alone), bp_len = %llu (1, 2, 4 or "
			       "8; sizeof(long) for _X) and bp_addr = %#llx (none of the kernel with exclude_kernel)",
			       t->attr->attr.bp_type, (unsigned long long)t->attr->attr.bp_len,
			       (unsigned long long)t->attr->attr.bp_addr);
	if (may_count_all(t))
		return verdict(t, "exclude_kernel (:u), as event sources do that count user space and the kernel "
			       "together, or config = %#llx: without exclude_kernel it takes privilege (root, CAP_PERFMON)",
			       (unsigned long long)t->attr->attr.config);
	return verdict(t, "config = %#llx (the event source of type %u has no such event, or config1 "
		       "and config2 don't fit it)", (unsigned long long)t->attr->attr.config,
		       t->attr->attr.type);
}

int pev_try_plain_(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;
	int fd;

	pev_attr_init(&attr, type, config);
	attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
	fd = pev_open_raw_(&attr, pev_target_self(), -1, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

bool pev_opens_alone_(const struct pev_event *ev)
{
	struct trial t = { .attr = &ev->buf, .flags = (unsigned long)ev->flags };
	union pev_attr_buf copy = ev->buf;

	return ev->group_fd >= 0 && !try_open(&t, &copy, -1, ev->target);
}

int pev_open_user_only_(const struct pev_event *ev)
{
	struct trial t = { .attr = &ev->buf, .flags = (unsigned long)ev->flags };
	union pev_attr_buf copy = ev->buf;

	if (copy.attr.exclude_kernel || copy.attr.exclude_user)
		return -EACCES;
	copy.attr.exclude_kernel = copy.attr.exclude_hv = 1;
	if (copy.attr.freq)   /* privilege is checked before the frequency */
		copy.attr.sample_freq = 1;
	return try_open(&t, &copy, ev->group_fd, ev->target);
}

bool pev_is_others_task_(const struct pev_event *ev)
{
	struct trial t = { .attr = &ev->buf, .flags = (unsigned long)ev->flags };
	union pev_attr_buf copy = ev->buf;
	int rc;

	if (ev->target.kind_ != TARGET_TASK || ev->target.pid_ <= 0)
		return false;
	if (!copy.attr.exclude_user && copy.attr.type != PERF_TYPE_TRACEPOINT)
		copy.attr.exclude_kernel = copy.attr.exclude_hv = 1;
	if (copy.attr.freq)
		copy.attr.sample_freq = 1;
	rc = try_open(&t, &copy, -1, ev->target);
	return (rc == -EACCES || rc == -EPERM) && !try_open(&t, &copy, -1, pev_target_self());
}

/* ---- the file of a uprobe -------------------------------------------------------- */

/*
 * No trials: a probe at another place would put a breakpoint into processes that run the file. The attr's path pointer may be
 * invalid, since the kernel may have failed before reading it, so the path is read like memory of another process.
 */

#define REF_CTR_SHIFT 32     /* from the PMU's format file: config:32-63 */

/* Reads a string at an address that may be invalid; false if it has no end. */
static bool fetch(uint64_t address, char *buf, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - address % page;
	struct iovec to = { buf, size }, from[2] = {
		{ (void *)(uintptr_t)address, first < size ? first : size },
		{ (void *)(uintptr_t)(address + first), first < size ? size - first : 0 },
	};
	ssize_t n = process_vm_readv(getpid(), &to, 1, from, 2, 0);

	return n > 0 && memchr(buf, '\0', (size_t)n);
}

static bool blame_uprobe(const struct trial *t)
{
	const struct perf_event_attr *a = &t->attr->attr;
	char path[PATH_MAX];
	struct stat st;

	if (!t->uprobe || !fetch(a->uprobe_path, path, sizeof(path)))
		return false;
	if (!path[0])
		return verdict(t, "uprobe_path: it is empty");
	if (stat(path, &st))
		return verdict(t, "uprobe_path: there is no file %.150s", path);
	if (!S_ISREG(st.st_mode))
		return verdict(t, "uprobe_path: %.150s is no regular file", path);
	if (a->probe_offset >= (uint64_t)st.st_size)
		return verdict(t, "probe_offset = %#llx: %.120s has %#llx bytes", (unsigned long long)a->probe_offset, path,
			       (unsigned long long)st.st_size);
	if (a->config >> REF_CTR_SHIFT & 1)
		return verdict(t, "config = %#llx: ref_ctr_offset (its upper half) has to be even", (unsigned long long)a->config);
	return false;
}

static bool is_of_pmu(const struct trial *t, const char *name)
{
	uint32_t type;

	return !pev_pmu_lookup_type(name, &type) && type == t->attr->attr.type;
}

bool pev_blame_(const struct pev_event *ev, int code, char *buf, size_t size)
{
	struct trial t = {
		.attr = &ev->buf, .target = ev->target, .group_fd = ev->group_fd,
		.flags = (unsigned long)ev->flags, .buf = buf, .size = size,
	};
	union pev_attr_buf copy = *t.attr;

	t.kprobe = is_of_pmu(&t, "kprobe");
	t.uprobe = is_of_pmu(&t, "uprobe");
	if ((code == ENOENT || code == EINVAL) && blame_uprobe(&t))
		return true;
	t.code = code == ENOENT ? 0 : try_open(&t, &copy, t.group_fd, t.target);
	return t.code && (blame_flags(&t) || blame_reserved(&t) || blame_value(&t) ||
			  blame_field(&t) || blame_masks(&t) || blame_group(&t) ||
			  blame_target(&t) || blame_pair(&t) || blame_event(&t));
}
