/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_vectorcall - the least that a Python function per event can cost.
 *
 * Walks records of 72 bytes in memory, header by header, and calls a Python function for
 * each by vectorcall, with one object that is reused: what lies above these numbers is
 * ours, what lies below no program could save. "dict" calls a function that asks for a dict of
 * the twelve keys that to_dict() has for such an event: a copy of a template, its values replaced.
 * Prints "NAME NS" per row: ns of CPU time per record, the median of the rounds.
 *
 *   floor_vectorcall [ROUNDS]
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORDS = 400000, RECORD = 72, MAX_ROUNDS = 64 };

struct view {
	PyObject_HEAD
	const unsigned char *record;
};

/* Where the fields of such a sample lie: TID, TIME, CPU, then the raw data's. */
enum kind { KIND_U32, KIND_U64, KIND_S32 };
static struct field {
	const char *text;
	uint32_t offset;
	enum kind kind;
	PyObject *name;   /* interned */
} fields[] = {
	{ "pid", 16, KIND_U32, NULL }, { "tid", 20, KIND_U32, NULL },
	{ "time", 24, KIND_U64, NULL }, { "cpu", 32, KIND_U32, NULL },
	{ "common_pid", 56, KIND_S32, NULL }, { "nr", 60, KIND_S32, NULL },
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static PyObject *read_field(const struct field *f, const unsigned char *p)
{
	uint64_t u64;
	uint32_t u32;

	if (f->kind == KIND_U64) {
		memcpy(&u64, p + f->offset, sizeof(u64));
		return PyLong_FromUnsignedLongLong(u64);
	}
	memcpy(&u32, p + f->offset, sizeof(u32));
	return f->kind == KIND_S32 ? PyLong_FromLong((int32_t)u32) : PyLong_FromUnsignedLong(u32);
}

/* The quickest look-up there is: names in code are interned, so pointers compare. */
static PyObject *get_attribute(PyObject *self, PyObject *name)
{
	for (const struct field *f = fields; f < fields + FIELDS; f++)
		if (f->name == name)
			return read_field(f, ((struct view *)self)->record);
	return PyObject_GenericGetAttr(self, name);
}

/* What a dict has besides fields[]: they lie in the record, or are the same for each. */
static struct field others[] = {
	{ "type", 52, KIND_S32, NULL }, { "flags", 54, KIND_S32, NULL },
	{ "preempt_count", 64, KIND_S32, NULL }, { "period", 40, KIND_U64, NULL },
	{ "realtime", 24, KIND_U64, NULL },
};
enum { OTHERS = sizeof(others) / sizeof(*others) };

static PyObject *template;   /* with all the keys, and one value that stays: the name of the event */

static int set_values(PyObject *dict, const struct field *f, const struct field *end,
		      const unsigned char *record)
{
	for (; f < end; f++) {
		PyObject *value = read_field(f, record);
		int rc = value ? PyDict_SetItem(dict, f->name, value) : -1;

		Py_XDECREF(value);
		if (rc)
			return -1;
	}
	return 0;
}

static PyObject *to_dict(PyObject *self, PyObject *unused)
{
	const unsigned char *record = ((struct view *)self)->record;
	PyObject *dict = PyDict_Copy(template);

	(void)unused;
	if (dict && (set_values(dict, fields, fields + FIELDS, record) ||
		     set_values(dict, others, others + OTHERS, record)))
		Py_CLEAR(dict);
	return dict;
}

static PyMethodDef methods[] = { { "to_dict", to_dict, METH_NOARGS, NULL }, { 0 } };
static PyType_Slot slots[] = {
	{ Py_tp_getattro, get_attribute }, { Py_tp_methods, methods }, { 0, NULL }
};
static PyType_Spec spec = { "floor.View", sizeof(struct view), 0, Py_TPFLAGS_DEFAULT, slots };

static const char script[] =
	"count = 0\n"
	"total = 0\n"
	"def empty(e): pass\n"
	"def count_(e):\n"
	"    global count\n"
	"    count += 1\n"
	"def one(e):\n"
	"    global count, total\n"
	"    count += 1\n"
	"    total += e.common_pid\n"
	"def six(e):\n"
	"    global count\n"
	"    count += 1\n"
	"    x = (e.pid, e.tid, e.time, e.cpu, e.common_pid, e.nr)\n"
	"def dict_(e): e.to_dict()\n";

static const char *const rows[] = { "empty", "count_", "one", "six", "dict_" };
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static unsigned char *records;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void fill(void)
{
	records = calloc(RECORDS, RECORD);
	if (!records)
		exit(1);
	for (size_t i = 0; i < RECORDS; i++) {
		unsigned char *r = records + i * RECORD;
		uint32_t pid = 54321, cpu = 1, nr = 110, type = 9, raw_type = 305;
		uint64_t now = 1234567890123 + i * 700, period = 1;
		uint16_t size = RECORD;

		memcpy(r, &type, sizeof(type));
		memcpy(r + 6, &size, sizeof(size));
		memcpy(r + 16, &pid, sizeof(pid));
		memcpy(r + 20, &pid, sizeof(pid));
		memcpy(r + 24, &now, sizeof(now));
		memcpy(r + 32, &cpu, sizeof(cpu));
		memcpy(r + 40, &period, sizeof(period));
		memcpy(r + 52, &raw_type, sizeof(raw_type));
		memcpy(r + 56, &pid, sizeof(pid));
		memcpy(r + 60, &nr, sizeof(nr));
	}
}

static void make_names(void)
{
	template = PyDict_New();
	PyDict_SetItemString(template, "event", PyUnicode_InternFromString("syscalls:sys_enter_getppid"));
	for (struct field *f = fields; f < fields + FIELDS; f++)
		f->name = PyUnicode_InternFromString(f->text);
	for (struct field *f = others; f < others + OTHERS; f++)
		f->name = PyUnicode_InternFromString(f->text);
	for (struct field *f = fields; f < fields + FIELDS; f++)
		PyDict_SetItem(template, f->name, Py_None);
	for (struct field *f = others; f < others + OTHERS; f++)
		PyDict_SetItem(template, f->name, Py_None);
}

static double measure(PyObject *function, struct view *view)
{
	uint64_t begin = cpu_ns();

	for (const unsigned char *r = records; r < records + RECORDS * RECORD;) {
		PyObject *args[2] = { NULL, (PyObject *)view }, *rc;
		uint32_t type;
		uint16_t size;

		/* whoever calls a function per record has to find the records */
		memcpy(&type, r, sizeof(type));
		memcpy(&size, r + 6, sizeof(size));
		view->record = r;
		r += size;
		if (type != 9)
			continue;
		rc = PyObject_Vectorcall(function, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
		if (!rc) {
			PyErr_Print();
			exit(1);
		}
		Py_DECREF(rc);
	}
	return (double)(cpu_ns() - begin) / RECORDS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 7;
	static double ns[ROWS][MAX_ROUNDS];
	PyObject *names, *type;
	struct view *view;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 7;
	fill();
	Py_InitializeEx(0);
	make_names();
	names = PyDict_New();
	PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
	type = PyType_FromSpec(&spec);
	if (!type || !PyRun_String(script, Py_file_input, names, names)) {
		PyErr_Print();
		return 1;
	}
	view = (struct view *)PyType_GenericAlloc((PyTypeObject *)type, 0);
	for (int i = 0; i < rounds; i++)
		for (int row = 0; row < ROWS; row++)
			ns[row][i] = measure(PyDict_GetItemString(names, rows[row]), view);
	for (int row = 0; row < ROWS; row++) {
		qsort(ns[row], (size_t)rounds, sizeof(double), by_value);
		printf("%.*s %.2f\n", (int)strcspn(rows[row], "_"), rows[row], ns[row][rounds / 2]);
	}
	free(records);
	return 0;
}
