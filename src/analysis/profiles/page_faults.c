/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof page-faults: which code touches which memory for the first time; and the source page-faults. */
#include "analysis/profiles/commands.h"
#include "analysis/profiles/hotspots.h"
#include "analysis/profiles/levels.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

/* A range of a process's addresses: the part of a mapping within one page table (2 MiB). */
enum { RANGE_SHIFT = 21, MAX_RANGES = 65536, SHOWN_ROWS = 30 };

struct range_key {
	uint64_t pid, base;
	uint64_t what;                   /* serial of the mapped dso, or WHAT_* */
};
enum { WHAT_UNKNOWN, WHAT_KERNEL = -1 };

struct range {
	struct range_key key;
	uint64_t faults, first, last;    /* addresses */
	char comm[64];
	char *mapping;
};

/* The first member of the configs of the command and the source. */
struct page_faults_opts {
	struct analysis_opts common;
	struct levels levels;
};

struct page_faults {
	struct page_faults_opts opts;
	struct flame_config flame;
	struct hotspots hot;
	const struct stream_event *faults;
	struct groups ranges;            /* of struct range */
	uint64_t beyond;                 /* faults without a range: there are too many */
	uint64_t last;
	bool prints_samples, has_before;
	struct cputime before;
};

/* ---- ranges ------------------------------------------------------------------------- */

/* Valid until mappings are looked up again. */
static const struct mapping *mapping_at(struct analysis *a, const struct analysis_sample *s, uint64_t addr)
{
	if (addr >> 63 || !a->names.maps)
		return NULL;
	return maps_find(a->names.maps, s->pid, addr, s->time);
}

/* "/usr/lib/libc.so.6", "[heap]", "[stack]"; "[anon]" for memory without a file, the kernel's "//anon". */
static char *text_of(uint64_t what, const struct mapping *m)
{
	const char *name = m ? dso_mapped_name(m->dso) : NULL;

	if (!name)
		return strdup(what == (uint64_t)WHAT_KERNEL ? "[kernel]" : "[unknown]");
	return strdup(strcmp(name, "//anon") ? name : "[anon]");
}

/* The kernel reports the heap as //anon until it has grown twice: then this corrects the range's mapping. */
static void settle(struct analysis *a, struct range *r)
{
	const struct page_faults *p = a->config;
	const struct mapping *m = NULL;
	char *text;

	if (a->names.maps && !strcmp(r->mapping, "[anon]"))
		m = maps_find(a->names.maps, (pid_t)r->key.pid, r->last, p->last);
	if (!m || strcmp(dso_mapped_name(m->dso), "[heap]"))
		return;
	text = text_of(r->key.what, m);
	if (!text)
		return;
	free(r->mapping);
	r->mapping = text;
}

static struct range *range_of(struct analysis *a, const struct analysis_sample *s, uint64_t addr)
{
	struct page_faults *p = a->config;
	const struct mapping *m = mapping_at(a, s, addr);
	struct range_key key = { (uint64_t)s->pid, addr >> RANGE_SHIFT,
				 m ? dso_serial(m->dso) : addr >> 63 ? (uint64_t)WHAT_KERNEL : WHAT_UNKNOWN };
	struct range *r = groups_get(&p->ranges, &key, sizeof(key), sizeof(*r), MAX_RANGES);

	if (!r || r->mapping)
		return r;
	r->first = addr;
	r->mapping = text_of(key.what, m);
	if (r->mapping)
		return r;
	groups_drop(&p->ranges, r);
	return NULL;
}

static void count(struct analysis *a, const struct analysis_sample *s, const char *comm)
{
	struct page_faults *p = a->config;
	uint64_t addr = layout_u64(s->view.rec, s->event->layout.addr);
	struct range *r = range_of(a, s, addr);

	if (!r) {
		p->beyond++;
		return;
	}
	r->faults++;
	if (addr < r->first)
		r->first = addr;
	if (addr > r->last)
		r->last = addr;
	snprintf(r->comm, sizeof(r->comm), "%s", comm);
}

static const struct table_column columns[] = {
	{ "faults", TABLE_INTEGER }, { "comm", TABLE_TEXT }, { "pid", TABLE_INTEGER },
	{ "from", TABLE_HEX }, { "to", TABLE_HEX }, { "mapping", TABLE_TEXT, .fit = FIT_PATH },
};

