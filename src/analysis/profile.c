/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof profile: where CPUs spend their time, and with --off-cpu what tasks wait for. */
#include "analysis/profile.h"

#include "analysis/commands.h"
#include "analysis/hotspots.h"
#include "analysis/progress.h"
#include "analysis/sources.h"
#include "analysis/switches.h"
#include "base/units.h"
#include "report/flame.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct profile {
	struct profile_opts opts;
	struct flame_config flame;
	uint64_t least;                  /* --than, in hundredths of a percent */
	bool off_cpu;
	struct hotspots hot;
	uint64_t idle;                   /* weight of samples of CPUs that had nothing to do */
	struct folded *folded;
	struct stream_event *clock;
	struct switches switches;
	struct pairs pairs;              /* off the CPU since: by thread; value: its callstack */
	uint64_t last;
	bool prints_samples;
	struct progress progress;        /* of a report */
	bool all;                        /* a report without clock: each sample counts one */
};

static uint64_t frequency(const struct profile *p)
{
	return p->opts.freq ? p->opts.freq : PROFILE_DEFAULT_FREQ;
}

/* What the samples are of: "cpu-clock". */
static const char *what(const struct profile *p)
{
	return p->all ? "all events" : p->clock->sampling ? p->clock->sampling->what : p->clock->name;
}

/* Whose samples are weighed in ns; ":u", in recordings ":uGH", without privilege. */
static bool is_clock(const struct profile *p)
{
	return !strcmp(what(p), "cpu-clock") || !strncmp(what(p), "cpu-clock:u", 11);
}

/* ---- samples ------------------------------------------------------------------------ */

/* ns: of a clock the period is; of cycles it is the time between two samples. */
static uint64_t weight_of(const struct profile *p, const struct analysis_sample *s)
{
	if (p->off_cpu && !is_clock(p))
		return 1000000000 / frequency(p);
	return p->all ? 1 : analysis_weight(s);
}

static void take_clock(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;

	if (p->off_cpu && !switches_watch(&p->switches, s->tid))
		return;
	if (!s->tid && !p->all) {
		p->idle += weight_of(p, s);
		return;
	}
	hotspots_add(&p->hot, analysis_comm(a, s->tid, s->time), analysis_where(a, s), weight_of(p, s), false);
	if (p->prints_samples)
		analysis_print(a, s);
}

/* From the switch that took it off the CPU to the one that brings it back, unless it only
 * waited to run. */
static void take_switch(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;
	struct switch_event e;
	struct open_pair *slept;
	struct pair_end end;

	if (!switches_read(&p->switches, s, &e))
		return;
	if (e.sleeps && switches_watch(&p->switches, e.prev))
		pairs_start(&p->pairs, s, (uint64_t)e.prev, (uint64_t)(uintptr_t)analysis_stack(a, s));
	slept = pairs_find(&p->pairs, (uint64_t)e.next);
	if (!slept)
		return;
	pairs_close(&p->pairs, slept, s, &end);
	hotspots_add(&p->hot, analysis_comm(a, e.next, s->time), (struct callstack *)(uintptr_t)end.value,
		     end.duration, true);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct profile *p = a->config;

	p->last = s->time;
	if (s->event == p->clock || (p->all && (s->event->callchain || s->event->layout.ip)))
		take_clock(a, s);
	else if (p->off_cpu)
		take_switch(a, s);
}

/* ---- the run ------------------------------------------------------------------------ */

static int events(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;
	const struct levels *l = &p->opts.levels;

	if (p->off_cpu) {
		a->opts->stream.call_graph = true;
		if (!a->opts->stream.user_callchain)
			a->opts->stream.user_callchain = 1;
		if (switches_events(&p->switches, a, f))
			return -1;
	}
	return analysis_add_event(a, f, "profile/-F %llu%s%s%s%s/", (unsigned long long)frequency(p),
				  l->no_user ? " --exclude-user" : "", l->no_kernel ? " --exclude-kernel" : "",
				  l->no_guest ? " --exclude-guest" : "", l->no_host ? " -G" : "");
}

