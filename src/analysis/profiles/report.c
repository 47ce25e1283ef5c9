/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof report: the hottest functions and stacks of a recording.
 *
 * Each event has a section with its functions and stacks, by the sum of the samples' periods. If only the
 * leader of a group was sampled, the members are columns in its section: the increase of a member's count
 * since the previous sample is added to the sample's function.
 */
#include "analysis/profiles/commands.h"
#include "analysis/profiles/hotspots.h"
#include "base/note.h"
#include "base/room.h"
#include "engine/progress.h"
#include "report/flame.h"
#include "stat/stat.h"
#include "stream/asked/rate.h"
#include "stream/replay/replay.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = 30, STACKS_SHOWN = 5 };

struct section {
	const struct stream_event *source;      /* the event of the samples */
	const struct stream_event **events;     /* those that are counted; the first is for the weight */
	size_t nevents;
	bool reads;                             /* weights are increases of counts, not periods */
	bool has_place, idles;                  /* idles: samples of task 0 are from idle CPUs */
	struct hotspots hot;
	uint64_t *counts;                       /* of the present sample, by event */
	uint64_t *sums, *idle;                  /* sums over samples; `idle`: on idle CPUs */
	uint64_t skid;
	const char **names;                     /* names of events[1] and following */
	struct hotspots_ratio *ratios;
	size_t nratios;
};

/* The consumer of an event: its section and column. */
struct place {
	struct section *section;
	size_t column;                          /* index in events; NO_COLUMN: a leader that is not in -e */
};
enum { NO_COLUMN = SIZE_MAX };

struct report {
	struct analysis_opts common;
	struct flame_config flame;
	struct section *sections;
	size_t nsections;
	struct place *places;
	const struct section *drawn;            /* for --flame-graph; NULL: all sections */
	const struct section *other;            /* one that has samples, but is not drawn */
	uint64_t last;
	struct progress progress;
};

/* ---- sections ------------------------------------------------------------------------- */

/* Whether samples of task 0 are idle time: not for software events such as page faults, except clocks. */
static bool is_of_cpu(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_TRACEPOINT &&
	       (attr->type != PERF_TYPE_SOFTWARE || rate_is_clock(attr));
}

static struct section *add_section(struct report *r, struct analysis *a, const struct stream_event *source)
{
	struct section *s = &r->sections[r->nsections++];

	*s = (struct section){ .source = source, .has_place = analysis_has_place(source) };
	if (source->maker)
		return s;
	s->reads = stream_event_has_counts(source);
	s->idles = is_of_cpu(&replay_event(a->stream, source)->attr.attr);
	return s;
}

/* The events to show, and leaders of these that are not shown themselves. */
struct all_events {
	struct stream_event *shown, *leaders;
	size_t nshown, nleaders;
};

static struct stream_event *event_at(const struct all_events *all, size_t i)
{
	return i < all->nshown ? &all->shown[i] : &all->leaders[i - all->nshown];
}

/* The event whose samples have this event's counts: itself, or for a group's member the leader, which is before it in
 * the recording. */
static struct stream_event *source_of(const struct all_events *all, struct stream_event *event)
{
	struct stream_event *leader = NULL;

	if (!event->opened.counted)
		return event;
	for (size_t i = 0; i < all->nshown + all->nleaders; i++) {
		struct stream_event *e = event_at(all, i);

		if (stream_event_has_counts(e) && e->opened.track < event->opened.track &&
		    (!leader || e->opened.track > leader->opened.track))
			leader = e;
	}
	return leader ? leader : event;
}

static struct section *section_of(struct report *r, struct analysis *a, const struct stream_event *source)
{
	for (size_t i = 0; i < r->nsections; i++)
		if (r->sections[i].source == source)
			return &r->sections[i];
	return add_section(r, a, source);
}

static bool add_event(struct section *s, const struct stream_event *event)
{
	if (!ROOM_FOR_ONE(s->events, s->nevents))
		return false;
	s->events[s->nevents++] = event;
	return true;
}

static void add_ratio(struct section *s, struct analysis *a, size_t of, size_t by)
{
	const struct perf_event_attr *x = &replay_event(a->stream, s->events[of])->attr.attr;
	const struct perf_event_attr *y = &replay_event(a->stream, s->events[by])->attr.attr;
	struct hotspots_ratio ratio = { of, by, 1, NULL };

	ratio.unit = stat_ratio(x, y, &ratio.factor);
	if (ratio.unit)
		s->ratios[s->nratios++] = ratio;
}

