/* SPDX-License-Identifier: Apache-2.0 */
/* The source profile: samples of what CPUs execute, at a frequency. */
#include "analysis/profiles/commands.h"
#include "analysis/profiles/profile.h"
#include "base/units.h"
#include "events/catalog.h"
#include "events/spec.h"
#include "stream/asked/rate.h"
#include "stream/list/source.h"

#include <stdio.h>

static int parse_freq(const char *text, void *field, struct fault *f)
{
	if (rate_parse(text, field))
		return fault_usage(f, "-F %s: expected " RATE_EXPECTED, text);
	return 0;
}

static int parse_period(const char *text, void *field, struct fault *f)
{
	uint64_t *period = field;

	if (units_u64(text, period) || *period < 1 || *period > INT64_MAX)
		return fault_usage(f, "-c %s: expected events per sample, a whole number such as 1000000", text);
	return 0;
}

const struct opt profile_freq_opts[] = {
	{ "freq", 'F', "frequency", OPT_CALL, offsetof(struct profile_opts, freq), "HZ",
	  "Take HZ samples per second on each CPU. Default: 997; for Python functions 199, of each thread. max: as many as "
	  "kernel.perf_event_max_sample_rate allows. A higher rate is lowered to that limit, with a warning.",
	  false, parse_freq },
	{ "count", 'c', NULL, OPT_CALL, offsetof(struct profile_opts, period), "PERIOD",
	  "Take a sample every PERIOD events instead (for cpu-clock: ns, at least 10000).", false, parse_period },
	{ "strict-freq", 0, NULL, OPT_FLAG, offsetof(struct profile_opts, common.stream.strict_freq), NULL,
	  "Refuse a frequency above kernel.perf_event_max_sample_rate, or a period of a clock below 10000 ns, instead "
	  "of adjusting it; and keep it when samples with stacks (--call-graph dwarf) are lost.", false, NULL },
};

/* "-F 997", "-c 1000"; "" without -F and -c. */
static char *rate_option(const struct profile_opts *o, char *buf, size_t size)
{
	char rate[32];

	buf[0] = '\0';
	if (o->freq || o->period)
		snprintf(buf, size, "-%c %s", o->period ? 'c' : 'F',
			 rate_text(o->period ? o->period : o->freq, rate, sizeof(rate)));
	return buf;
}

int profile_take_rate(struct profile_opts *o, const char *command, struct fault *f)
{
	char rate[32];

	if (o->freq && o->period)
		return fault_usage(f, "%s: -F %s and -c %llu: give a frequency (-F) or a period "
				   "(-c), not both", command, rate_text(o->freq, rate, sizeof(rate)),
				   (unsigned long long)o->period);
	o->common.stream.freq = o->freq;
	o->common.stream.period = o->period;
	return 0;
}

/* Whether the CPU can sample cycles. Tried for user space only, which needs no privilege. */
static bool has_cycles(void)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	pev_attr_sample_freq(&attr, 1);
	return !catalog_try(&attr);
}

/* Cycles, or the clock if there are none. */
static void init_attr(struct perf_event_attr *attr)
{
	if (has_cycles())
		pev_attr_init(attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	else
		pev_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

int profile_add(struct analysis *a, const struct profile_opts *o, struct fault *f)
{
	const struct levels *l = &o->levels;
	struct perf_event_attr attr;
	char option[40];

	init_attr(&attr);
	if (!a->opts->stream.input && levels_set(l, &attr, f))   /* the source's own message would show the options as it gets them */
		return -1;
	a->opts->stream.recording.by_default = true;
	/* without -F, the source uses its default */
	return analysis_add_event(a, f, "profile/%s%s%s%s%s/", rate_option(o, option, sizeof(option)),
				  l->no_user ? " --exclude-user" : "", l->no_kernel ? " --exclude-kernel" : "",
				  l->no_guest ? " --exclude-guest" : "", l->no_host ? " -G" : "");
}

/* Whether the event's rate is that of -F or -c. */
static bool takes_rate(const struct stream_event *ev, const struct profile_opts *o)
{
	const struct perf_event_attr *attr = &ev->sampling->attr.attr;

	if (ev->sampling->source)
		return false;
	return o->period ? !attr->freq && attr->sample_period == o->period
			 : attr->freq && ev->sampling->rate == o->freq;
}

static int refuse_rate(const struct analysis *a, const struct stream_event *all, size_t n, const char *option,
		       struct fault *f)
{
	for (size_t i = 0; i < n; i++)
		if (source_hides_event(a->stream, all[i].asked.item->name))
			return fault_usage(f, "%s: %s sets the rate of perf events, but %s is a source, which takes "
					   "every event; -e sw:%s is the perf event", a->ops->name, option,
					   all[i].asked.item->name, all[i].asked.item->name);
	return fault_usage(f, "%s: %s sets the rate of perf events such as cycles, and -e has none without a rate "
			   "of its own: a tracepoint samples every hit, and a source takes its rate as in -e 'profile/%s/'",
			   a->ops->name, option, option);
}

int profile_set_levels(struct analysis *a, const struct profile_opts *o, struct fault *f)
{
	const char *name = a->ops->name;
	bool rates = false, levels = false;
	char option[40];
	size_t n;
	struct stream_event *all = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++) {
		if (!all[i].sampling)
			continue;
		levels = true;
		rates |= takes_rate(&all[i], o);
		if (levels_set(&o->levels, &all[i].sampling->attr.attr, f))
			return -1;
	}
	if ((o->freq || o->period) && !rates)
		return refuse_rate(a, all, n, rate_option(o, option, sizeof(option)), f);
	return levels || !levels_any(&o->levels) ? 0 :
	       fault_usage(f, "%s: --exclude-user and similar options apply to perf events, such as "
			   "cycles, and to sources that sample; -e has none: add one, or leave the "
			   "option out", name);
}

static int events(struct source *source, void *config, struct fault *f)
{
	const struct profile_opts *p = config;
	struct source_event event = { .rate = p->freq };
	struct perf_event_attr attr;

	init_attr(&attr);
	event.what = attr.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock";
	if (p->period)
		pev_attr_sample_period(&attr, p->period);
	else
		pev_attr_sample_freq(&attr, RATE_DEFAULT);
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
	OPT_GROUP_ROWS(
		{ "Sampling", profile_freq_opts, 2, 0 },
		{ "Privilege levels", levels_opts, LEVELS_NOPTS, offsetof(struct profile_opts, levels) },
		{ "Call chains", analysis_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
		{ "Target", stream_target_opts, 1, 0 },
		{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }),
	.config_size = sizeof(struct profile_opts),
	.events = events,
};
