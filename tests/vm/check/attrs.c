/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What newer kernels brought: there it opens; on an older one it is refused, and the
 * library's error names the culprit and the kernel that has it.
 */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The size of the attr that the kernel knows: it writes it where ours is too long. */
static void attr_size(void)
{
	struct { struct perf_event_attr attr; char tail[256]; } big = { 0 };
	struct perf_event_attr attr;
	struct pev_event *ev;
	long fd;

	big.attr.size = sizeof(big);
	big.tail[sizeof(big.tail) - 1] = 1;
	fd = syscall(SYS_perf_event_open, &big, 0, -1, -1, 0);
	pev_attr_software(&attr, "dummy", NULL);
	if (open_self(&ev, &attr, "an attr of our size"))
		return;
	works_if(fd < 0 && errno == E2BIG && big.attr.size >= PERF_ATTR_SIZE_VER6,
		 "an attr of %zu bytes; expected it to open whatever the kernel knows, seen that it "
		 "knows %u", sizeof(attr), big.attr.size);
	pev_event_close(ev);
}

static void set_cgroup(struct perf_event_attr *a) { a->cgroup = 1; }
static void set_text_poke(struct perf_event_attr *a) { a->text_poke = 1; }
static void set_build_id(struct perf_event_attr *a) { a->mmap = a->mmap2 = a->build_id = 1; }
static void set_inherit_thread(struct perf_event_attr *a) { a->inherit = a->inherit_thread = 1; }
static void set_remove_on_exec(struct perf_event_attr *a) { a->remove_on_exec = 1; }

static void set_sigtrap(struct perf_event_attr *a)
{
	a->sigtrap = a->remove_on_exec = 1;
}

static void set_sig_data(struct perf_event_attr *a)
{
	a->sig_data = 7;
}

static void set_sample_cgroup(struct perf_event_attr *a)
{
	a->sample_type = PERF_SAMPLE_CGROUP;
}

static void set_data_page_size(struct perf_event_attr *a)
{
	a->sample_type = PERF_SAMPLE_DATA_PAGE_SIZE;
}

static void set_weight_struct(struct perf_event_attr *a)
{
	a->sample_type = PERF_SAMPLE_WEIGHT_STRUCT;
}

static void set_inherit_read(struct perf_event_attr *a)
{
	a->inherit = 1;
	a->sample_period = 1000;
	a->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	a->read_format = PERF_FORMAT_ID;
}

static const struct row {
	const char *name;
	int major, minor;        /* the kernel that brought it */
	void (*set)(struct perf_event_attr *attr);
	const char *named;       /* in the error */
} rows[] = {
	{ "attr.cgroup", 5, 7, set_cgroup, "cgroup" },
	{ "PERF_SAMPLE_CGROUP", 5, 7, set_sample_cgroup, "PERF_SAMPLE_CGROUP" },
	{ "attr.text_poke", 5, 9, set_text_poke, "text_poke" },
	{ "PERF_SAMPLE_DATA_PAGE_SIZE", 5, 11, set_data_page_size, "DATA_PAGE_SIZE" },
	{ "PERF_SAMPLE_WEIGHT_STRUCT", 5, 12, set_weight_struct, "WEIGHT_STRUCT" },
	{ "attr.build_id", 5, 12, set_build_id, "build_id" },
	{ "attr.inherit_thread", 5, 13, set_inherit_thread, "inherit_thread" },
	{ "attr.remove_on_exec", 5, 13, set_remove_on_exec, "remove_on_exec" },
	{ "attr.sigtrap", 5, 13, set_sigtrap, "sigtrap" },
	{ "attr.sig_data", 5, 13, set_sig_data, "sig_data" },
	{ "inherit with SAMPLE_READ", 6, 12, set_inherit_read, "inherit" },
};

static void judge(const struct row *row)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	int rc;

	pev_attr_software(&attr, "cpu-clock", NULL);
	attr.disabled = 1;
	row->set(&attr);
	rc = pev_event_open(&ev, &attr, pev_target_self(), NULL, &err);
	pev_event_close(ev);
	/* what opens on an older kernel was brought there by a stable release */
	if (!rc || kernel_has(row->major, row->minor))
		works_if(!rc, "opened; expected it to work since Linux %d.%d, seen %s", row->major,
			 row->minor, rc ? error_text(&err) : "that");
	else
		refused_if((rc == -EINVAL || rc == -E2BIG) && strstr(error_text(&err), row->named),
			   "before Linux %d.%d; expected an error with \"%s\", seen \"%s\"", row->major,
			   row->minor, row->named, rc ? error_text(&err) : "it opened");
}

#define ROW(n) static void row_##n(void) { judge(&rows[n]); }
ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)

/* Bits that no kernel knows yet. */
static void unknown_bit(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	int rc;

	pev_attr_software(&attr, "cpu-clock", NULL);
	attr.sample_type = 1ull << 40;
	rc = pev_event_open(&ev, &attr, pev_target_self(), NULL, &err);
	pev_event_close(ev);
	refused_if(rc == -EINVAL && strstr(error_text(&err), "bit 40"),
		   "sample_type bit 40; expected an error that names it, seen \"%s\"",
		   rc ? error_text(&err) : "it opened");
}

const struct check attr_checks[] = {
	{ "attr size", attr_size },
	{ "attr.cgroup", row_0 },
	{ "PERF_SAMPLE_CGROUP", row_1 },
	{ "attr.text_poke", row_2 },
	{ "PERF_SAMPLE_DATA_PAGE_SIZE", row_3 },
	{ "PERF_SAMPLE_WEIGHT_STRUCT", row_4 },
	{ "attr.build_id", row_5 },
	{ "attr.inherit_thread", row_6 },
	{ "attr.remove_on_exec", row_7 },
	{ "attr.sigtrap", row_8 },
	{ "attr.sig_data", row_9 },
	{ "inherit with SAMPLE_READ", row_10 },
	{ "unknown bit", unknown_bit },
	{ NULL, NULL },
};
