/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios of counts: a table with pairs of events. */
#include "stat/stat.h"

#include "stream/asked/rate.h"

#define HW(x) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##x
#define SW(x) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##x
#define CACHE(cache, result) \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
				    PERF_COUNT_HW_CACHE_RESULT_##result << 16

static const struct metric {
	uint32_t type;
	uint64_t config;
	uint32_t by_type;        /* the divisor */
	uint64_t by_config;
	double factor;
	const char *unit;
} metrics[] = {
	{ HW(INSTRUCTIONS), HW(CPU_CYCLES), 1, "insn per cycle" },
	/* cycles per ns */
	{ HW(CPU_CYCLES), SW(TASK_CLOCK), 1, "GHz" },
	{ HW(CPU_CYCLES), SW(CPU_CLOCK), 1, "GHz" },
	{ HW(BRANCH_MISSES), HW(BRANCH_INSTRUCTIONS), 100, "% of all branches" },
	{ HW(CACHE_MISSES), HW(CACHE_REFERENCES), 100, "% of all cache refs" },
	{ HW(STALLED_CYCLES_FRONTEND), HW(CPU_CYCLES), 100, "% frontend cycles idle" },
	{ HW(STALLED_CYCLES_BACKEND), HW(CPU_CYCLES), 100, "% backend cycles idle" },
	{ CACHE(L1D, MISS), CACHE(L1D, ACCESS), 100, "% of all L1-dcache accesses" },
	{ CACHE(L1I, MISS), CACHE(L1I, ACCESS), 100, "% of all L1-icache accesses" },
	{ CACHE(LL, MISS), CACHE(LL, ACCESS), 100, "% of all LL-cache accesses" },
	{ CACHE(DTLB, MISS), CACHE(DTLB, ACCESS), 100, "% of all dTLB cache accesses" },
	{ CACHE(ITLB, MISS), CACHE(ITLB, ACCESS), 100, "% of all iTLB cache accesses" },
	{ CACHE(BPU, MISS), CACHE(BPU, ACCESS), 100, "% of all branches" },
};
enum { NMETRICS = sizeof(metrics) / sizeof(*metrics) };

static bool is(const struct stat_event *e, uint32_t type, uint64_t config)
{
	return e->buf.attr.type == type && e->buf.attr.config == config;
}

/* Counts for user space and kernel and counts for user space only must not be combined. */
static bool same_modes(const struct stat_event *a, const struct stat_event *b)
{
	return a->buf.attr.exclude_user == b->buf.attr.exclude_user &&
	       a->buf.attr.exclude_kernel == b->buf.attr.exclude_kernel;
}

/* The row with a count of an event in the same where. One of the same group is preferred, since
 * it was on the PMU for the same time. */
static const struct count_row *find(const struct counting *s, size_t event, size_t where,
				    uint32_t type, uint64_t config)
{
	const struct count_row *found = NULL;

	for (size_t i = 0; i < s->nevents; i++) {
		const struct count_row *r = &s->rows[i * s->nwheres + where];
		bool grouped = s->events[i].leader == s->events[event].leader;

		/* time is the same in all modes */
		if (is(&s->events[i], type, config) && r->state == COUNT_GOOD && r->value > 0 &&
		    (!found || grouped) &&
		    (type == PERF_TYPE_SOFTWARE || same_modes(&s->events[i], &s->events[event])))
			found = r;
	}
	return found;
}

static bool by_table(const struct counting *s, size_t event, size_t where, struct count_row *r)
{
	const struct stat_event *e = &s->events[event];

	for (size_t i = 0; i < NMETRICS; i++) {
		const struct metric *m = &metrics[i];
		const struct count_row *by;

		if (!is(e, m->type, m->config))
			continue;
		by = find(s, event, where, m->by_type, m->by_config);
		if (!by)
			continue;
		r->metric = (struct count_metric){ m->factor * r->value / by->value, m->unit, 0, true };
		return true;
	}
	return false;
}

/* Events per second of CPU time. */
static void rate(struct count_row *r, const struct count_row *clock)
{
	static const struct {
		double above;
		char prefix;
	} steps[] = { { 1e9, 'G' }, { 1e6, 'M' }, { 1e3, 'K' } };
	double value = r->value / clock->value * 1e9;

	r->metric = (struct count_metric){ value, "/sec", 0, false };
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (value >= steps[i].above) {
			r->metric.value = value / steps[i].above;
			r->metric.prefix = steps[i].prefix;
			return;
		}
}

static void one(const struct counting *s, size_t event, size_t where, double seconds)
{
	struct count_row *r = &s->rows[event * s->nwheres + where];
	const struct count_row *clock;

	r->metric = (struct count_metric){ 0 };
	if (r->state != COUNT_GOOD)
		return;
	if (rate_is_clock(&s->events[event].buf.attr)) {
		if (seconds > 0)
			r->metric = (struct count_metric){ r->value / 1e9 / seconds, "CPUs utilized", 0, true };
		return;
	}
	if (by_table(s, event, where, r) || s->events[event].unit)
		return;
	clock = find(s, event, where, SW(TASK_CLOCK));
	if (!clock)
		clock = find(s, event, where, SW(CPU_CLOCK));
	if (clock)
		rate(r, clock);
}

void stat_metrics(struct counting *s, double seconds)
{
	for (size_t i = 0; i < s->nevents; i++)
		for (size_t w = 0; w < s->nwheres; w++)
			one(s, i, w, seconds);
}

const char *stat_ratio(const struct perf_event_attr *of, const struct perf_event_attr *by, double *factor)
{
	bool alike = by->type == PERF_TYPE_SOFTWARE ||
		     (of->exclude_user == by->exclude_user && of->exclude_kernel == by->exclude_kernel);

	for (size_t i = 0; i < NMETRICS && alike; i++) {
		const struct metric *m = &metrics[i];

		*factor = m->factor;
		if (of->type == m->type && of->config == m->config && by->type == m->by_type && by->config == m->by_config)
			return m->unit;
	}
	return NULL;
}
