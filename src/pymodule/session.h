/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, batches, columns and rows as Python's objects. */
#ifndef PYMODULE_SESSION_H
#define PYMODULE_SESSION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/fault.h"
#include "columns/export.h"
#include "pymodule/module.h"
#include "session/session.h"

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *o)
{
	Py_INCREF(o);
	return o;
}
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0   /* type_add() does it */
#define Py_TPFLAGS_IMMUTABLETYPE 0
#define Py_TPFLAGS_SEQUENCE 0
#endif

/* What the batches of a session share: their columns' names. */
struct names {
	PyObject *names;         /* tuple of interned str */
	PyObject *index;         /* dict: name -> index */
};

/* The names of these columns. 0, or -1 with an exception. */
int names_make(struct names *names, const struct columns *columns);

struct session_object {
	PyObject_HEAD
	struct native *native;
	struct session *session; /* NULL: never began */
	struct names names;
	bool streamed;           /* __arrow_c_stream__() was called */
};

/* Rows `from` to `from + n` of a batch. */
struct batch_object {
	PyObject_HEAD
	struct native *native;
	struct batch *batch;
	size_t from, n;
	struct names names;
};

struct column_object {
	PyObject_HEAD
	struct batch *batch;
	size_t column, from, n;
	PyObject *name;
	Py_ssize_t shape;        /* n, as the buffer protocol needs it */
};

/* Makes a type of the module, and adds it by that name, if it has one. Only of a
 * type with Py_TPFLAGS_BASETYPE can programs make objects. NULL with an exception. */
PyTypeObject *type_add(PyObject *module, PyType_Spec *spec, const char *name);
/* Each adds types to the module. 0, or -1 with an exception. */
int session_type_add(PyObject *module);
int batch_type_add(PyObject *module);
int column_type_add(PyObject *module);
int row_type_add(PyObject *module);

/* Takes over the reference to the batch, also if it fails. */
PyObject *batch_object_new(struct native *native, struct batch *batch, size_t from, size_t n, const struct names *names);
/* lists.c: _batch(NAMES, TYPES, LISTS) makes a batch of lists of values. */
PyObject *batch_of_lists(PyObject *module, PyObject *args);
PyObject *column_object_new(struct native *native, struct batch *batch, size_t column, size_t from, size_t n, PyObject *name);
/* An iterator over rows. */
PyObject *row_iterator_new(struct batch_object *batch);
/* The row `row` of a batch, counted from its first. */
PyObject *row_object_new(struct batch_object *batch, size_t row);
/* The value as a Python object: int, str, bytes or None. */
PyObject *value_object(const struct batch *b, size_t column, size_t row);

/* faults.c: raises what the fault says. Returns NULL. */
PyObject *fault_raise(const struct fault *f);

/* capsule.c: capsules of the Arrow PyCapsule interface. NULL with an exception. */
PyObject *capsule_schema(const struct columns *columns, ssize_t column);   /* -1: all of them */
PyObject *capsule_array(struct batch *b, ssize_t column, size_t from, size_t n);
PyObject *capsule_stream(struct session *s);

/* Waits until session_next() may have something else than SESSION_WAIT. 0, or -1: a signal's handler raised, and the
 * exception is set. Call it with the GIL. */
int session_wait(struct session *s);

#endif
