/* SPDX-License-Identifier: Apache-2.0 */
/* profile: where CPUs spend their time, by samples taken at a frequency. */
#include "analysis/profile.h"
#include "analysis/sources.h"
#include "base/units.h"

enum { MAX_FREQ = 1000000 };

static int parse_freq(const char *text, void *field, struct fault *f)
{
	uint64_t *freq = field;

	if (units_u64(text, freq) || *freq < 1 || *freq > MAX_FREQ)
		return fault_usage(f, "profile: -F %s: expected samples a second, 1 to %d", text, MAX_FREQ);
	return 0;
}

const struct opt profile_freq_opts[] = {
	{ "freq", 'F', NULL, OPT_CALL, offsetof(struct profile_opts, freq), "HZ",
	  "Samples a second on each CPU. Default 997.", false, parse_freq },
};

static const struct opt_group groups[] = {
	{ "Sampling", profile_freq_opts, PROFILE_FREQ_NOPTS, 0 },
	{ "Levels", levels_opts, LEVELS_NOPTS, offsetof(struct profile_opts, levels) },
	{ "Call chains", stream_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

/* Whether the CPU counts its cycles for us. User space only: what every privilege allows. */
static bool has_cycles(void)
{
	struct perf_event_attr attr;
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	pev_attr_sample_freq(&attr, 1);
	attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL))
		return false;
	pev_event_close(ev);
	return true;
}

static int events(struct source *source, const void *config, struct fault *f)
{
	const struct profile_opts *p = config;
	bool cycles = has_cycles();
	struct source_event event = { .what = cycles ? "cycles" : "cpu-clock" };
	struct perf_event_attr attr;

	pev_attr_init(&attr, cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		      cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES : (uint64_t)PERF_COUNT_SW_CPU_CLOCK);
	pev_attr_sample_freq(&attr, p->freq ? p->freq : PROFILE_DEFAULT_FREQ);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			   PERF_SAMPLE_PERIOD;
	if (levels_set(&p->levels, &attr, f))
		return -1;
	event.attr = &attr;
	return source_add(source, &event, f);
}

const struct source_ops profile_source = {
	.name = "profile",
	.summary = "what CPUs execute, sampled 997 times a second",
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(*groups),
	.config_size = sizeof(struct profile_opts),
	.events = events,
};
