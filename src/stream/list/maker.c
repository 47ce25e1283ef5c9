/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/maker.h"

#include "base/room.h"
#include "events/probename.h"
#include "stream/list/list.h"
#include "stream/list/samplelimits.h"
#include "stream/list/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
	struct stream *s;
	const char *name;             /* of the source */
	const struct maker_ops *ops;
	void *state;
	struct stream_opts *config;   /* options of the source, */
	char *words;                  /* and the text that they point into; or NULL */
	const struct tracefmt *fmt;
	void *fields;                 /* of the next event; apart from `rec`, where raw data is not aligned to 8
				       * bytes */
	size_t size;                  /* of `fields` */
	size_t event;                 /* index in the list; a pointer would become invalid while events are
				       * appended */
	struct stream_limit limit;
	struct ring *ring;            /* of the present sample, */
	uint32_t cpu;                 /* and its CPU */
	struct perf_event_header *rec;
	uint32_t raw_size;            /* padding to 8 bytes included */
};

struct wish {
	struct maker *maker;
	const char *sys, *name;
	bool everywhere;
};

struct maker_tap {
	struct maker *maker;
	struct maker_tap *next;
};

/* ---- the event and its format ------------------------------------------------ */

/* Fields that every tracepoint has: struct made_head. */
#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                       \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                       \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"               \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* The highest free id: real tracepoints have low ones. */
static unsigned int free_id(const struct tracefmt_db *db)
{
	unsigned int id = UINT16_MAX;

	while (id && tracefmt_find(db, id))
		id--;
	return id;
}

/* A format as in tracefs. The parser needs the name to be one word. */
static char *format_text(const struct stream *s, const char *source, const struct source_made *made,
			 size_t *len)
{
	char *text = NULL, name[64];
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	snprintf(name, sizeof(name), "%s", source);
	for (char *p = name; (p = strchr(p, '-')); )
		*p = '_';
	fprintf(out, "name: %s\nID: %u\nformat:\n" COMMON, name, free_id(s->list.formats));
	for (size_t i = 0; i < made->nfields; i++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", made->fields[i].declared,
			made->fields[i].offset, made->fields[i].size, made->fields[i].is_signed);
	fprintf(out, "\nprint fmt: %s\n", made->print);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static const struct tracefmt *make_format(struct stream *s, const char *name,
					  const struct source_made *made, struct fault *f)
{
	const struct tracefmt *fmt;
	size_t len;
	char *text = format_text(s, name, made, &len);

	if (!text) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	fmt = tracefmt_parse(s->list.formats, text, len, "perf-prof", f);
	free(text);
	return fmt;
}

/* The sample: header, TID, TIME, and RAW, which is a size and the data. */
#define MADE_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)
enum { AT_TID = 8, AT_TIME = 16, AT_RAW = 24, AT_DATA = 28 };

static int make_record(struct maker *m, size_t size)
{
	size_t all = (AT_DATA + size + 7) & ~(size_t)7;

	m->rec = calloc(1, all);
	m->fields = calloc(1, size);
	if (!m->rec || !m->fields)
		return -1;
	m->size = size;
	m->raw_size = (uint32_t)(all - AT_DATA);
	*m->rec = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, (uint16_t)all };
	memcpy((char *)m->rec + AT_RAW, &m->raw_size, sizeof(m->raw_size));
	return 0;
}

static void maker_free(struct maker *m)
{
	m->ops->free(m->state);
	stream_opts_free(m->config);
	free(m->config);
	free(m->words);
	free(m->rec);
	free(m->fields);
	free(m);
}

