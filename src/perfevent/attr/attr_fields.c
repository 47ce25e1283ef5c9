/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of struct perf_event_attr as a row. This table is used to read and set fields by
 * name, to find the field that the kernel refuses, and for perfevent-attr(7).
 *
 * Fields that the oldest supported header lacks have numbers as offsets.
 */
#include "perfevent/attr/attr_fields.h"

#include <errno.h>
#include <string.h>

#define OFF(field) offsetof(struct perf_event_attr, field)
#define U64(field, since, what) { #field, since, what, OFF(field), 8, 0, 64 }
#define U32(field, since, what) { #field, since, what, OFF(field), 4, 0, 32 }
#define U16(field, since, what) { #field, since, what, OFF(field), 2, 0, 16 }
#define FLAGS_OFFSET 40
#define FLAG(bit, name, since, what) { #name, since, what, FLAGS_OFFSET, 8, bit, 1 }
#define SIZE_LIMIT 4096   /* the kernel's: a page */
#define AUX_ACTION_OFFSET 116
#define AUX_ACTION(bit, name, what) { #name, "6.13", what, AUX_ACTION_OFFSET, 4, bit, 1 }

_Static_assert(OFF(wakeup_events) == FLAGS_OFFSET + 8, "the flags stand before wakeup_events");
_Static_assert(OFF(aux_sample_size) == AUX_ACTION_OFFSET - 4, "aux_action stands behind it");
_Static_assert(OFF(sig_data) == 120, "the struct is the kernel's");