static int begin(struct analysis *a, struct fault *f)
{
	static const struct pair_ops pair_ops = { .states = true };
	struct profile *p = a->config;
	size_t n;
	struct stream_event *all = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (all[i].sampling && !p->clock)
			p->clock = &all[i];
	/* a report is of what there is: of a tracepoint, where it was hit */
	for (size_t i = 0; i < n && !p->clock && !a->ops->events; i++)
		if (all[i].callchain || all[i].layout.ip) {
			p->clock = &all[i];
			p->all = true;
		}
	if (p->clock)
		p->clock->names_ip = true;
	if (!p->clock)
		return fault_usage(f, "%s: the recording has no samples of a clock or of cycles; "
				   "`perf record` takes them without -e", a->ops->name);
	if (flame_check(&p->flame, stream_verbosity(&a->opts->stream), f) ||
	    (p->off_cpu && switches_begin(&p->switches, a, f)) || pairs_begin(&p->pairs, a, &pair_ops, f))
		return -1;
	if (p->flame.path && !(p->folded = folded_new()))
		return fault_set(f, EXIT_FAILED, "out of memory");
	/* a report is of all of them together */
	p->prints_samples = a->ops->events && !p->flame.path && !a->opts->json && !a->opts->stream.quiet &&
			    !a->opts->stream.interval_ms;
	return 0;
}

static void show(struct analysis *a, uint64_t now)
{
	struct profile *p = a->config;
	struct hotspots_view view = {
		.name = a->ops->name, .what = p->off_cpu ? "time on and off CPUs" : what(p),
		.functions = 30, .stacks = p->clock->layout.callchain ? 5 : 0,
		.timed = p->off_cpu, .least = (double)p->least / 100, .idle = p->idle,
	};
	char when[64];

	if (p->folded) {
		if (a->opts->stream.interval_ms)
			folded_interval(p->folded, analysis_time_text(a, now, when, sizeof(when)));
		hotspots_fold(a, &p->hot, p->folded);
	}
	hotspots_print(a, &p->hot, &view, now);
	hotspots_free(&p->hot);
	p->idle = 0;
}

static void interval(struct analysis *a)
{
	show(a, analysis_now(a));
}

static int end(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;
	char text[64];
	const struct flame_title title = { text, p->off_cpu || is_clock(p) ? "ns" : what(p) };

	show(a, analysis_end(a, p->last));
	if (analysis_may_draw(a, p->flame.path, f))
		return -1;
	snprintf(text, sizeof(text), "perf-prof profile -F %llu%s", (unsigned long long)frequency(p),
		 p->off_cpu ? " --off-cpu" : "");
	return p->folded ? flame_write(&p->flame, p->folded, &title, f) : 0;
}

static bool is_over(struct analysis *a)
{
	return switches_are_over(&((struct profile *)a->config)->switches);
}

static void release(struct analysis *a)
{
	struct profile *p = a->config;

	hotspots_free(&p->hot);
	folded_free(p->folded);
	pairs_free(&p->pairs);
	switches_free(&p->switches);
}

static void task(struct analysis *a, const struct pev_record *rec)
{
	switches_task(&((struct profile *)a->config)->switches, rec);
}

static const struct analysis_ops ops = {
	.name = "profile", .events = events, .begin = begin, .sample = sample, .task = task, .interval = interval,
	.is_over = is_over, .end = end, .release = release, .chains_of_users = true,
};

/* A report says how far it is, where somebody looks. */
static int begin_report(struct analysis *a, struct fault *f)
{
	struct profile *p = a->config;

	progress_begin(&p->progress, a);
	return begin(a, f);
}

static void report_sample(struct analysis *a, const struct analysis_sample *s)
{
	progress_step(&((struct profile *)a->config)->progress, a);
	sample(a, s);
}

static void report_interval(struct analysis *a)
{
	progress_end(&((struct profile *)a->config)->progress);
	interval(a);
}

static int end_report(struct analysis *a, struct fault *f)
{
	progress_end(&((struct profile *)a->config)->progress);
	return end(a, f);
}

static void release_report(struct analysis *a)
{
	progress_end(&((struct profile *)a->config)->progress);
	release(a);
}

static const struct analysis_ops report_ops = {
	.name = "report", .begin = begin_report, .sample = report_sample, .interval = report_interval,
	.end = end_report, .release = release_report,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static int parse_percent(const char *text, void *field, struct fault *f)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
		return fault_usage(f, "--than %s: expected a percentage, 0 to 100", text);
	*(uint64_t *)field = (uint64_t)(percent * 100);
	return 0;
}

#define AT(member) offsetof(struct profile, member)

static const struct opt profile_opts[] = {
	{ "off-cpu", 0, NULL, OPT_FLAG, AT(off_cpu), NULL,
	  "Time off the CPU, too: from the switch that put a task to sleep to the one that lets it run, by the "
	  "stack where it slept.", false, NULL },
	{ "than", 0, NULL, OPT_CALL, AT(least), "PERCENT",
	  "Show what has at least this part of the time.", false, parse_percent },
};

