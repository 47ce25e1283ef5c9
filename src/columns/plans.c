/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns there are, and how each event's samples fill them. */
#include "columns/columns.h"

#include "base/nearest.h"
#include "base/room.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const loss_names[LOSS_NAMES] = {
	[STREAM_LOSS_RING] = "lost:ring", [STREAM_LOSS_TAIL] = "lost:tail", [STREAM_LOSS_STOP] = "lost:stop",
	[STREAM_LOSS_DAMAGED] = "lost:damaged", [STREAM_LOSS_THROTTLED] = "lost:throttled",
};

/* ---- what an event can give ------------------------------------------------------ */

/* A value that samples of an event have. */
struct value {
	const char *name;
	enum column_type type;
	struct reader reader;
	uint64_t part;                  /* PERF_SAMPLE_* that it is read from */
};

struct place {
	const char *name;
	size_t member;                  /* of struct layout */
	uint8_t behind;                 /* bytes into the part */
	enum read_kind kind;
	enum column_type type;
	uint64_t part;
};

#define PLACE(name, member, behind, kind, type, part)                                              \
	{ name, offsetof(struct layout, member), behind, kind, type, PERF_SAMPLE_##part }

/* Common columns; the rest of them are in value_common(). */
static const struct place common_places[] = {
	PLACE("_time", time, 0, READ_TIME, COLUMN_U64, TIME),
	PLACE("_realtime", time, 0, READ_REALTIME, COLUMN_TIMESTAMP, TIME),
	PLACE("_pid", tid, 0, READ_RECORD_32, COLUMN_S32, TID),
	PLACE("_tid", tid, 4, READ_RECORD_32, COLUMN_S32, TID),
	PLACE("_period", period, 0, READ_RECORD_64, COLUMN_U64, PERIOD),
};

/* Fields of events that are no tracepoints. */
static const struct place sample_places[] = {
	PLACE("ip", ip, 0, READ_RECORD_64, COLUMN_U64, IP),
	PLACE("addr", addr, 0, READ_RECORD_64, COLUMN_U64, ADDR),
	PLACE("period", period, 0, READ_RECORD_64, COLUMN_U64, PERIOD),
	PLACE("id", id, 0, READ_RECORD_64, COLUMN_U64, ID),
	PLACE("stream_id", stream_id, 0, READ_RECORD_64, COLUMN_U64, STREAM_ID),
	PLACE("pid", tid, 0, READ_RECORD_32, COLUMN_S32, TID),
	PLACE("tid", tid, 4, READ_RECORD_32, COLUMN_S32, TID),
	PLACE("time", time, 0, READ_TIME, COLUMN_U64, TIME),
	PLACE("cpu", cpu, 0, READ_RECORD_32, COLUMN_S32, CPU),
};
enum { NCOMMON = sizeof(common_places) / sizeof(*common_places), NSAMPLE = sizeof(sample_places) / sizeof(*sample_places) };
enum { NDEFAULT = 3 };   /* ip, addr, period: without `fields`, the common columns have the rest */

static bool value_at(const struct stream_event *event, const struct place *p, struct value *v)
{
	uint8_t at = *((const uint8_t *)&event->layout + p->member);

	if (!at && p->part == PERF_SAMPLE_PERIOD && event->each > 1) {
		*v = (struct value){ p->name, p->type, { .kind = READ_EACH }, 0 };
		return true;
	}
	*v = (struct value){ p->name, p->type, { (uint8_t)p->kind, (uint16_t)(at + p->behind), 0, NULL }, p->part };
	return at;
}

/* The ip of a precise event is where it happened, unlike the beginning of its call chain. */
static bool value_stack(const struct stream_event *event, struct value *v)
{
	uint64_t part = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (event->sampling ? PERF_SAMPLE_IP : 0);

	*v = (struct value){ "_stack", COLUMN_S32, { .kind = READ_STACK }, part };
	return event->stacks && event->layout.callchain;
}

static bool value_common(const struct stream_event *event, const char *name, struct value *v)
{
	static const struct value fixed[] = {
		{ "_cpu", COLUMN_S32, { .kind = READ_CPU }, 0 },
		{ "_comm", COLUMN_TEXT, { .kind = READ_COMM }, PERF_SAMPLE_TID | PERF_SAMPLE_TIME },
		{ "_event", COLUMN_TEXT, { .kind = READ_EVENT }, 0 },
	};

	if (!strcmp(name, "_stack"))
		return value_stack(event, v);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (!strcmp(fixed[i].name, name)) {
			*v = fixed[i];
			return true;
		}
	for (size_t i = 0; i < NCOMMON; i++)
		if (!strcmp(common_places[i].name, name) && value_at(event, &common_places[i], v))
			return true;
	*v = (struct value){ "_period", COLUMN_U64, { .kind = READ_EACH }, 0 };
	return !strcmp(name, "_period");
}

static void value_of_field(const struct trace_field *field, struct value *v)
{
	static const enum column_type types[2][9] = {
		{ [1] = COLUMN_U8, [2] = COLUMN_U16, [4] = COLUMN_U32, [8] = COLUMN_U64 },
		{ [1] = COLUMN_S8, [2] = COLUMN_S16, [4] = COLUMN_S32, [8] = COLUMN_S64 },
	};
	static const uint8_t kinds[9] = { [1] = READ_RAW_8, [2] = READ_RAW_16, [4] = READ_RAW_32, [8] = READ_RAW_64 };
	bool number = field->kind <= FIELD_SINT, text = trace_field_is_text(field);

	*v = (struct value){
		field->name,
		number ? types[field->kind == FIELD_SINT][field->size] : text ? COLUMN_TEXT : COLUMN_BYTES,
		{ number ? kinds[field->size] : text ? READ_TEXT : READ_BYTES, field->offset, 0, field },
		PERF_SAMPLE_RAW,
	};
}

/* The field of that name, as filters know it: the event's own, a common_ field, or a part. */
static bool value_named(const struct stream_event *event, const char *name, struct value *v)
{
	const struct tracefmt *fmt = event->fmt;

	for (size_t i = 0; fmt && i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, name)) {
			value_of_field(&fmt->fields[i], v);
			return true;
		}
	for (size_t i = 0; !fmt && i < NSAMPLE; i++)
		if (!strcmp(sample_places[i].name, name) && value_at(event, &sample_places[i], v))
			return true;
	return *name == '_' && value_common(event, name, v);
}