static const struct pev_attr_field fields[] = {
	U32(type, "2.6.31", "which kind of event, PERF_TYPE_ or the number in a PMU's type file"),
	U32(size, "2.6.31", "bytes of this struct that count; 0 stands for 64 in the kernel"),
	U64(config, "2.6.31", "which event of that kind"),
	U64(sample_period, "2.6.31", "events per sample; 0 counts without sampling"),
	U64(sample_freq, "2.6.31", "samples a second, with freq; kernel.perf_event_max_sample_rate "
	    "limits it"),
	U64(sample_type, "2.6.31", "what a sample holds, PERF_SAMPLE_"),
	U64(read_format, "2.6.31", "what read(2) gives, PERF_FORMAT_"),
	FLAG(0, disabled, "2.6.31", "starts off; enabled by ioctl, prctl or enable_on_exec"),
	FLAG(1, inherit, "2.6.31", "tasks that the watched one forks from now on are counted too"),
	FLAG(2, pinned, "2.6.31", "always on a counter, else in error; group leaders only"),
	FLAG(3, exclusive, "2.6.31", "its group alone uses the PMU; group leaders only"),
	FLAG(4, exclude_user, "2.6.31", "not while in user space"),
	FLAG(5, exclude_kernel, "2.6.31", "not while in the kernel; without it, privilege is needed"),
	FLAG(6, exclude_hv, "2.6.31", "not while in the hypervisor"),
	FLAG(7, exclude_idle, "2.6.31", "not while the idle task runs"),
	FLAG(8, mmap, "2.6.31", "MMAP records for executable mappings"),
	FLAG(9, comm, "2.6.31", "COMM records for changed names of tasks"),
	FLAG(10, freq, "2.6.31", "sample_freq holds, not sample_period"),
	FLAG(11, inherit_stat, "2.6.31", "keeps counts per task across context switches"),
	FLAG(12, enable_on_exec, "2.6.31", "enabled when the task execs"),
	FLAG(13, task, "2.6.31", "FORK and EXIT records"),
	FLAG(14, watermark, "2.6.32", "wakeup_watermark holds, not wakeup_events"),
	{ "precise_ip", "2.6.35", "skid of the sampled ip: 0 any, 1 constant, 2 zero asked for, "
	  "3 zero needed", FLAGS_OFFSET, 8, 15, 2 },
	FLAG(17, mmap_data, "2.6.36", "MMAP records for mappings that are not executable, too"),
	FLAG(18, sample_id_all, "2.6.38", "all records end with TID, TIME, ID, CPU as in sample_type"),
	FLAG(19, exclude_host, "3.2", "only while a guest runs"),
	FLAG(20, exclude_guest, "3.2", "not while a guest runs"),
	FLAG(21, exclude_callchain_kernel, "3.7", "no kernel part in callchains"),
	FLAG(22, exclude_callchain_user, "3.7", "no user part in callchains"),
	FLAG(23, mmap2, "3.16", "MMAP2 records, with device, inode, protection, instead of MMAP"),
	FLAG(24, comm_exec, "3.16", "marks COMM records that come from an exec"),
	FLAG(25, use_clockid, "4.1", "clockid says which clock TIME is of"),
	FLAG(26, context_switch, "4.3", "SWITCH records"),
	FLAG(27, write_backward, "4.7", "writes the ring from its end: the newest records survive"),
	FLAG(28, namespaces, "4.12", "NAMESPACES records"),
	FLAG(29, ksymbol, "5.1", "KSYMBOL records: kernel code that comes and goes"),
	FLAG(30, bpf_event, "5.1", "BPF_EVENT records: programs that are loaded and unloaded"),
	FLAG(31, aux_output, "5.4", "data go to the AUX area of the group's leader"),
	FLAG(32, cgroup, "5.7", "CGROUP records: new control groups"),
	FLAG(33, text_poke, "5.9", "TEXT_POKE records: kernel code that changes"),
	FLAG(34, build_id, "5.12", "build ids in MMAP2 records instead of the inode"),
	FLAG(35, inherit_thread, "5.13", "inherited by threads only, not by processes; needs inherit"),
	FLAG(36, remove_on_exec, "5.13", "ends when the task execs; not with enable_on_exec"),
	FLAG(37, sigtrap, "5.13", "overflow is a SIGTRAP, at once; needs remove_on_exec and a task"),
	FLAG(38, defer_callchain, "6.19", "user callchains come later, as CALLCHAIN_DEFERRED records"),
	FLAG(39, defer_output, "6.19", "this event's ring takes CALLCHAIN_DEFERRED records"),
	U32(wakeup_events, "2.6.31", "wakes a reader after this many samples"),
	U32(wakeup_watermark, "2.6.32", "wakes a reader when this many bytes wait, with watermark"),
	U32(bp_type, "2.6.33", "breakpoints: HW_BREAKPOINT_R | _W, or _X"),
	U64(bp_addr, "2.6.33", "breakpoints: address"),
	U64(kprobe_func, "4.17", "kprobe PMU: pointer to the name of a function, or 0"),
	U64(uprobe_path, "4.17", "uprobe PMU: pointer to the path of a file"),
	U64(config1, "2.6.39", "more of config, for PMUs"),
	U64(bp_len, "2.6.33", "breakpoints: bytes watched"),
	U64(kprobe_addr, "4.17", "kprobe PMU: address, where kprobe_func is 0"),
	U64(probe_offset, "4.17", "kprobe and uprobe PMU: bytes from the function, or in the file"),
	U64(config2, "2.6.39", "more of config1, for PMUs"),
	U64(branch_sample_type, "3.4", "which branches BRANCH_STACK records, PERF_SAMPLE_BRANCH_"),
	U64(sample_regs_user, "3.7", "mask of the registers that REGS_USER records"),
	U32(sample_stack_user, "3.7", "bytes that STACK_USER records, a multiple of 8 below 65535"),
	U32(clockid, "4.1", "clock of TIME, with use_clockid"),
	U64(sample_regs_intr, "3.19", "mask of the registers that REGS_INTR records"),
	U32(aux_watermark, "4.1", "AUX area: wakes a reader when this many bytes wait"),
	U16(sample_max_stack, "4.8", "frames of a callchain; 0 = kernel.perf_event_max_stack, the limit"),
	U32(aux_sample_size, "5.5", "bytes that PERF_SAMPLE_AUX records"),
	{ "aux_action", "6.13", "what it does to its group's AUX area, as a mask of the three below",
	  AUX_ACTION_OFFSET, 4, 0, 32 },
	AUX_ACTION(0, aux_start_paused, "AUX event: starts paused"),
	AUX_ACTION(1, aux_pause, "pauses the leader's AUX area on overflow"),
	AUX_ACTION(2, aux_resume, "resumes the leader's AUX area on overflow"),
	U64(sig_data, "5.13", "value that si_perf_data has in the signal of sigtrap"),
	{ "config3", "6.3", "more of config2, for PMUs", 128, 8, 0, 64 },
	{ "config4", "6.19", "more of config3, for PMUs", 136, 8, 0, 64 },
};
enum { NFIELDS = sizeof(fields) / sizeof(*fields) };

const struct pev_attr_field *pev_attr_field_at(unsigned int index)
{
	return index < NFIELDS ? &fields[index] : NULL;
}

