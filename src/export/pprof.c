/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for pprof. Samples with the same task and stack are added up, with a value in each
 * column. A perf event has two columns: the number of samples, and the sum of their periods; a
 * tracepoint has the first. Addresses are offsets in their file, as if the whole file were mapped
 * at 0, so that the same code is one location in all processes.
 */
#include "export/convert.h"

#include "export/protofile.h"
#include "export/wordlist.h"
#include "profile.pb-c.h"
#include "stream/replay/replay.h"
#include "table/groups.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 1024, MAX_LINES = 256, PAGE = 4096, NAME = 512 };

struct task_key {
	struct callstack *stack;
	uint64_t column;             /* of its event */
	int32_t pid, tid;
	uint64_t comm;               /* number of the string */
};

struct tally {
	struct task_key key;
	uint64_t samples, weight;
};

/* A file with frames. */
struct place {
	uint64_t first, last;        /* addresses */
	uint64_t roots;              /* samples of the program that it is */
	uint32_t name;
	char build_id[2 * BUILD_ID_MAX + 1];
	bool kernel, names, lines, inlines;
};

/* A value of samples. */
struct column {
	const struct stream_event *event;
	bool sum;                    /* sum of periods; else number of samples */
};

struct pprof {
	struct protofile file;
	struct words strings;
	struct numbers functions, locations, places;
	struct groups all;           /* of struct tally */
	struct column *columns;
	size_t ncolumns;
	int64_t *values;             /* zero except while a sample is written */
};

/* The first column of an event + 1, kept in event->consumer; 0: none. */
static uint64_t column_of(const struct stream_event *event)
{
	return (uint64_t)(uintptr_t)event->consumer;
}

/* ---- samples --------------------------------------------------------------------------- */

static int begin(struct convert *c, struct analysis *a, struct fault *f)
{
	struct pprof *p = c->state = calloc(1, sizeof(*p));
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	if (!c->profile)
		return fault_set(f, EXIT_FAILED, "%s: none of its events has a call chain or an "
				 "address; record samples (`perf-prof record` without -e), or add "
				 "-g",
				 a->opts->stream.input);
	if (!p)
		return fault_set(f, EXIT_FAILED, "out of memory");
	p->functions.words = 3;
	p->locations.words = p->places.words = 1;
	p->places.row = sizeof(struct place);
	wordlist_of(&p->strings, "");
	p->columns = calloc(2 * n + 1, sizeof(*p->columns));
	p->values = calloc(2 * n + 1, sizeof(*p->values));
	if (!p->columns || !p->values)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n; i++) {
		if (!analysis_has_place(&events[i]))
			continue;
		p->columns[p->ncolumns++] = (struct column){ &events[i], false };
		events[i].consumer = (void *)(uintptr_t)p->ncolumns;
		if (events[i].sampling)
			p->columns[p->ncolumns++] = (struct column){ &events[i], true };
	}
	return protofile_begin(&p->file, c->file.out, true) ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

static void sample(struct convert *c, struct analysis *a, const struct analysis_sample *s)
{
	struct pprof *p = c->state;
	struct task_key key;
	struct tally *t;

	if (!column_of(s->event))
		return;
	memset(&key, 0, sizeof(key));
	key = (struct task_key){ analysis_where(a, s), column_of(s->event), s->pid, s->tid,
				 wordlist_of(&p->strings, analysis_comm(a, s->tid)) };
	t = groups_get(&p->all, &key, sizeof(key), sizeof(*t), UINT32_MAX);
	if (!t) {
		c->no_memory = true;
		return;
	}
	t->samples++;
	t->weight += analysis_weight(s);
}

/* ---- frames ---------------------------------------------------------------------------- */

static void put(struct pprof *p, const Perftools__Profiles__Profile *piece)
{
	protofile_put(&p->file, &piece->base);
}