static void forget_ranges(struct page_faults *p)
{
	for (struct range *r = groups_first(&p->ranges); r; r = groups_next(r))
		free(r->mapping);
	groups_free(&p->ranges);
	p->beyond = 0;
}

static void print_ranges(struct analysis *a)
{
	struct page_faults *p = a->config;
	struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = SHOWN_ROWS };
	struct table t;

	table_init(&t, "page-fault ranges", columns, sizeof(columns) / sizeof(*columns));
	for (struct range *r = groups_first(&p->ranges); r; r = groups_next(r)) {
		settle(a, r);
		table_row(&t);
		table_unsigned(&t, r->faults);
		table_text(&t, r->comm);
		table_unsigned(&t, r->key.pid);
		table_unsigned(&t, r->first);
		table_unsigned(&t, r->last);
		table_text(&t, r->mapping);
	}
	table_sort(&t, "faults", true);
	if (!a->opts->json && t.nrows)
		printf("\n");
	if (a->opts->json || t.nrows)
		analysis_put_table(a, &t, &style);
	table_free(&t);
	if (p->beyond)
		fprintf(stderr, "perf-prof: page-faults: %llu faults are missing from the ranges: there are at most %d\n",
			(unsigned long long)p->beyond, MAX_RANGES);
}

/* ---- the run ------------------------------------------------------------------------ */

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct page_faults *p = a->config;
	const char *comm = analysis_comm(a, s->tid);

	if (s->event != p->faults)
		return;
	p->last = s->time;
	count(a, s, comm);
	hotspots_see(&p->hot, a, s);
	hotspots_add(&p->hot, comm, analysis_where(a, s), 1, false);
	if (p->prints_samples)
		analysis_print(a, s);
}

static int events(struct analysis *a, struct fault *f)
{
	const struct levels *l = &((struct page_faults *)a->config)->opts.levels;
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	if (!a->opts->stream.input && levels_set(l, &attr, f))
		return -1;
	return analysis_add_event(a, f, "page-faults/%s%s%s%s%s/", a->opts->stream.call_graph ? "-g" : "",
				  l->no_user ? " --exclude-user" : "", l->no_kernel ? " --exclude-kernel" : "",
				  l->no_guest ? " --exclude-guest" : "", l->no_host ? " -G" : "");
}

/* Not if it draws a picture, or prints tables or JSON for each interval. */
static bool prints_samples(const struct analysis *a)
{
	const struct page_faults *p = a->config;

	return !p->flame.path && !a->opts->json && !a->opts->stream.quiet && !a->opts->stream.interval_ms;
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return prints_samples(a) ? STREAM_READS_ALL : ANALYSIS_WHERE | PERF_SAMPLE_ADDR;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct page_faults *p = a->config;
	size_t n;
	const struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].sampling && events[i].layout.addr && events[i].layout.ip)
			p->faults = &events[i];
	if (!p->faults)
		return fault_usage(f, "page-faults: the recording has no page faults with their addresses: "
				   "perf record -e page-faults -c 1 -d");
	a->names.data = true;
	p->prints_samples = prints_samples(a);
	return flame_begin(&p->flame, a->opts->stream.verbose, f);
}

static void started(struct analysis *a)
{
	struct page_faults *p = a->config;

	p->has_before = hotspots_read_cputime(&a->opts->stream, &p->before);
}

/* Where the kernel's part is left out because this user may not see it: all page faults of the run; 0: not known. */
static uint64_t all_faults(const struct analysis *a)
{
	const struct page_faults *p = a->config;
	struct cputime now;

	return p->faults->sampling->user_only && !a->opts->stream.interval_ms && p->has_before &&
	       hotspots_read_cputime(&a->opts->stream, &now) ? now.faults - p->before.faults : 0;
}

static void show(struct analysis *a, uint64_t now)
{
	struct page_faults *p = a->config;
	const bool no_kernel = p->faults->sampling->attr.attr.exclude_kernel;
	const struct hotspots_view view = {
		.name = "page-faults", .functions = SHOWN_ROWS,
		.what = no_kernel ? "page faults in user space" : "page faults",
		.stacks = a->opts->stream.call_graph ? 5 : 0,
		.without_kernel = analysis_excludes_kernel(p->faults), .lowered = p->faults->sampling->user_only,
		.faults = all_faults(a), .if_none = no_kernel ? "no page faults in user space" : "no page faults",
	};

	hotspots_draw(a, &p->hot, &p->flame, now, "page-faults");
	hotspots_print(a, &p->hot, &view, now);
	print_ranges(a);
	hotspots_free(&p->hot);
	callstacks_rest(a->stacks, NULL, NULL);
	forget_ranges(p);
}

