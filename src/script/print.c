/* SPDX-License-Identifier: Apache-2.0 */
/* event.print(): one line in perf-prof's layout, the call chain below. */
#include "script/host.h"

#include "base/escape.h"
#include "script/sampletext.h"

#include <time.h>

#define SECOND INT64_C(1000000000)

enum {
	/* Around the text of an event: time, names, numbers. */
	AROUND = 1024,
	/* Of one that is no tracepoint, registers included. */
	SAMPLE_TEXT = 8192,
};

/* What stays from one line to the next. */
struct printing {
	char *line;
	size_t size;
	time_t second;           /* whose time of day `day` has */
	char day[32];
	size_t day_len;
	PyObject *sys;           /* the dict of that module, borrowed */
	PyObject *stdout_name, *write_name;
};

/* Flags of the trace entry (include/linux/trace_events.h): irqs off, need-resched,
 * in an interrupt, preemption depth. */
static void flags_text(unsigned int flags, unsigned int preempt, char text[5])
{
	bool hard = flags & 0x08, soft = flags & 0x10, nmi = flags & 0x40;

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

/* The local time of day changes once a second; to find it takes a microsecond. */
static char *put_timestamp(struct printing *p, char *at, int64_t ns)
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

/* `usual` is its place in every kernel so far. */
static unsigned int common(const struct perf_event *e, const char *name, size_t usual)
{
	const struct tracefmt *fmt = e->cls->event->fmt;
	const struct trace_field *f = fmt->fields;

	if (usual < fmt->ncommon && !strcmp(f[usual].name, name))
		return (unsigned int)trace_field_uint(&f[usual], e->raw);
	for (size_t i = 0; i < fmt->ncommon; i++)
		if (!strcmp(f[i].name, name))
			return (unsigned int)trace_field_uint(&f[i], e->raw);
	return 0;
}

/* The flags of a tracepoint's entry, and a blank. */
static char *put_entry_flags(const struct perf_event *e, char *at)
{
	if (!e->cls->event->fmt)
		return at;
	flags_text(common(e, "common_flags", 1), common(e, "common_preempt_count", 2), at);
	at[4] = ' ';
	return at + 5;
}

static char *put_head(struct perf_event *e, struct printing *p, bool timestamp, char *at)
{
	struct host *h = e->cls->host;
	uint32_t tid = layout_u32(e->rec, e->cls->event->layout.tid + 4);
	uint64_t time = event_time(e), shown = stream_time(h->stream, time);

	if (timestamp)
		at = put_timestamp(p, at, host_realtime(h, time));
	at = put_comm(at, event_comm(e));
	*at++ = ' ';
	at = put_number(at, tid, 6, ' ');
	*at++ = ' ';
	at = put_entry_flags(e, at);
	*at++ = '[';
	if (e->cpu == UINT32_MAX)
		at = put(at, " -1", 3);
	else
		at = put_number(at, e->cpu, 3, '0');
	at = put(at, "] ", 2);
	at = put_number(at, shown / (uint64_t)SECOND, 1, ' ');
	*at++ = '.';
	at = put_number(at, shown % (uint64_t)SECOND / 1000, 6, '0');
	return put(at, ": ", 2);
}

/* ---- lines ---------------------------------------------------------------------- */

static bool has_room(struct printing *p, size_t need)
{
	char *bigger;

	if (p->size >= need)
		return true;
	bigger = realloc(p->line, need * 2);
	if (!bigger) {
		PyErr_NoMemory();
		return false;
	}
	p->line = bigger;
	p->size = need * 2;
	return true;
}

/* "sys:name: text" of a tracepoint. Its length in bytes, 0 with an exception. */
static size_t tracepoint_line(struct perf_event *e, struct printing *p, bool timestamp)
{
	const struct stream_event *event = e->cls->event;
	size_t len, name_len = strlen(event->name);
	const char *text = tracefmt_print(stream_formats(e->cls->host->stream), event->fmt, e->raw,
					  e->raw_size, &len);
	char *at;

	if (!has_room(p, AROUND + name_len + 4 * len))   /* \xNN */
		return 0;
	at = put_head(e, p, timestamp, p->line);
	at = put(at, event->name, name_len);
	at = put(at, ": ", 2);
	at += escape_terminal(text, len, at, (size_t)(p->line + p->size - at) - 1);
	*at++ = '\n';
	return (size_t)(at - p->line);
}

static size_t sample_line(struct perf_event *e, struct printing *p, bool timestamp)
{
	char *at, *end;

	if (!has_room(p, AROUND + SAMPLE_TEXT))
		return 0;
	end = p->line + p->size;
	at = put_head(e, p, timestamp, p->line);
	at += sample_text(e, at, (size_t)(end - at) - 1);
	*at++ = '\n';
	at += sample_registers_text(e, at, (size_t)(end - at));
	return (size_t)(at - p->line);
}

void print_close(struct host *h)
{
	struct printing *p = h->printing;

	if (!p)
		return;
	free(p->line);
	free(p);
	h->printing = NULL;
}

static struct printing *printing_of(struct host *h)
{
	struct printing *p = h->printing;
	PyObject *sys;

	if (p)
		return p;
	sys = PyImport_ImportModule("sys");   /* lives as long as the interpreter */
	p = sys ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		if (sys)
			PyErr_NoMemory();
		Py_XDECREF(sys);
		return NULL;
	}
	h->printing = p;
	p->sys = PyModule_GetDict(sys);
	Py_DECREF(sys);
	p->stdout_name = PyUnicode_InternFromString("stdout");
	p->write_name = PyUnicode_InternFromString("write");
	return p;
}

