/* SPDX-License-Identifier: Apache-2.0 */
/* event.print(): one line in perf-prof's layout, the call chain below. */
#include "script/host.h"

#include "base/escape.h"
#include "script/sampletext.h"

#include <inttypes.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

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

static size_t timestamp_text(struct host *h, uint64_t time, char *buf, size_t size)
{
	int64_t ns = host_realtime(h, time);
	time_t sec = (time_t)(ns / (int64_t)SECOND);
	struct tm tm;
	size_t n;

	localtime_r(&sec, &tm);
	n = strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm);
	return n + (size_t)snprintf(buf + n, size - n, ".%06d ",
				    (int)(ns % (int64_t)SECOND / 1000));
}

static unsigned int common(const struct perf_event *e, const char *name)
{
	const struct tracefmt *fmt = e->cls->event->fmt;

	for (size_t i = 0; i < fmt->ncommon; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return (unsigned int)trace_field_uint(&fmt->fields[i], e->raw);
	return 0;
}

/* The flags of a tracepoint's entry, and a blank. */
static size_t entry_flags_text(const struct perf_event *e, char *buf, size_t size)
{
	char flags[5];

	if (!e->cls->event->fmt)
		return 0;
	flags_text(common(e, "common_flags"), common(e, "common_preempt_count"), flags);
	return (size_t)snprintf(buf, size, "%s ", flags);
}

static size_t fields_text(struct perf_event *e, char *buf, size_t size)
{
	const struct stream_event *event = e->cls->event;
	const char *fields;
	size_t n;

	if (event->sampling)
		return sample_text(e, buf, size);
	n = (size_t)snprintf(buf, size, "%s: ", event->name);
	fields = tracefmt_print(stream_formats(e->cls->host->stream), event->fmt, e->raw, e->raw_size,
				(int)e->cpu);
	if (n < size - 1)
		n += escape_terminal(fields, strlen(fields), buf + n, size - n);
	return n;
}

static size_t line_text(struct perf_event *e, bool timestamp, char *buf, size_t size)
{
	struct host *h = e->cls->host;
	uint32_t tid = layout_u32(e->rec, e->cls->event->layout.tid + 4);
	uint64_t time = event_time(e), shown = stream_time(h->stream, time);
	const char *name = host_comm(h, (pid_t)tid, time);
	size_t n = timestamp ? timestamp_text(h, time, buf, size) : 0;
	char comm[64];

	escape_terminal(name, strlen(name), comm, sizeof(comm));
	n += (size_t)snprintf(buf + n, size - n, "%16s %6u ", comm, tid);
	n += entry_flags_text(e, buf + n, size - n);
	n += (size_t)snprintf(buf + n, size - n, "[%03u] %" PRIu64 ".%06" PRIu64 ": ", e->cpu,
			      shown / SECOND, shown % SECOND / 1000);
	n += fields_text(e, buf + n, size - n - 1);
	buf[n++] = '\n';
	if (e->cls->event->sampling)
		n += sample_registers_text(e, buf + n, size - n);
	return n;
}

static PyObject *write_out(const char *text, size_t n)
{
	PyObject *out = PySys_GetObject("stdout"), *str, *rc;

	if (!out || out == Py_None)
		Py_RETURN_NONE;
	str = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
	if (!str)
		return NULL;
	rc = PyObject_CallMethod(out, "write", "O", str);
	Py_DECREF(str);
	return rc;
}

static PyObject *print_frames(struct perf_event *e)
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
		rc = write_out(line, (size_t)n);
		if (!rc)
			Py_CLEAR(frames);
		Py_XDECREF(rc);
	}
	return frames;
}

PyObject *event_print(struct perf_event *e, bool timestamp, bool callchain)
{
	char buf[8192];
	PyObject *rc = write_out(buf, line_text(e, timestamp, buf, sizeof(buf)));

	if (!rc)
		return NULL;
	Py_DECREF(rc);
	if (callchain && e->cls->event->layout.callchain) {
		rc = print_frames(e);
		if (!rc)
			return NULL;
		Py_DECREF(rc);
	}
	Py_RETURN_NONE;
}