static int end(struct analysis *a, struct fault *f)
{
	static const struct flame_title title = { "perf-prof page-faults", "page faults" };
	struct page_faults *p = a->config;

	show(a, analysis_end(a, p->last));
	return hotspots_found(a, "page-faults", f) || analysis_draw(a, &p->flame, &title, f) ? -1 : 0;
}

static void release(struct analysis *a)
{
	struct page_faults *p = a->config;

	hotspots_free(&p->hot);
	flame_free(&p->flame);
	forget_ranges(p);
}

static const struct analysis_ops ops = {
	.name = "page-faults", .events = events, .reads = reads, .begin = begin, .started = started, .sample = sample, .interval = show,
	.end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	if (hotspots_check(config, "page-faults", f) || flame_open_before(&((struct page_faults *)config)->flame, f))
		return -1;
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

const struct command page_faults_command = {
	.name = "page-faults",
	.usual = "pids all-cpus call-graph sort rows callers flame-graph input record",
	.summary = "show page faults: which code touches which memory first",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"Which code touches which memory for the first time? Prints each page fault: the address, the "
		"instruction, and with -g registers and the call chain. At the end it prints which functions "
		"faulted most, and the ranges of addresses. -q prints only these tables; -i prints only them, too, "
		"at each interval.",
		"A range is the part of one mapping that was touched, within 2 MiB of a process's addresses. "
		"The mapping is a file, [heap] (from brk; the kernel calls it [anon] until it has grown "
		"twice), [stack], [anon] (memory without a file, such as large malloc allocations and stacks "
		"of other threads), or [unknown] if perf-prof did not see the mapping. In recordings, data "
		"mappings have names only with perf record -d.",
		"The functions of all tasks are in one table. There is no --by: a range belongs to one process, because another "
		"process has different memory at the same address. To count faults by name, use `perf-prof top -e page-faults "
		"--only-comm`; to count them by process, use `perf-prof top -e page-faults -k _pid`."),
	OPT_GROUP_ROWS(
		{ "Privilege levels", levels_opts, LEVELS_NOPTS, offsetof(struct page_faults_opts, levels) },
		ANALYSIS_RUN_GROUPS, ANALYSIS_CHAIN_GROUP,
		{ "Table rows", hotspots_opts, HOTSPOTS_NOPTS, 0 },
		{ "Pictures", flame_opts, FLAME_OPTS, offsetof(struct page_faults, flame) },
		ANALYSIS_OUTPUT_GROUPS),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof page-faults -q -- ./program", "show the functions and address ranges of a command's faults" },
		{ "perf-prof page-faults -p 1234 -g", "print each fault of a process with its call chain" },
		{ "perf-prof page-faults -p 1234 -g --flame-graph faults.svg", "draw the faults of a process by stack, until Ctrl-C" }),
	.mode = OPT_MODE_COMMAND,
	ANALYSIS_CONFIG(struct page_faults, analysis_defaults),
	.run = run,
};

/* ---- the source: each page fault, with its address and the task and code that caused it ----- */

static int source_events(struct source *source, void *config, struct fault *f)
{
	const struct page_faults_opts *p = config;
	struct source_event event = { .what = "page-faults", .shape = SHAPE_FAULT };
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	pev_attr_sample_period(&attr, 1);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (p->common.stream.call_graph) {   /* -g: registers, too */
		attr.sample_type |= PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = source_registers();
	}
	if (levels_set(&p->levels, &attr, f))
		return -1;
	event.attr = &attr;
	return source_add(source, &event, f);
}

const struct source_ops page_faults_source = {
	.name = "page-faults",
	.summary = "page faults: the address, and the code that touched it",
	OPT_GROUP_ROWS(
		{ "Privilege levels", levels_opts, LEVELS_NOPTS, offsetof(struct page_faults_opts, levels) },
		{ "Call chains", analysis_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
		{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }),
	.config_size = sizeof(struct page_faults_opts),
	.events = source_events,
};