/* Through sys.stdout, in order with what the script itself prints. */
static PyObject *write_out(struct printing *p, const char *text, size_t n)
{
	PyObject *out = PyDict_GetItemWithError(p->sys, p->stdout_name), *str, *rc;

	if (!out && PyErr_Occurred())
		return NULL;
	if (!out || out == Py_None)
		Py_RETURN_NONE;
	str = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
	if (!str)
		return NULL;
	Py_INCREF(out);
	rc = PyObject_CallMethodOneArg(out, p->write_name, str);
	Py_DECREF(out);
	Py_DECREF(str);
	return rc;
}

static PyObject *print_frames(struct perf_event *e, struct printing *p)
{
	PyObject *frames = host_callchain(e->cls->host, e);

	for (Py_ssize_t i = 0; frames && i < PyList_GET_SIZE(frames); i++) {
		PyObject *f = PyList_GET_ITEM(frames, i), *rc;
		unsigned long long addr =
			PyLong_AsUnsignedLongLong(PyDict_GetItemString(f, "addr"));
		unsigned long long offset =
			PyLong_AsUnsignedLongLong(PyDict_GetItemString(f, "offset"));
		const char *symbol = PyUnicode_AsUTF8(PyDict_GetItemString(f, "symbol"));
		const char *dso = PyUnicode_AsUTF8(PyDict_GetItemString(f, "dso"));
		char line[1024], sym[512], file[384];
		int n;

		escape_terminal(symbol ? symbol : "?", strlen(symbol ? symbol : "?"), sym, sizeof(sym));
		escape_terminal(dso ? dso : "?", strlen(dso ? dso : "?"), file, sizeof(file));
		n = snprintf(line, sizeof(line), "    %016llx %s+0x%llx (%s)\n", addr, sym, offset,
			     file);
		rc = write_out(p, line, (size_t)n);
		if (!rc)
			Py_CLEAR(frames);
		Py_XDECREF(rc);
	}
	return frames;
}

PyObject *event_print(struct perf_event *e, bool timestamp, bool callchain)
{
	struct printing *p = printing_of(e->cls->host);
	PyObject *rc;
	size_t n;

	if (!p)
		return NULL;
	n = e->cls->event->sampling ? sample_line(e, p, timestamp) : tracepoint_line(e, p, timestamp);
	rc = n ? write_out(p, p->line, n) : NULL;
	if (!rc)
		return NULL;
	Py_DECREF(rc);
	if (callchain && e->cls->event->layout.callchain) {
		rc = print_frames(e, p);
		if (!rc)
			return NULL;
		Py_DECREF(rc);
	}
	Py_RETURN_NONE;
}
