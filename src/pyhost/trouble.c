/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/trouble.h"

#include "base/fault.h"
#include "base/now.h"

#include <frameobject.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static struct trouble_kind *kind_of(struct trouble *t, PyObject *type, const char *where)
{
	char name[sizeof(t->kinds[0].name)];
	struct trouble_kind *k;

	snprintf(name, sizeof(name), "%s in %s",
		 PyType_Check(type) ? ((PyTypeObject *)type)->tp_name : "exception", where);
	for (int i = 0; i < t->nkinds; i++)
		if (!strcmp(t->kinds[i].name, name))
			return &t->kinds[i];
	if (t->nkinds == TROUBLE_KINDS)
		return &t->kinds[TROUBLE_KINDS - 1];
	k = &t->kinds[t->nkinds++];
	snprintf(k->name, sizeof(k->name), "%s",
		 t->nkinds == TROUBLE_KINDS ? "other exceptions" : name);
	return k;
}

static void tell(struct trouble *t)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now - t->told_ns < SECOND)
		return;
	t->told_ns = now;
	for (int i = 0; i < t->nkinds; i++) {
		struct trouble_kind *k = &t->kinds[i];

		if (k->count != k->told)
			PySys_WriteStderr("perf-prof: %s: %" PRIu64 " more\n", k->name,
					  k->count - k->told);
		k->told = k->count;
	}
}

void trouble_take(struct trouble *t, const char *where)
{
	struct trouble_kind *k = kind_of(t, PyErr_Occurred(), where);

	k->count++;
	t->count++;
	if (k->count <= TROUBLE_FULL) {
		PyErr_Print();
		k->told = k->count;
		return;
	}
	PyErr_Clear();
	tell(t);
}

/* The innermost frame, such as "/home/me/script.py:12". */
static void place_of(PyObject *traceback, char *buf, size_t size)
{
	PyTracebackObject *tb = (PyTracebackObject *)traceback;
	PyCodeObject *code;
	const char *file;

	snprintf(buf, size, "an unknown place");
	if (!tb || !PyTraceBack_Check(traceback))
		return;
	while (tb->tb_next)
		tb = tb->tb_next;
	code = PyFrame_GetCode(tb->tb_frame);
	file = PyUnicode_AsUTF8(code->co_filename);
	if (file)
		snprintf(buf, size, "%s:%d", file, PyFrame_GetLineNumber(tb->tb_frame));
	PyErr_Clear();
	Py_DECREF(code);
}

void trouble_take_interrupt(const char *where)
{
	PyObject *type, *value, *traceback;
	char place[1024];

	PyErr_Fetch(&type, &value, &traceback);
	place_of(traceback, place, sizeof(place));
	PySys_FormatStderr("perf-prof: %s was interrupted at %s: it had not returned 500 ms after the stop\n",
			   where, place);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

void trouble_summary(const struct trouble *t)
{
	if (t->count <= 1)
		return;
	PySys_WriteStderr("perf-prof: the script raised %" PRIu64 " exceptions:\n", t->count);
	for (int i = 0; i < t->nkinds; i++)
		PySys_WriteStderr("  %10" PRIu64 "  %s\n", t->kinds[i].count, t->kinds[i].name);
}

int trouble_take_exit(void)
{
	PyObject *type, *value, *traceback, *code = NULL;
	int rc = EXIT_FAILED;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value)
		code = PyObject_GetAttrString(value, "code");
	if (!code || code == Py_None)
		rc = 0;
	else if (PyLong_Check(code))
		rc = (int)(PyLong_AsLong(code) & 0xff);
	else
		PySys_FormatStderr("%S\n", code);
	PyErr_Clear();
	Py_XDECREF(code);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	return rc;
}

static bool is_own_frame(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	bool own = file && (!strncmp(file, "<perf-prof ", 11) || !strncmp(file, "<frozen ", 8));

	PyErr_Clear();
	Py_DECREF(code);
	return own;
}

void trouble_strip_own_frames(void)
{
	PyObject *type, *value, *traceback;
	PyTracebackObject *tb;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	tb = (PyTracebackObject *)traceback;
	while (tb && is_own_frame(tb->tb_frame))
		tb = tb->tb_next;
	Py_XINCREF(tb);
	Py_XDECREF(traceback);
	if (value)
		PyException_SetTraceback(value, tb ? (PyObject *)tb : Py_None);
	PyErr_Restore(type, value, (PyObject *)tb);
}
