/* SPDX-License-Identifier: Apache-2.0 */
/* The source page-faults: each page fault, with its address and the task and code that caused it. */
#include "analysis/profiles/commands.h"
#include "analysis/profiles/page_faults.h"

static const struct opt_group groups[] = {
	{ "Levels", levels_opts, LEVELS_NOPTS, offsetof(struct page_faults_opts, levels) },
	{ "Call chains", analysis_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

static int events(struct source *source, void *config, struct fault *f)
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
	OPT_GROUPS(groups),
	.config_size = sizeof(struct page_faults_opts),
	.events = events,
};