struct maker *makers_add(struct stream *s, const char *name, const struct source_made *made, struct stream_opts **config,
			 char **words, struct fault *f)
{
	struct makers *all = &s->list.makers;
	struct maker *m = ROOM_FOR_ONE(all->v, all->n) ? calloc(1, sizeof(*m)) : NULL;

	if (!m) {
		made->ops->free(made->state);
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	all->v[all->n++] = m;
	*m = (struct maker){
		.s = s, .name = name, .ops = made->ops, .state = made->state, .config = *config, .words = *words,
	};
	*config = NULL;
	*words = NULL;
	m->fmt = make_format(s, name, made, f);
	if (!m->fmt)
		return NULL;
	if (make_record(m, made->size)) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	return m;
}

void maker_set_event(struct maker *m, struct stream_event *ev)
{
	m->event = (size_t)(ev - m->s->list.events);
	m->limit.exit_n = m->config->exit_n;
	ev->maker = m;
	ev->fmt = m->fmt;
	ev->min_raw = m->fmt->min_size;
	layout_from_sample_type(&ev->layout, MADE_SAMPLE_TYPE);
	ev->each = 1;
}

struct stream_limit *maker_limit(struct maker *m)
{
	return m->limit.exit_n ? &m->limit : NULL;
}

struct tracefmt_db *maker_formats(struct maker *m)
{
	return m->s->list.formats;
}

struct stream *maker_stream(struct maker *m)
{
	return m->s;
}

/* ---- watched tracepoints ------------------------------------------------------ */

int source_watch(struct maker *m, const char *sys, const char *name, bool everywhere, struct fault *f)
{
	struct makers *all = &m->s->list.makers;

	if (!ROOM_FOR_ONE(all->wishes, all->nwishes))
		return fault_set(f, EXIT_FAILED, "out of memory");
	all->wishes[all->nwishes++] = (struct wish){ m, sys, name, everywhere };
	return 0;
}

bool source_has(const struct maker *m, const char *sys, const char *name)
{
	return !m->s->replay || recording_has(m->s, sys, name);
}

static bool is_tapped_by(const struct stream_event *ev, const struct maker *m)
{
	for (const struct maker_tap *tap = ev->taps; tap; tap = tap->next)
		if (tap->maker == m)
			return true;
	return false;
}

static bool is_tracepoint(const struct stream_event *ev, const char *sys, const char *name)
{
	return !strcmp(ev->sys, sys) && !strcmp(ev->tracepoint, name);
}

/* A probe of the list, "uprobe:read": its tracepoint has a name of perf-prof's. */
static void find_probe(const struct stream *s, const char **sys, const char **name)
{
	char probe[256];

	snprintf(probe, sizeof(probe), "%s:%s", *sys, *name);
	for (size_t i = 0; i < s->list.nshown; i++)
		if (s->list.events[i].asked.probe && !strcmp(s->list.events[i].asked.probe, probe)) {
			*sys = s->list.events[i].sys;
			*name = s->list.events[i].tracepoint;
			return;
		}
}

struct stream_event *maker_event(struct maker *m, const char *sys, const char *name)
{
	struct stream *s = m->s;

	find_probe(s, &sys, &name);

	/* leaders of a recording are there, too, but no source watches them */
	for (size_t i = s->list.nshown; i < s->list.nevents; i++)
		if (is_tapped_by(&s->list.events[i], m) && is_tracepoint(&s->list.events[i], sys, name))
			return &s->list.events[i];
	return NULL;
}

/* If the targets are no tasks, `everywhere` changes nothing. */
static bool is_everywhere(const struct stream *s, const struct wish *w)
{
	return w->everywhere && (s->opts->pids.n || s->opts->tids.n);
}

/* One tracepoint may be there twice: for all tasks, and for the targets. */
static struct stream_event *find_watched(struct stream *s, const struct wish *w)
{
	for (size_t i = s->list.nshown; i < s->list.nevents; i++)
		if (s->list.events[i].asked.everywhere == is_everywhere(s, w) &&
		    is_tracepoint(&s->list.events[i], w->sys, w->name))
			return &s->list.events[i];
	return NULL;
}

/* A source opens no probe itself: "uprobe:read@/bin/cat" as the name of one that the list has. */
static int lacks_probe(const struct stream *s, const struct wish *w, struct fault *f)
{
	const struct spec_item *item = s->list.events[w->maker->event].asked.item;
	const int len = (int)strcspn(w->name, "@");
	char message[256], expected[256];

	snprintf(message, sizeof(message), "%s needs the probe %s:%.*s, which this list of events does not have", w->maker->name,
		 w->sys, len, w->name);
	snprintf(expected, sizeof(expected), "the probe beside the source, which names it without the file: -e '%s:%.*s@FILE,%s/... "
		 "%s:%.*s .../'", w->sys, len, w->name, w->maker->name, w->sys, len, w->name);
	return spec_fault(f, item, item->at, message, expected);
}

static struct stream_event *append_live(struct stream *s, const struct wish *w, struct fault *f)
{
	const struct spec_item *item = s->list.events[w->maker->event].asked.item;
	struct stream_event *ev;
	struct fault why = { 0 };
	char message[2560];

	if (!s->list.tracefs[0] && events_find_tracefs(s, f))
		return NULL;
	ev = events_append(s, item, f);
	if (!ev || event_set_tracepoint(ev, w->sys, w->name, f))
		return NULL;
	ev->fmt = tracefmt_load(s->list.formats, s->list.tracefs, w->sys, w->name, &why);
	if (!ev->fmt) {
		snprintf(message, sizeof(message), "%s needs %s:%s: %s", w->maker->name, w->sys, w->name, why.text);
		spec_fault(f, item, item->at, message, NULL);
		return NULL;
	}
	ev->min_raw = ev->fmt->min_size;
	return ev;
}

static struct stream_event *append(struct stream *s, const struct wish *w, struct fault *f)
{
	const struct spec_item *item = s->list.events[w->maker->event].asked.item;
	struct stream_event *ev = s->replay ? recording_watch(s, item, w->maker->name, w->sys, w->name, f)
					    : append_live(s, w, f);

	if (!ev)
		return NULL;
	free((char *)ev->asked.filter);   /* these are the source's options */
	ev->asked.filter = NULL;
	ev->callchain = false;
	ev->asked.everywhere = is_everywhere(s, w);
	return ev;
}

static int watch(struct stream *s, struct wish wish, struct fault *f)
{
	const struct wish *w = &wish;
	const struct spec_item named = { .sys = (char *)wish.sys };
	struct maker_tap *tap, **end;
	struct stream_event *ev;

	find_probe(s, &wish.sys, &wish.name);
	if (wish.sys == named.sys && probe_word_of(&named))
		return lacks_probe(s, w, f);
	ev = find_watched(s, w);
	if (!ev)
		ev = append(s, w, f);
	if (!ev)
		return -1;
	/* sources get samples in the order of the list, and each source once, even if it watches
	 * the tracepoint twice */
	if (is_tapped_by(ev, w->maker))
		return 0;
	for (end = &ev->taps; *end; end = &(*end)->next)
		;
	tap = calloc(1, sizeof(*tap));
	if (!tap)
		return fault_set(f, EXIT_FAILED, "out of memory");
	tap->maker = w->maker;
	*end = tap;
	return 0;
}

int makers_watch(struct stream *s, struct fault *f)
{
	s->list.nshown = s->list.nevents;
	for (size_t i = 0; i < s->list.makers.nwishes; i++)
		if (watch(s, s->list.makers.wishes[i], f))
			return -1;
	return 0;
}

int makers_begin(struct stream *s, struct fault *f)
{
	for (size_t i = 0; i < s->list.makers.n; i++) {
		struct maker *m = s->list.makers.v[i];

		if (m->ops->begin(m->state, m, f))
			return -1;
	}
	return 0;
}

void makers_free(struct stream *s)
{
	for (size_t i = s->list.nshown; i < s->list.nevents; i++)
		for (struct maker_tap *tap = s->list.events[i].taps, *next; tap; tap = next) {
			next = tap->next;
			free(tap);
		}
	for (size_t i = 0; i < s->list.makers.n; i++)
		maker_free(s->list.makers.v[i]);
	free(s->list.makers.v);
	free(s->list.makers.wishes);
	s->list.makers = (struct makers){ 0 };
}

void makers_settle(struct stream *s)
{
	for (size_t i = s->list.nshown; i < s->list.nevents; i++) {
		s->list.events[i].wanted = false;
		for (const struct maker_tap *tap = s->list.events[i].taps; tap; tap = tap->next)
			s->list.events[i].wanted |= s->list.events[tap->maker->event].wanted;
	}
}

static bool is_over(const struct maker *m)
{
	return m->limit.exit_n && m->limit.passed >= m->limit.exit_n;
}

bool makers_are_over(const struct stream_event *watched)
{
	for (const struct maker_tap *tap = watched->taps; tap; tap = tap->next)
		if (!is_over(tap->maker))
			return false;
	return true;
}

/* ---- samples ------------------------------------------------------------------- */

void makers_take(struct stream *s, struct ring *ring, const struct stream_event *event,
		 const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	for (const struct maker_tap *tap = event->taps; tap; tap = tap->next) {
		struct maker *m = tap->maker;

		if (is_over(m) || !s->list.events[m->event].wanted)
			continue;
		m->ring = ring;
		m->cpu = cpu;
		m->ops->sample(m->state, m, event, rec, raw, raw_size, cpu);
	}
}

void makers_take_task(struct stream *s, const struct pev_record *rec)
{
	for (size_t i = 0; i < s->list.makers.n; i++) {
		struct maker *m = s->list.makers.v[i];

		if (m->ops->task)
			m->ops->task(m->state, rec);
	}
}

void makers_end(struct stream *s)
{
	for (size_t i = 0; i < s->list.makers.n && s->run.stop != STOP_CONSUMER; i++) {
		struct maker *m = s->list.makers.v[i];

		if (m->ops->end && m->ring && !is_over(m) && s->list.events[m->event].wanted)
			m->ops->end(m->state, m);
	}
}

void *maker_fields(struct maker *m)
{
	return memset(m->fields, 0, m->size);
}

static void fill(struct maker *m, uint64_t time, pid_t pid, pid_t tid)
{
	const int32_t who[2] = { pid, tid };

	memcpy((char *)m->rec + AT_TID, who, sizeof(who));
	memcpy((char *)m->rec + AT_TIME, &time, sizeof(time));
	*(struct made_head *)m->fields = (struct made_head){ .common_type = m->fmt->id, .common_pid = tid };
	memcpy((char *)m->rec + AT_DATA, m->fields, m->size);
}

void maker_emit(struct maker *m, uint64_t time, pid_t pid, pid_t tid)
{
	struct stream *s = m->s;
	const struct stream_event *event = &s->list.events[m->event];

	if (s->run.stopping || (event->asked.cpus.n && !numlist_has(&event->asked.cpus, (int)m->cpu)))
		return;
	fill(m, time, pid, tid);
	if (!event->choosy || limits_allow(s, m->ring, event, m->rec))
		stream_hand_over(s, event, m->rec, (char *)m->rec + AT_DATA, m->raw_size, m->cpu);
}
