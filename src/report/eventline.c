/* SPDX-License-Identifier: Apache-2.0 */
#include "report/eventline.h"

#include "base/escape.h"
#include "base/room.h"
#include "stream/rings/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

enum {
	/* Time, names and numbers around the text of an event. */
	AROUND = 1024,
	/* An event other than a tracepoint, with registers. */
	SAMPLE_TEXT = 8192,
};

struct eventline {
	struct names *names;
	char *line;
	size_t size;
	time_t second;           /* the second for which `day` is */
	char day[32];
	size_t day_len;
};

struct eventline *eventline_new(struct names *names)
{
	struct eventline *p = calloc(1, sizeof(*p));

	if (p)
		p->names = names;
	return p;
}

void eventline_free(struct eventline *p)
{
	if (p)
		free(p->line);
	free(p);
}

/* Flags of the trace entry (include/linux/trace_events.h): irqs off, need-resched, in an
 * interrupt, preemption depth. */
static void flags_text(unsigned int flags, unsigned int preempt, char text[5])
{
	bool hard = flags & TRACE_HARDIRQ, soft = flags & TRACE_SOFTIRQ, nmi = flags & TRACE_NMI;

	text[0] = flags & 0x01 ? 'd' : flags & 0x80 ? 'b' : '.';
	text[1] = flags & 0x04 ? (flags & 0x20 ? 'N' : 'n') : flags & 0x20 ? 'p' : '.';
	text[2] = nmi && hard ? 'Z' : nmi ? 'z' : hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.';
	text[3] = preempt & 0x0f ? "0123456789abcdef"[preempt & 0x0f] : '.';
	text[4] = '\0';
}

/* ---- parts ---------------------------------------------------------------------- */

static char *put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

/* In at least `width` columns. */
static char *put_number(char *at, uint64_t n, unsigned int width, char pad)
{
	char digits[24], *end = digits + sizeof(digits), *first = end;

	do
		*--first = (char)('0' + n % 10);
	while (n /= 10);
	for (unsigned int len = (unsigned int)(end - first); len < width; len++)
		*at++ = pad;
	return put(at, first, (size_t)(end - first));
}

/* The local time changes once a second; computing it takes a microsecond. */
static char *put_timestamp(struct eventline *p, char *at, int64_t ns)
{
	int64_t second = ns / SECOND - (ns % SECOND < 0);

	if (p->second != second || !p->day_len) {
		struct tm tm;

		p->second = (time_t)second;
		localtime_r(&p->second, &tm);
		p->day_len = strftime(p->day, sizeof(p->day), "%Y-%m-%d %H:%M:%S.", &tm);
	}
	at = put(at, p->day, p->day_len);
	at = put_number(at, (uint64_t)(ns - second * SECOND) / 1000, 6, '0');
	*at++ = ' ';
	return at;
}

static char *put_comm(char *at, const char *name)
{
	char comm[64];
	size_t n = escape_terminal(name, strlen(name), comm, sizeof(comm));

	for (size_t i = n; i < 16; i++)
		*at++ = ' ';
	return put(at, comm, n);
}

/* `usual`: its index in all kernels so far. */
static unsigned int common(const struct sample_view *s, const char *name, size_t usual)
{
	const struct tracefmt *fmt = s->event->fmt;
	const struct trace_field *f = fmt->fields;

	if (usual < fmt->ncommon && !strcmp(f[usual].name, name))
		return (unsigned int)trace_field_uint(&f[usual], s->raw);
	for (size_t i = 0; i < fmt->ncommon; i++)
		if (!strcmp(f[i].name, name))
			return (unsigned int)trace_field_uint(&f[i], s->raw);
	return 0;
}

/* The flags of a tracepoint's entry, and a space. */
static char *put_entry_flags(const struct sample_view *s, char *at)
{
	if (!s->event->fmt)
		return at;
	flags_text(common(s, "common_flags", 1), common(s, "common_preempt_count", 2), at);
	at[4] = ' ';
	return at + 5;
}

