/* SPDX-License-Identifier: Apache-2.0 */
/* event.print(): a line in perf-prof's format, then the call chain. */
#include "python/host.h"

#include "base/escape.h"
#include "report/eventline.h"

#include <stdio.h>
#include <stdlib.h>

/* Kept from one line to the next. */
struct printing {
	struct eventline *line;
	PyObject *sys;           /* dict of the module sys, borrowed */
	PyObject *stdout_name, *write_name;
};

void print_close(struct host *h)
{
	struct printing *p = h->printing;

	if (!p)
		return;
	eventline_free(p->line);
	free(p);
	h->printing = NULL;
}

static struct printing *printing_of(struct host *h)
{
	struct printing *p = h->printing;
	PyObject *sys;

	if (p)
		return p;
	sys = PyImport_ImportModule("sys");   /* the interpreter keeps it */
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
	p->line = eventline_new(&h->names);
	p->stdout_name = PyUnicode_InternFromString("stdout");
	p->write_name = PyUnicode_InternFromString("write");
	return p;
}

/* Writes to sys.stdout, in order with the script's own output. */
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
	rc = PyObject_CallMethodObjArgs(out, p->write_name, str, NULL);
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
	struct sample_view view = { e->cls->event, e->rec, e->raw, e->raw_size, e->cpu, NULL };
	const char *line;
	PyObject *rc;
	size_t n;

	if (!p)
		return NULL;
	line = p->line ? eventline_text(p->line, &view, event_comm(e), timestamp, &n) : NULL;
	rc = line ? write_out(p, line, n) : PyErr_NoMemory();
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