/* The i-th of the event's own values. False: there are no more. */
static bool value_own(const struct stream_event *event, size_t i, struct value *v)
{
	const struct tracefmt *fmt = event->fmt;

	v->name = NULL;
	if (fmt && fmt->ncommon + i < fmt->nfields)
		value_of_field(&fmt->fields[fmt->ncommon + i], v);
	else if (fmt || i >= NDEFAULT)
		return false;
	else if (!value_at(event, &sample_places[i], v))
		v->name = NULL;
	return true;
}

/* ---- columns ----------------------------------------------------------------------- */

struct making {
	struct plans *p;
	const struct stream *stream;
	struct stream_event *events;
	struct fault *f;
};

static ssize_t no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

/* The column of that name and type; -1 with f. */
static ssize_t column_add(struct making *m, const char *event, const char *name, enum column_type type)
{
	struct columns *c = m->p->columns;
	char *full;
	ssize_t at;

	if (asprintf(&full, "%s%s%s", event ? event : "", event ? "." : "", name) < 0)
		return no_memory(m->f);
	at = columns_find(c, full);
	if (at >= 0 || !ROOM_FOR_ONE(c->v, c->n)) {
		free(full);
		return at >= 0 ? at : no_memory(m->f);
	}
	c->v[c->n] = (struct column){ full, type };
	return (ssize_t)c->n++;
}

static bool has_reader(const struct row_plan *plan, size_t column)
{
	for (size_t i = 0; i < plan->nreaders; i++)
		if (plan->readers[i].column == column)
			return true;
	return false;
}

static int reader_add(struct making *m, size_t e, const struct value *v, ssize_t column)
{
	struct row_plan *plan = &m->p->v[e];
	struct stream_event *event = &m->events[e];

	if (column < 0)
		return -1;
	if (has_reader(plan, (size_t)column))
		return 0;
	if (!ROOM_FOR_ONE(plan->readers, plan->nreaders))
		return (int)no_memory(m->f);
	plan->by_rows |= v->reader.kind == READ_STACK;
	plan->readers[plan->nreaders] = v->reader;
	plan->readers[plan->nreaders++].column = (uint32_t)column;
	event->reads |= v->part;
	if (v->reader.kind == READ_COMM)
		event->naming->needed = true;
	return 0;
}

