/* SPDX-License-Identifier: Apache-2.0 */
/* The C half of Session.stacks; python/perf_prof/stacks.py has the other. */
#include "python/session.h"

#include "python/frames.h"
#include "session/stacktable.h"

#include <stdlib.h>
#include <string.h>

/* SLICE: ms after which a wait looks for signals. PATIENCE: after so many, names that are still missing stay so for now; when the
 * run has ended, all come. */
enum { SLICE = 50, PATIENCE = 100, SECOND = 20 };

/* NULL with an exception. */
static struct stacktable *table_of(PyObject *self)
{
	struct session *s = ((struct session_object *)self)->session;

	if (!s)
		PyErr_SetString(PyExc_ValueError, "the session has not begun");
	else if (session_is_forked(s))
		return (struct stacktable *)session_forked();
	else if (!session_stacktable(s))
		PyErr_SetString(PyExc_ValueError, "the session has no call stacks; callchains=True samples them");
	else
		return session_stacktable(s);
	return NULL;
}

/* That names take long. */
static int tell(PyObject *self)
{
	PyObject *none = PyObject_CallMethod(self, "_tell_naming", NULL);

	Py_XDECREF(none);
	return none ? 0 : -1;
}

/* Asks for names, and waits for them if patient. 0, or -1: a signal's handler raised. */
static int wait_for(PyObject *self, size_t stack, bool patient)
{
	struct session *s = ((struct session_object *)self)->session;

	if (!patient)
		session_wait_for_stack(s, stack, 0);
	for (int i = 0; patient && (i < PATIENCE || stacktable_is_ending(session_stacktable(s))); i++) {
		bool there;

		Py_BEGIN_ALLOW_THREADS
		there = session_wait_for_stack(s, stack, SLICE);
		Py_END_ALLOW_THREADS
		if (there)
			break;
		if (PyErr_CheckSignals() || (i == SECOND && stacktable_is_ending(session_stacktable(s)) && tell(self)))
			return -1;
	}
	return 0;
}

PyObject *session_stack_count(PyObject *self, PyObject *unused)
{
	struct stacktable *t = table_of(self);

	return t ? PyLong_FromSize_t(stacktable_count(t)) : NULL;
}

static PyObject *tuple_of(const int32_t *numbers, ssize_t n)
{
	PyObject *tuple = PyTuple_New(n);

	for (ssize_t i = 0; tuple && i < n; i++) {
		PyObject *one = PyLong_FromLong(numbers[i]);

		if (one)
			PyTuple_SET_ITEM(tuple, i, one);
		else
			Py_CLEAR(tuple);
	}
	return tuple;
}

PyObject *session_stack_settled(PyObject *self, PyObject *patient)
{
	struct stacktable *t = table_of(self);

	return !t || wait_for(self, STACKS_ALL, patient == Py_True) ? NULL : PyLong_FromSize_t(stacktable_settled(t));
}

PyObject *session_stack(PyObject *self, PyObject *args)
{
	struct stacktable *t = table_of(self);
	int32_t *frames = NULL;
	Py_ssize_t stack;
	PyObject *tuple;
	int patient;
	ssize_t n;

	if (!t || !PyArg_ParseTuple(args, "np", &stack, &patient) || wait_for(self, (size_t)stack, patient))
		return NULL;
	n = stacktable_frames(t, (size_t)stack, &frames);
	tuple = n < 0 ? PyErr_NoMemory() : tuple_of(frames, n);
	free(frames);
	return tuple;
}

PyObject *session_stack_samples(PyObject *self, PyObject *number)
{
	struct stacktable *t = table_of(self);
	size_t stack = t ? PyLong_AsSize_t(number) : 0;

	return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(stacktable_samples(t, stack));
}

/* ---- frames ------------------------------------------------------------------------- */

/* As of `perf-prof python`: what has no name is 'Unknown', and flags are bool. */
static PyObject *frame_value(const struct batch *b, size_t column, size_t row)
{
	if (b->columns->v[column].type == COLUMN_U8)
		return PyBool_FromLong((long)batch_number(b, column, row));
	if (batch_is_null(b, column, row) && !strcmp(b->columns->v[column].name, "symbol"))
		return PyUnicode_FromString("Unknown");
	return value_object(b, column, row);
}

/* The first column is the frame's number. */
static PyObject *frame_of(PyTypeObject *type, const struct batch *b, size_t row)
{
	PyObject *frame = frame_new(type);

	for (size_t i = 1; frame && i < b->columns->n; i++) {
		PyObject *key = PyUnicode_InternFromString(b->columns->v[i].name), *value = frame_value(b, i, row);

		if (!key || !value || PyDict_SetItem(frame, key, value))
			Py_CLEAR(frame);
		Py_XDECREF(key);
		Py_XDECREF(value);
	}
	return frame;
}

static PyObject *frames_of(PyObject *type, const struct batch *b)
{
	PyObject *list = PyList_New(0);

	for (size_t row = 0; list && row < b->rows; row++) {
		PyObject *frame = frame_of((PyTypeObject *)type, b, row);

		if (!frame || PyList_Append(list, frame))
			Py_CLEAR(list);
		Py_XDECREF(frame);
	}
	return list;
}

PyObject *session_stack_frames(PyObject *self, PyObject *from)
{
	struct session_object *o = (struct session_object *)self;
	struct stacktable *t = table_of(self);
	size_t first = t ? PyLong_AsSize_t(from) : 0;
	PyObject *module, *type, *list = NULL;
	struct batch *b;

	if (PyErr_Occurred())
		return NULL;
	module = PyType_GetModule(o->native->session);
	type = module ? PyObject_GetAttrString(module, "Frame") : NULL;
	b = type ? stacktable_frames_batch(t, first) : NULL;
	if (type)
		list = b ? frames_of(type, b) : PyErr_NoMemory();
	batch_release(b);
	Py_XDECREF(type);
	return list;
}

/* ---- tables ------------------------------------------------------------------------- */

/* Takes over the batch. */
static PyObject *table_object(struct session_object *o, struct batch *b)
{
	struct fields names = { 0 };
	PyObject *table = NULL;

	if (!b)
		return PyErr_NoMemory();
	if (fields_of_columns(&names, b->columns))
		batch_release(b);
	else
		table = batch_object_new(&o->native->batches, b, 0, b->rows, &names);
	fields_release(&names);
	return table;
}

PyObject *session_stack_tables(PyObject *self, PyObject *patient)
{
	struct session_object *o = (struct session_object *)self;
	struct stacktable *t = table_of(self);
	PyObject *stacks, *frames;

	if (!t || wait_for(self, STACKS_ALL, patient == Py_True))
		return NULL;
	/* in this order: no frame of a stack is missing */
	stacks = table_object(o, stacktable_stacks_batch(t));
	frames = stacks ? table_object(o, stacktable_frames_batch(t, 0)) : NULL;
	if (frames)
		return Py_BuildValue("NN", stacks, frames);
	Py_XDECREF(stacks);
	return NULL;
}