static void identify(struct place *place, const struct frame *frame)
{
	size_t n = 0;
	const uint8_t *id = frame->object ? dso_build_id(frame->object, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		snprintf(place->build_id + 2 * i, 3, "%02x", id[i]);
}

static struct place *place_at(const struct pprof *p, uint64_t i)
{
	return (struct place *)p->places.rows + i;
}

/* The number of a frame's file, from 1; 0: unknown. */
static uint64_t place_of(struct pprof *p, const struct frame *frame)
{
	uint64_t name = wordlist_of(&p->strings, frame->dso);
	struct place *place;
	bool fresh;
	uint32_t i;

	if (!frame->object && !frame->kernel && !frame->guest)
		return 0;
	i = numbers_of(&p->places, &name, &fresh);
	if (i >= p->places.n)
		return 0;
	place = place_at(p, i);
	if (fresh) {
		*place = (struct place){ .first = frame->at, .last = frame->at, .name = (uint32_t)name,
					 .kernel = frame->kernel };
		identify(place, frame);
	}
	if (frame->at < place->first)
		place->first = frame->at;
	if (frame->at > place->last)
		place->last = frame->at;
	return i + 1;
}

static uint64_t function_of(struct pprof *p, const struct frame *frame)
{
	uint32_t name = wordlist_of(&p->strings, frame->symbol), file = wordlist_of(&p->strings, frame->file);
	uint64_t key[] = { name, file, wordlist_of(&p->strings, frame->dso) };
	bool fresh;
	uint64_t id = numbers_of(&p->functions, key, &fresh) + 1;
	Perftools__Profiles__Function fn = PERFTOOLS__PROFILES__FUNCTION__INIT, *fns[] = { &fn };
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	if (!fresh)
		return id;
	fn.id = id;
	fn.name = fn.system_name = name;
	fn.filename = file;
	piece.n_function = 1;
	piece.function = fns;
	put(p, &piece);
	return id;
}

/* The location of one address. frames: the inlined functions, innermost first, then the function that
 * contains them; n in all. */
static void put_location(struct pprof *p, uint64_t id, const struct frame *const *frames, size_t n)
{
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations[] = { &location };
	Perftools__Profiles__Line line[MAX_LINES], *lines[MAX_LINES];
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const struct frame *outer = frames[n - 1];

	location.id = id;
	location.mapping_id = place_of(p, outer);
	location.address = outer->at;
	for (size_t i = 0; i < n && i < MAX_LINES && frames[i]->symbol; i++) {
		line[i] = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
		line[i].function_id = function_of(p, frames[i]);
		line[i].line = frames[i]->line;
		lines[i] = &line[i];
		location.n_line++;
	}
	if (location.mapping_id) {
		struct place *place = place_at(p, location.mapping_id - 1);

		place->names |= location.n_line != 0;
		place->lines |= outer->line != 0;
		place->inlines |= location.n_line > 1;
	}
	location.line = lines;
	piece.n_location = 1;
	piece.location = locations;
	put(p, &piece);
}

static size_t locate(struct pprof *p, const struct callstack *stack, uint64_t *ids)
{
	size_t n = 0;

	for (uint32_t i = 0, first = 0; i < stack->n && n < MAX_FRAMES; i++) {
		uint64_t key = (uint64_t)(uintptr_t)stack->frames[i];
		bool fresh;

		if (stack->frames[i]->inlined && i + 1 < stack->n)
			continue;
		ids[n] = numbers_of(&p->locations, &key, &fresh) + 1;
		if (fresh)
			put_location(p, ids[n], stack->frames + first, i + 1 - first);
		first = i + 1;
		n++;
	}
	return n;
}

/* Counts the sample for its program: the outermost frame that is not in a library. */
static void count_root(struct pprof *p, const struct tally *t)
{
	const struct callstack *stack = t->key.stack;

	for (uint32_t i = stack->n; i-- > 0;) {
		const struct frame *frame = stack->frames[i];
		uint64_t place = frame->object && *frame->dso == '/' && !strstr(frame->dso, ".so")
				 ? place_of(p, frame) : 0;

		if (!place)
			continue;
		place_at(p, place - 1)->roots += t->samples;
		return;
	}
}

/* ---- the file -------------------------------------------------------------------------- */

static void put_sample(struct pprof *p, struct analysis *a, const struct tally *t)
{
	Perftools__Profiles__Sample one = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples[] = { &one };
	Perftools__Profiles__Label label[3], *labels[] = { &label[0], &label[1], &label[2] };
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	static const char *const keys[] = { "pid", "tid", "comm" };
	uint64_t ids[MAX_FRAMES];
	int64_t *value = p->values + t->key.column - 1;
	bool two = t->key.column < p->ncolumns && p->columns[t->key.column].sum;

	if (t->key.stack) {
		callstacks_expand(a->stacks, t->key.stack);
		one.n_location_id = locate(p, t->key.stack, ids);
		one.location_id = ids;
		count_root(p, t);
	}
	for (size_t i = 0; i < 3; i++) {
		label[i] = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
		label[i].key = wordlist_of(&p->strings, keys[i]);
	}
	label[0].num = t->key.pid;
	label[1].num = pidmap_shown(t->key.tid);
	label[2].str = (int64_t)t->key.comm;
	one.n_label = 3;
	one.label = labels;
	value[0] = (int64_t)t->samples;
	if (two)
		value[1] = (int64_t)t->weight;
	one.n_value = p->ncolumns;
	one.value = p->values;
	piece.n_sample = 1;
	piece.sample = samples;
	put(p, &piece);
	value[0] = 0;
	if (two)
		value[1] = 0;
}

/* "samples", "cpu" in nanoseconds, "cycles"; with several events "cycles_samples", "cycles". */
static Perftools__Profiles__ValueType type_of(struct pprof *p, const struct column *column)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct stream_event *event = column->event;
	bool clock = analysis_is_clock(event), alone = p->ncolumns <= 2;
	char name[NAME];

	snprintf(name, sizeof(name), "%s%s", event->name, column->sum || !event->sampling ? "" : "_samples");
	if (alone && event->sampling && !column->sum)
		type.type = wordlist_of(&p->strings, "samples");
	else
		type.type = wordlist_of(&p->strings, alone && clock ? "cpu" : name);
	type.unit = wordlist_of(&p->strings, column->sum && clock ? "nanoseconds" : "count");
	return type;
}