static const struct pev_attr_field *find(const char *name)
{
	for (unsigned int i = 0; i < NFIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static uint64_t load(const void *p, unsigned int size)
{
	uint16_t half;
	uint32_t word;
	uint64_t all;

	switch (size) {
	case 2:
		memcpy(&half, p, sizeof(half));
		return half;
	case 4:
		memcpy(&word, p, sizeof(word));
		return word;
	default:
		memcpy(&all, p, sizeof(all));
		return all;
	}
}

static void store(void *p, unsigned int size, uint64_t value)
{
	uint16_t half = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	switch (size) {
	case 2:
		memcpy(p, &half, sizeof(half));
		break;
	case 4:
		memcpy(p, &word, sizeof(word));
		break;
	default:
		memcpy(p, &value, sizeof(value));
	}
}

/* Bit fields start at the lowest bit on little-endian machines, at the highest on big-endian ones. */
static unsigned int shift_of(const struct pev_attr_field *f)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return f->size * 8u - f->bit - f->width;
#else
	return f->bit;
#endif
}

static uint64_t mask_of(const struct pev_attr_field *f)
{
	return f->width == 64 ? UINT64_MAX : (1ull << f->width) - 1;
}

uint64_t pev_field_get_(const struct perf_event_attr *attr, const struct pev_attr_field *f)
{
	return load((const char *)attr + f->offset, f->size) >> shift_of(f) & mask_of(f);
}

void pev_field_set_(struct perf_event_attr *attr, const struct pev_attr_field *f, uint64_t value)
{
	char *p = (char *)attr + f->offset;
	uint64_t word = load(p, f->size) & ~(mask_of(f) << shift_of(f));

	store(p, f->size, word | (value & mask_of(f)) << shift_of(f));
}

/* Valid bytes: attr->size, or the default for 0. */
static uint32_t size_of(const struct perf_event_attr *attr)
{
	return attr->size ? attr->size : PERF_ATTR_SIZE_VER7;
}

int pev_attr_get(const struct perf_event_attr *attr, const char *name, uint64_t *value)
{
	const struct pev_attr_field *f = find(name);

	*value = 0;
	if (!f)
		return -ENOENT;
	if (f->offset + f->size <= size_of(attr))
		*value = pev_field_get_(attr, f);
	return 0;
}

/* A size below the minimum was set on purpose: the kernel is to refuse it. */
static void raise_size(union pev_attr_buf *buf, uint32_t size)
{
	uint32_t now = size_of(&buf->attr);

	if (now >= PERF_ATTR_SIZE_VER0 && now < size)
		buf->attr.size = size;
}

int pev_attr_set(union pev_attr_buf *buf, const char *name, uint64_t value)
{
	const struct pev_attr_field *f = find(name);

	if (!f)
		return -ENOENT;
	if (value & ~mask_of(f) && !(f->offset == OFF(clockid) && (int64_t)value >= INT32_MIN &&
				     (int64_t)value < 0))
		return -ERANGE;
	if (value)
		raise_size(buf, f->offset + f->size);
	pev_field_set_(&buf->attr, f, value);
	return 0;
}

void pev_attr_set_config3(union pev_attr_buf *buf, uint64_t value)
{
	pev_attr_set(buf, "config3", value);
}

void pev_attr_set_config4(union pev_attr_buf *buf, uint64_t value)
{
	pev_attr_set(buf, "config4", value);
}

void pev_attr_set_aux_action(struct perf_event_attr *attr, uint32_t actions)
{
	store((char *)attr + AUX_ACTION_OFFSET, 4, 0);
	for (unsigned int bit = 0; bit < 3; bit++)
		if (actions & 1u << bit)
			pev_field_set_(attr, find("aux_start_paused") + bit, 1);
}

void pev_attr_set_defer(struct perf_event_attr *attr, bool callchain, bool output)
{
	pev_field_set_(attr, find("defer_callchain"), callchain);
	pev_field_set_(attr, find("defer_output"), output);
}

void pev_attr_buf_init(union pev_attr_buf *buf, uint32_t type, uint64_t config)
{
	memset(buf, 0, sizeof(*buf));
	pev_attr_init(&buf->attr, type, config);
}

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

int pev_attr_buf_copy(union pev_attr_buf *buf, const struct perf_event_attr *attr)
{
	uint32_t size = size_of(attr), fits = size < sizeof(*buf) ? size : sizeof(*buf);

	if (size < PERF_ATTR_SIZE_VER0 || size > SIZE_LIMIT ||
	    !is_zero((const char *)attr + fits, size - fits)) {
		pev_attr_buf_init(buf, attr->type, attr->config);
		buf->attr.size = size;   /* for the error message */
		return -E2BIG;
	}
	memcpy(buf, attr, fits);
	memset((char *)buf + fits, 0, sizeof(*buf) - fits);
	buf->attr.size = fits;
	return 0;
}

/* The scheduler counts these events with the kernel's registers, so :u counts nothing:
 * perf_sw_event_sched() of linux/perf_event.h. */
bool pev_is_of_kernel_alone_(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* perf_exclude_event() of kernel/events/core.c, which all of them pass, looks at user and kernel only. */
bool pev_is_of_host_alone_(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT;
}