static char *put_head(struct eventline *p, const struct sample_view *s, const char *comm,
		      bool timestamp, char *at)
{
	struct stream *stream = p->names->stream;
	uint64_t time = sample_time(s), shown = stream_time(stream, time);
	pid_t tid;

	/* a recorded time may be any number: this wraps */
	if (timestamp && stream_has_realtime(stream))
		at = put_timestamp(p, at, (int64_t)(time + (uint64_t)stream_realtime_offset(stream)));
	at = put_comm(at, comm);
	*at++ = ' ';
	tid = stream_tid(s->event, s->rec, s->raw);
	if (!pidmap_has_number(tid))
		at = put(at, "     -", 6);
	else if (tid < 0)
		at = put(at, "    -1", 6);
	else
		at = put_number(at, (uint32_t)pidmap_shown(tid), 6, ' ');
	*at++ = ' ';
	at = put_entry_flags(s, at);
	*at++ = '[';
	if (s->cpu == UINT32_MAX)   /* a recording may have no CPU */
		at = put(at, " -1", 3);
	else
		at = put_number(at, s->cpu, 3, '0');
	at = put(at, "] ", 2);
	at = put_number(at, shown / (uint64_t)SECOND, 1, ' ');
	*at++ = '.';
	at = put_number(at, shown % (uint64_t)SECOND / 1000, 6, '0');
	return put(at, ": ", 2);
}

/* ---- lines ---------------------------------------------------------------------- */

/* " {instructions=5012, page-faults=0}": increments of the group's other counters. */
static char *put_counts(const struct sample_view *s, char *at, const char *end)
{
	const char *between = " {";

	for (size_t i = 0; s->counts && i < s->counts->n; i++) {
		const struct stream_count *c = &s->counts->v[i];

		if (c->event == s->event)
			continue;
		at = put(at, between, 2);
		at += escape_terminal(c->name, strlen(c->name), at, (size_t)(end - at) - 24);
		at += snprintf(at, 24, "=%" PRIu64, c->delta);
		between = ", ";
	}
	if (*between == ',')
		*at++ = '}';
	return at;
}

/* Room for names (each byte as \xNN) and numbers. */
static size_t counts_room(const struct sample_view *s)
{
	size_t n = 0;

	for (size_t i = 0; s->counts && i < s->counts->n; i++)
		n += 4 * strlen(s->counts->v[i].name) + 32;
	return n;
}

/* "sys:name: text" for a tracepoint. */
static size_t tracepoint_line(struct eventline *p, const struct sample_view *s, const char *comm,
			      bool timestamp)
{
	const struct stream_event *event = s->event;
	size_t len, name_len = strlen(event->name);
	const char *text = tracefmt_print(stream_formats(p->names->stream), event->fmt, s->raw,
					  s->raw_size, &len);
	char *at;

	if (!ROOM_FOR(p->line, p->size, 0, AROUND + name_len + 4 * len + counts_room(s)))   /* \xNN */
		return 0;
	at = put_head(p, s, comm, timestamp, p->line);
	at = put(at, event->name, name_len);
	at = put(at, ": ", 2);
	at += escape_terminal(text, len, at, (size_t)(p->line + p->size - at) - 1);
	at = put_counts(s, at, p->line + p->size);
	*at++ = '\n';
	return (size_t)(at - p->line);
}

static size_t sample_line(struct eventline *p, const struct sample_view *s, const char *comm,
			  bool timestamp)
{
	char *at, *end;

	if (!ROOM_FOR(p->line, p->size, 0, AROUND + SAMPLE_TEXT + counts_room(s)))
		return 0;
	end = p->line + p->size;
	at = put_head(p, s, comm, timestamp, p->line);
	at += sample_text(p->names, s, at, (size_t)(end - at) - 1);
	at = put_counts(s, at, end);
	*at++ = '\n';
	at += sample_registers_text(s, at, (size_t)(end - at));
	return (size_t)(at - p->line);
}

const char *eventline_text(struct eventline *p, const struct sample_view *s, const char *comm,
			   bool timestamp, size_t *len)
{
	*len = (s->event->sampling ? sample_line : tracepoint_line)(p, s, comm, timestamp);
	return *len ? p->line : NULL;
}