static void put_types(struct pprof *p, const struct convert *c)
{
	Perftools__Profiles__ValueType type, shown, *types[] = { &type };
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Profile facts = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.n_sample_type = 1;
	piece.sample_type = types;
	for (size_t i = 0; i < p->ncolumns; i++) {
		type = type_of(p, &p->columns[i]);
		put(p, &piece);
		if (p->columns[i].event == c->profile)
			shown = type;            /* the sum, if there is one */
	}
	facts.default_sample_type = shown.type;
	facts.period_type = &shown;
	facts.period = analysis_is_clock(c->profile) ? (int64_t)convert_interval(c) : 0;
	put(p, &facts);
}

static void put_place(struct pprof *p, size_t i)
{
	const struct place *place = place_at(p, i);
	Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT, *mappings[] = { &m };
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	m.id = i + 1;
	m.memory_start = place->kernel ? place->first & -(uint64_t)PAGE : 0;
	m.memory_limit = (place->last | (PAGE - 1)) == UINT64_MAX ? UINT64_MAX : (place->last | (PAGE - 1)) + 1;
	m.filename = place->name;
	m.build_id = wordlist_of(&p->strings, place->build_id);
	m.has_functions = place->names;
	m.has_filenames = m.has_line_numbers = place->lines;
	m.has_inline_frames = place->inlines;
	piece.n_mapping = 1;
	piece.mapping = mappings;
	put(p, &piece);
}

/* The first must be the main program: the one with most samples. */
static void put_places(struct pprof *p)
{
	size_t main = 0;

	for (size_t i = 1; i < p->places.n; i++)
		if (place_at(p, main)->kernel || (!place_at(p, i)->kernel && place_at(p, i)->roots > place_at(p, main)->roots))
			main = i;
	for (size_t i = 0; i < p->places.n; i++)
		put_place(p, i ? i - (i <= main) : main);
}

static void put_comment(struct pprof *p, const char *text)
{
	int64_t comment = wordlist_of(&p->strings, text);
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.n_comment = 1;
	piece.comment = &comment;
	put(p, &piece);
}

/* The machine, the lost samples, the time. */
static void put_facts(struct pprof *p, const struct convert *c, struct analysis *a)
{
	const struct perfdata_info *info = replay_info(stream_replay(a->stream));
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	struct stream_totals totals;
	char text[2 * NAME];

	snprintf(text, sizeof(text), "recorded on %s, Linux %s %s, %s", info->hostname ? info->hostname : "?",
		 info->osrelease ? info->osrelease : "?", info->arch ? info->arch : "",
		 info->cpu ? info->cpu : "");
	put_comment(p, text);
	stream_totals(a->stream, &totals);
	snprintf(text, sizeof(text), "%llu samples were lost", (unsigned long long)totals.lost);
	if (totals.lost)
		put_comment(p, text);
	snprintf(text, sizeof(text), "throttled %llu times: samples are missing", (unsigned long long)totals.throttled);
	if (totals.throttled)
		put_comment(p, text);
	if (stream_realtime_offset(a->stream))
		piece.time_nanos = (int64_t)(c->first + (uint64_t)stream_realtime_offset(a->stream));
	piece.duration_nanos = (int64_t)(c->last - c->first);
	put(p, &piece);
}

static void put_strings(struct pprof *p)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	char *text;

	piece.n_string_table = 1;
	piece.string_table = &text;
	for (uint32_t i = 0; i < p->strings.n; i++) {
		text = (char *)wordlist_at(&p->strings, i);
		put(p, &piece);
	}
}

static int end(struct convert *c, struct analysis *a, struct fault *f)
{
	struct pprof *p = c->state;

	put_types(p, c);
	for (const struct tally *t = groups_first(&p->all); t; t = groups_next(t))
		put_sample(p, a, t);
	put_places(p);
	put_facts(p, c, a);
	put_strings(p);
	if (protofile_end(&p->file) || p->strings.full || p->functions.lost || p->locations.lost ||
	    p->places.lost)
		return fault_set(f, EXIT_FAILED, "--output %s: out of memory", c->out);
	return 0;
}

static void release(struct convert *c)
{
	struct pprof *p = c->state;

	if (!p)
		return;
	groups_free(&p->all);
	protofile_free(&p->file);
	words_free(&p->strings);
	numbers_free(&p->functions);
	numbers_free(&p->locations);
	numbers_free(&p->places);
	free(p->columns);
	free(p->values);
	free(p);
}

const struct convert_format convert_pprof = {
	.name = "pprof", .suffixes = (const char *const[]){ ".pb.gz", NULL }, .binary = true,
	.begin = begin, .sample = sample, .end = end, .release = release,
};