enum { COMPARED = 64 };     /* events of a group: a hostile recording can have any number */

/* Allocates counts, and finds ratios of events. False: out of memory. */
static bool finish_section(struct section *s, struct analysis *a)
{
	const size_t n = s->nevents, compared = n < COMPARED ? n : COMPARED;

	s->hot.nmore = n - 1;
	s->counts = calloc(n, sizeof(*s->counts));
	s->sums = calloc(n, sizeof(*s->sums));
	s->idle = calloc(n, sizeof(*s->idle));
	s->names = calloc(n, sizeof(char *));
	s->ratios = calloc(compared * compared, sizeof(*s->ratios));
	if (!s->counts || !s->sums || !s->idle || !s->names || !s->ratios)
		return false;
	for (size_t i = 1; i < n; i++)
		s->names[i - 1] = analysis_counted(s->events[i]);
	for (size_t i = 0; i < compared * compared; i++)
		if (i / compared != i % compared)
			add_ratio(s, a, i / compared, i % compared);
	return true;
}

/* Assigns events to sections. False: out of memory. */
static bool place_events(struct report *r, struct analysis *a, const struct all_events *all)
{
	for (size_t i = 0; i < all->nshown + all->nleaders; i++) {
		struct stream_event *event = event_at(all, i);
		struct section *s = section_of(r, a, source_of(all, event));

		r->places[i] = (struct place){ s, i < all->nshown ? s->nevents : NO_COLUMN };
		event->consumer = &r->places[i];
		if (i < all->nshown && !add_event(s, event))
			return false;
	}
	return true;
}