static const struct opt_group groups[] = {
	{ "Sampling", profile_freq_opts, PROFILE_FREQ_NOPTS, 0 },
	{ "Profile", profile_opts, sizeof(profile_opts) / sizeof(*profile_opts), 0 },
	{ "Levels", levels_opts, LEVELS_NOPTS, offsetof(struct profile_opts, levels) },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
	{ "Machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, 0 },
	{ "Call chains", analysis_callchain_opts, ANALYSIS_CALLCHAIN_NOPTS, 0 },
	{ "Pictures", flame_opts, FLAME_OPTS, AT(flame) },
	{ "For programs", analysis_json_opts, ANALYSIS_JSON_NOPTS, 0 },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 },
};

static const char *const description[] = {
	"Where do the CPUs spend their time? Samples what they execute, 997 times a second, by the CPU's "
	"cycles or, where those can't be had, its clock; prints a line for each sample, with -g its call chain, "
	"and at the end (with -i at each interval, and nothing else) the hottest functions and stacks. -q leaves "
	"out the samples.",
	"self% is the part of the samples in the function itself, total% the part in it and what it called; the "
	"latter needs -g. Functions that a compiler put into others have rows of their own.",
	"Samples of CPUs that had nothing to do are not in the tables; their part is told above.",
	"Of tasks of one's own, a user who is refused the kernel's part (kernel.perf_event_paranoid above 1) gets what "
	"they do in user space; the event's name ends in :u then.",
	"--off-cpu adds what tasks wait for: one picture of time on and off the CPU. Its table has the time itself, "
	"too, and rows \"(blocked)\": a wait is self of the function in user space that it was called from (the C "
	"library's, such as poll); of threads of the kernel, of the first function that isn't the scheduler's.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof profile -q -g -- ./program", "a command: its hottest functions and stacks" },
	{ "perf-prof profile -q -i 1000", "the whole machine, each second" },
	{ "perf-prof profile -p 1234 -g --flame-graph flame.html", "a process, as a picture, until Ctrl-C" },
	{ "perf-prof profile --off-cpu -p 1234 --flame-graph waits.svg", "and what it waits for" },
	{ NULL, NULL },
};

static void defaults(void *config)
{
	analysis_defaults(config);
	((struct analysis_opts *)config)->stream.sources = analysis_sources;
}

const struct command profile_command = {
	.name = "profile",
	.summary = "where CPUs spend their time, by function and stack",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct profile),
	.defaults = defaults,
	.release = analysis_release,
	.run = run,
};

/* ---- report: the same of a recording ------------------------------------------------ */

/* FILE may stand behind -I or alone. */
static int run_report(void *config, const struct opt_parser *args, struct fault *f)
{
	struct opt_parser none = *args;
	struct stream_opts *o = config;

	if (args->noperands > 1 || (args->noperands && o->input))
		return fault_usage(f, "report: one recording at a time: \"%s\" is one too many",
				   args->operands[args->noperands - 1]);
	if (args->noperands)
		o->input = args->operands[0];
	if (!o->input)
		o->input = "perf.data";
	none.noperands = 0;
	return analysis_run(&report_ops, config, &none, f);
}

static const struct opt_group report_groups[] = {
	{ "Report", profile_opts + 1, 1, 0 },
	{ "Recording", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
	{ "Names", analysis_callchain_opts + STREAM_CALLCHAIN_NOPTS, 2, 0 },
	{ "Pictures", flame_opts, FLAME_OPTS, AT(flame) },
	{ "For programs", analysis_json_opts, ANALYSIS_JSON_NOPTS, 0 },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 },
};

static const char *const report_description[] = {
	"Where was the time spent, in a recording? The hottest functions and stacks of what perf-prof record or "
	"perf record wrote, as profile shows them live.",
	"FILE is perf.data without a word; - is standard input.",
	NULL,
};

static const struct command_example report_examples[] = {
	{ "perf-prof report", "of ./perf.data" },
	{ "perf-prof report -I job.data --flame-graph job.html", "as a picture, too" },
	{ NULL, NULL },
};

const struct command report_command = {
	.name = "report",
	.summary = "the hottest functions and stacks of a recording",
	.usage = "[options] [FILE]",
	.description = report_description,
	.groups = report_groups,
	.ngroups = sizeof(report_groups) / sizeof(report_groups[0]),
	.examples = report_examples,
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct profile),
	.defaults = defaults,
	.release = analysis_release,
	.run = run_report,
};