/* Whether all wanted events that have the field have it with one type. *has: whether any has it. */
static bool is_alike(const struct making *m, const char *name, bool *has)
{
	struct value first = { 0 }, v;
	bool alike = true;

	*has = false;
	for (size_t e = 0; e < m->p->n; e++) {
		if (!m->events[e].wanted || !value_named(&m->events[e], name, &v))
			continue;
		alike &= !*has || v.type == first.type;
		first = *has ? first : v;
		*has = true;
	}
	return alike;
}

static int add_named(struct making *m, const char *name, bool *has)
{
	bool alike = is_alike(m, name, has);
	struct value v;

	for (size_t e = 0; e < m->p->n; e++)
		if (m->events[e].wanted && value_named(&m->events[e], name, &v) &&
		    reader_add(m, e, &v, column_add(m, alike ? NULL : m->events[e].name, name, v.type)))
			return -1;
	return 0;
}

/* "sched:sched_switch.prio": the field of that event. */
static bool value_of_event(const struct stream_event *event, const char *name, struct value *v)
{
	size_t len = strlen(event->name);

	return !strncmp(name, event->name, len) && name[len] == '.' && value_named(event, name + len + 1, v);
}

static int add_of_event(struct making *m, const char *name, bool *has)
{
	struct value v;

	for (size_t e = 0; e < m->p->n; e++) {
		if (!m->events[e].wanted || !value_of_event(&m->events[e], name, &v))
			continue;
		*has = true;
		if (reader_add(m, e, &v, column_add(m, m->events[e].name, v.name, v.type)))
			return -1;
	}
	return 0;
}

static void offer_all(const struct making *m, struct nearest *n, char *buf, size_t size)
{
	size_t used = 0;
	struct value v;

	buf[0] = '\0';
	for (size_t e = 0; e < m->p->n; e++)
		for (size_t i = 0; m->events[e].wanted && value_own(&m->events[e], i, &v); i++) {
			if (!v.name)
				continue;
			nearest_offer(n, v.name);
			if (used < size)
				used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", v.name);
		}
}

static int unknown(const struct making *m, const char *name)
{
	char all[1024];
	struct nearest n;
	const char *near;

	if (!strcmp(name, "_stack"))
		return fault_usage(m->f, "_stack: none of the events has call chains");
	nearest_begin(&n, name);
	for (size_t i = 0; i < NCOMMON; i++)
		nearest_offer(&n, common_places[i].name);
	nearest_offer(&n, "_cpu");
	nearest_offer(&n, "_comm");
	offer_all(m, &n, all, sizeof(all));
	near = nearest_get(&n);
	return fault_usage(m->f, "fields: none of the events has a field %s%s%s%s; they have: %s", name,
			   near ? "; did you mean " : "", near ? near : "", near ? "?" : "", *all ? all : "none");
}

static bool is_realtime(const char *name)
{
	const char *own = strrchr(name, '.');

	return !strcmp(own ? own + 1 : name, "_realtime");
}

static int add_asked(struct making *m, const char *name)
{
	bool has;

	if (!strcmp(name, "_lost"))
		return 0;
	if (is_realtime(name) && !stream_has_realtime(m->stream))
		return fault_usage(m->f, "fields: there is no _realtime, as the recording does not say how its clock relates to the time of day: "
				   "use _time");
	if (add_named(m, name, &has) || (!has && add_of_event(m, name, &has)))
		return -1;
	return has ? 0 : unknown(m, name);
}

static int add_all(struct making *m)
{
	struct value v;
	bool has;

	for (size_t e = 0; e < m->p->n; e++)
		for (size_t i = 0; m->events[e].wanted && value_own(&m->events[e], i, &v); i++)
			if (v.name && add_named(m, v.name, &has))
				return -1;
	return 0;
}

static const char *const common[] = { "_time", "_cpu", "_pid", "_tid", "_comm", "_event" };
enum { COMMON = sizeof(common) / sizeof(*common) };

static bool is_asked(const char *const *fields, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(fields[i], name))
			return true;
	return false;
}

static int add_common(struct making *m, const char *const *fields, size_t n)
{
	bool some = false, has;

	for (size_t i = 0; i < COMMON; i++)
		some |= is_asked(fields, n, common[i]);
	for (size_t i = 0; i < COMMON; i++)
		if ((!some || !strcmp(common[i], "_event") || is_asked(fields, n, common[i])) &&
		    add_named(m, common[i], &has))
			return -1;
	return column_add(m, NULL, "_lost", COLUMN_U64) < 0 ? -1 : 0;
}