static int make_sections(struct report *r, struct analysis *a, struct fault *f)
{
	struct all_events all;
	bool good;

	all.shown = stream_events(a->stream, &all.nshown);
	all.leaders = stream_leaders(a->stream, &all.nleaders);
	r->sections = calloc(all.nshown + all.nleaders + 1, sizeof(*r->sections));
	r->places = calloc(all.nshown + all.nleaders + 1, sizeof(*r->places));
	good = r->sections && r->places && place_events(r, a, &all);
	for (size_t i = 0; i < r->nsections && good; i++)
		good = finish_section(&r->sections[i], a);
	return good ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

static void free_sections(struct report *r)
{
	for (size_t i = 0; i < r->nsections; i++) {
		struct section *s = &r->sections[i];

		hotspots_free(&s->hot);
		free(s->events);
		free(s->counts);
		free(s->sums);
		free(s->idle);
		free(s->names);
		free(s->ratios);
	}
	free(r->sections);
	free(r->places);
}

/* ---- samples -------------------------------------------------------------------------- */

static void take_count(struct section *s, const struct stream_count *count)
{
	const struct place *place = count->event ? count->event->consumer : NULL;

	if (place && place->section == s && place->column != NO_COLUMN)
		s->counts[place->column] += count->delta;
}

/* Sets s->counts from the sample. False: all counts of the group are 0. */
static bool read_counts(struct section *s, const struct analysis_sample *sample)
{
	uint64_t any = 0;

	if (!s->reads) {
		s->counts[0] = analysis_weight(sample);
		return true;
	}
	memset(s->counts, 0, s->nevents * sizeof(*s->counts));
	for (size_t i = 0; i < sample->event->counts->n; i++)
		take_count(s, &sample->event->counts->v[i]);
	for (size_t i = 0; i < s->nevents; i++)
		any |= s->counts[i];
	return any;
}

static void take_sample(struct analysis *a, struct section *s, const struct analysis_sample *sample)
{
	bool idle = !sample->tid && s->idles;

	if (!read_counts(s, sample))
		return;
	for (size_t i = 0; i < s->nevents; i++)
		*(idle ? &s->idle[i] : &s->sums[i]) += s->counts[i];
	if (idle)
		return;
	s->skid += analysis_is_skid(sample);
	hotspots_see(&s->hot, a, sample);
	if (s->has_place)
		hotspots_add_counts(&s->hot, analysis_comm(a, sample->tid), analysis_where(a, sample),
				    s->counts);
	else
		s->hot.samples += s->counts[0] > 0;
}

static void sample(struct analysis *a, const struct analysis_sample *sample)
{
	struct report *r = a->config;
	const struct place *place = sample->event->consumer;

	progress_step(&r->progress, a);
	r->last = sample->time;
	take_sample(a, place->section, sample);
}

/* ---- output --------------------------------------------------------------------------- */

static void show_section(struct analysis *a, struct section *s, uint64_t now)
{
	const char *what = analysis_counted(s->events[0]);
	char sampled[300];
	struct hotspots_view view = {
		.name = a->ops->name, .what = what,
		.sampled = s->source == s->events[0] ? analysis_sampled(s->source, what, sampled, sizeof(sampled)) : NULL,
		.event = s->source,
		.counted = true, .placeless = !s->has_place,
		.functions = s->has_place && s->hot.all.n ? FUNCTIONS_SHOWN : 0,
		.stacks = s->source->layout.callchain ? STACKS_SHOWN : 0,
		.skid = s->skid, .without_kernel = analysis_excludes_kernel(s->events[0]),
		.count = s->sums[0] + s->idle[0], .in_ns = analysis_is_clock(s->events[0]), .idle = s->idle[0],
		.more = s->names, .more_counts = s->sums + 1, .more_idle = s->idle + 1,
		.ratios = s->ratios, .nratios = s->nratios,
	};

	if (s->source == s->events[0] && !a->opts->stream.interval_ms)
		hotspots_find_unsampled(a, s->source, &s->hot, &view);
	hotspots_print(a, &s->hot, &view, now);
	hotspots_free(&s->hot);
	memset(s->sums, 0, s->nevents * sizeof(*s->sums));
	memset(s->idle, 0, s->nevents * sizeof(*s->idle));
	s->skid = 0;
}

static bool is_drawn(const struct report *r, const struct section *s)
{
	return !r->drawn || r->drawn->source->opened.family == s->source->opened.family;
}

/* The name of the drawn event; NULL: all events. */
static const char *drawn_name(const struct report *r, struct analysis *a, char *buf, size_t size)
{
	if (!r->drawn)
		return NULL;
	/* in a group, the first chosen event is for the weight */
	return r->drawn->source != r->drawn->events[0] ? analysis_counted(r->drawn->events[0])
						       : analysis_family(a, r->drawn->source, buf, size);
}

static void fold(struct analysis *a, uint64_t now)
{
	struct report *r = a->config;
	char name[256];

	analysis_name_interval(a, r->flame.folded, now);
	for (size_t i = 0; i < r->nsections; i++) {
		if (is_drawn(r, &r->sections[i]))
			hotspots_fold(a, &r->sections[i].hot, r->flame.folded, drawn_name(r, a, name, sizeof(name)));
		else if (!r->other && r->sections[i].hot.all.n)
			r->other = &r->sections[i];
	}
}

static void show(struct analysis *a, uint64_t now)
{
	struct report *r = a->config;

	progress_end(&r->progress);
	if (r->flame.folded)
		fold(a, now);
	for (size_t i = 0; i < r->nsections; i++) {
		if (i && !a->opts->json)
			putchar('\n');
		show_section(a, &r->sections[i], now);
	}
}

/* ---- the run -------------------------------------------------------------------------- */

/* --flame-graph shows one event, or all tracepoints if there are no other events. */
static int begin_picture(struct report *r, struct analysis *a, struct fault *f)
{
	bool all;
	struct stream_event *event = analysis_profiled(a, &all);
	int verbosity = a->opts->stream.verbose;
	char name[256];

	if (!event)
		return fault_usage(f, "report: no event of %s has a call chain or an address; "
				   "`perf record` without -e samples addresses", a->opts->stream.input);
	if (flame_begin(&r->flame, verbosity, f))
		return -1;
	if (!r->flame.path)
		return 0;
	r->drawn = all && r->nsections > 1 ? NULL : ((struct place *)event->consumer)->section;
	if (r->nsections > 1 && r->drawn)
		note(verbosity, "--flame-graph %s shows %s, the first of %zu events; -e EVENT chooses another", r->flame.path,
		     analysis_family(a, event, name, sizeof(name)), r->nsections);
	return 0;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct report *r = a->config;

	progress_begin(&r->progress, a);
	return make_sections(r, a, f) || begin_picture(r, a, f) ? -1 : 0;
}

static int draw(struct report *r, struct analysis *a, struct fault *f)
{
	char text[600], name[256];
	const char *event = drawn_name(r, a, name, sizeof(name));
	struct flame_title title = { NULL, event ? event : "samples" };

	if (r->other && !folded_total(r->flame.folded))
		return fault_set(f, EXIT_FAILED, "--flame-graph %s: there are no samples of %s, only of other events, "
				 "such as -e %s",
				 r->flame.path, event, analysis_counted(r->other->events[0]));
	if (r->drawn && analysis_is_clock(r->drawn->events[0]))
		title.unit = "ns";
	snprintf(text, sizeof(text), "perf-prof report %s: %s%s", a->opts->stream.input, event ? event : "all events",
		 r->drawn && analysis_excludes_kernel(r->drawn->events[0]) ? ", without the kernel" : "");
	title.title = text;
	return flame_write(&r->flame, r->flame.folded, &title, f);
}

static int end(struct analysis *a, struct fault *f)
{
	struct report *r = a->config;

	show(a, analysis_end(a, r->last));
	return hotspots_found(a, "the recording", f) || analysis_may_draw(a, r->flame.path, f) || (r->flame.folded && draw(r, a, f)) ? -1 : 0;
}

static void release(struct analysis *a)
{
	struct report *r = a->config;

	progress_end(&r->progress);
	free_sections(r);
	flame_free(&r->flame);
}

static const struct analysis_ops ops = {
	.name = "report", .begin = begin, .sample = sample, .interval = show, .end = end, .release = release,
};

/* ---- the command ---------------------------------------------------------------------- */

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct analysis_opts *o = config;
	struct opt_parser rest;

	o->merges_python = hotspots_merge_python(o);
	if (analysis_take_input("report", config, args, &rest, f) || hotspots_check(o, "report", f) ||
	    flame_open_before(&((struct report *)config)->flame, f))
		return -1;
	return analysis_run(&ops, config, &rest, f);
}

#define AT(member) offsetof(struct report, member)

static void defaults(void *config)
{
	struct stream_opts *o = config;

	analysis_defaults(config);
	o->takes_counts = true;
}

const struct command report_command = {
	.name = "report",
	.usual = "input event sort rows comms callers annotate tree flame-graph time json",
	.summary = "show the hottest functions and stacks of a recording",
	.usage = "[options] [FILE]",
	.description = COMMAND_TEXT(
		"Where was the time spent in a recording? Shows the hottest functions and stacks of a file "
		"from perf-prof record or perf record. Each event has a section, in the order of the "
		"recording, even without samples; -e selects events by name. Percentages are shares of the "
		"sum of the samples' periods, which is shown above the table. Inlined functions count as part of the "
		"function that contains them; those with at least 1 % are listed below it, indented "
		"(with --inline-rows, all have rows of their own). --flame-graph draws the first "
		"event; on hybrid CPUs, of all core types together.",
		"If only the leader of a group was sampled (-e '{cycles,instructions}:S'), each member has a "
		"column with its count between samples, and so do known ratios, such as instructions per cycle or "
		"cache misses per reference.",
		"FILE is perf.data by default; - is standard input."),
	OPT_GROUP_ROWS(
		{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
		{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
		{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
		{ "Symbols", analysis_callchain_opts + STREAM_CALLCHAIN_NOPTS, ANALYSIS_NAMES_NOPTS, 0 },
		{ "Table rows", hotspots_opts, HOTSPOTS_NOPTS, 0 },
		{ "Pictures", flame_opts, FLAME_OPTS, AT(flame) },
		ANALYSIS_OUTPUT_GROUPS),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof report", "show ./perf.data" },
		{ "perf-prof report -e cycles job.data", "show only one of several events" },
		{ "perf-prof report job.data --annotate main", "also show the source lines of main, with their shares" },
		{ "perf-prof report job.data --flame-graph job.svg", "also draw a flame graph" }),
	.mode = OPT_MODE_PLAIN,
	ANALYSIS_CONFIG(struct report, defaults),
	.run = run,
};