/* ---- rows --------------------------------------------------------------------------- */

static int find_missing(struct plans *p, struct row_plan *plan)
{
	plan->missing = calloc(p->columns->n, sizeof(*plan->missing));
	if (!plan->missing)
		return -1;
	for (size_t c = 0; c < p->columns->n; c++)
		if (!has_reader(plan, c) && (ssize_t)c != p->lost)
			plan->missing[plan->nmissing++] = (uint32_t)c;
	return 0;
}

/* Nearly always, times are shown as samples have them. */
static void settle_times(struct row_plan *plan, const struct stream *s)
{
	for (size_t i = 0; i < plan->nreaders && !stream_time_differs(s); i++)
		if (plan->readers[i].kind == READ_TIME)
			plan->readers[i].kind = READ_RECORD_64;
}

static int finish(struct plans *p, const struct stream *s, struct fault *f)
{
	p->lost = columns_find(p->columns, "_lost");
	for (size_t e = 0; e < p->n; e++) {
		settle_times(&p->v[e], s);
		if (find_missing(p, &p->v[e]))
			return (int)no_memory(f);
	}
	p->time = columns_find(p->columns, "_time");
	p->realtime = columns_find(p->columns, "_realtime");
	p->cpu = columns_find(p->columns, "_cpu");
	p->event = columns_find(p->columns, "_event");
	p->stack = columns_find(p->columns, "_stack");
	return find_missing(p, &p->loss) ? (int)no_memory(f) : 0;
}

static bool any_has_stacks(const struct making *m)
{
	for (size_t e = 0; e < m->p->n; e++)
		if (m->events[e].wanted && m->events[e].stacks == STACKS_ALWAYS)
			return true;
	return false;
}

static int name_events(struct making *m)
{
	size_t n = 0;

	m->p->events = calloc(m->p->n + 1, sizeof(*m->p->events));
	for (size_t e = 0; m->p->events && e < m->p->n; e++)
		if (m->events[e].wanted && !(m->p->events[n++] = strdup(m->events[e].name)))
			return (int)no_memory(m->f);
	return m->p->events ? 0 : (int)no_memory(m->f);
}

int plans_make(struct plans *p, struct stream *s, const char *const *fields, size_t nfields, struct fault *f)
{
	struct making m = { .p = p, .stream = s, .f = f };

	*p = (struct plans){ 0 };
	m.events = stream_events(s, &p->n);
	p->columns = calloc(1, sizeof(*p->columns));
	p->v = calloc(p->n + 1, sizeof(*p->v));
	if (!p->columns || !p->v)
		return (int)no_memory(f);
	p->columns->refs = 1;
	for (size_t e = 0; e < p->n; e++) {
		p->v[e].event = &m.events[e];
		p->v[e].name = strdup(m.events[e].name);
		p->v[e].word = strdup(m.events[e].word);
		if (!p->v[e].name || !p->v[e].word)
			return (int)no_memory(f);
		p->v[e].number = (int32_t)(LOSS_NAMES + e);
		m.events[e].consumer = &p->v[e];
	}
	if (name_events(&m) || add_common(&m, fields, nfields) || (any_has_stacks(&m) && add_asked(&m, "_stack")))
		return -1;
	for (size_t i = 0; fields && i < nfields; i++)
		if (add_asked(&m, fields[i]))
			return -1;
	return (!fields && add_all(&m)) || finish(p, s, f) ? -1 : 0;
}

bool plans_know(struct stream *s, const char *name)
{
	struct value v;
	size_t n;
	const struct stream_event *events = stream_events(s, &n);

	for (size_t e = 0; e < n; e++)
		if (events[e].wanted && (value_named(&events[e], name, &v) || value_of_event(&events[e], name, &v)))
			return true;
	return !strcmp(name, "_lost");
}

void plans_free(struct plans *p)
{
	for (size_t e = 0; p->v && e < p->n; e++) {
		free(p->v[e].name);
		free(p->v[e].word);
		free(p->v[e].readers);
		free(p->v[e].missing);
	}
	free(p->v);
	for (size_t e = 0; p->events && p->events[e]; e++)
		free(p->events[e]);
	free(p->events);
	free(p->loss.missing);
	columns_release(p->columns);
	*p = (struct plans){ 0 };
}
