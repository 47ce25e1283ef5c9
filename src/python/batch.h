/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches, their columns and rows as Python's objects: perf_prof.Batch, perf_prof.Column and perf_prof.Event. Sessions make
 * them, and scripts of `perf-prof python` get them.
 */
#ifndef PYTHON_BATCH_H
#define PYTHON_BATCH_H

#include "columns/export.h"
#include "python/fields.h"

#include <stdlib.h>

/* The types of one module, in its state. Their objects keep the module, and so this, alive. */
struct batch_types {
	PyTypeObject *batch, *column, *row, *iterator;   /* references */
};

/* For the module's Py_mod_exec: makes the types and adds those that have names. 0, or -1 with an exception. */
int batch_types_add(PyObject *module, struct batch_types *types);
/* For its m_traverse and m_clear. */
int batch_types_visit(struct batch_types *types, visitproc visit, void *arg);
void batch_types_clear(struct batch_types *types);

/* The rows of several batches as one. NULL with an exception. */
PyObject *batches_concat(const struct batch_types *types, PyObject *batches);

/* A name from a recording, which may not be UTF-8: such bytes are \xNN, as in texts. */
PyObject *column_name_text(const char *name);
/* The names of columns, which rows and batches share. 0, or -1 with an exception; fields_release() always. */
int fields_of_columns(struct fields *names, const struct columns *columns);

/* Rows `from` to `from + n` of a batch. */
struct batch_object {
	PyObject_HEAD
	const struct batch_types *types;
	struct batch *batch;
	size_t from, n;
	struct fields names;
};

struct column_object {
	PyObject_HEAD
	struct batch *batch;
	size_t column, from, n;
	PyObject *name;
	Py_ssize_t shape;        /* n, as the buffer protocol needs it */
};

/* Takes over the reference to the batch, also if it fails. */
PyObject *batch_object_new(const struct batch_types *types, struct batch *batch, size_t from, size_t n,
			   const struct fields *names);

/* ---- within the room, and for types of modules ---- */

/* Each adds types to the module. 0, or -1 with an exception. */
int column_type_add(PyObject *module, struct batch_types *types);

PyObject *column_object_new(const struct batch_types *types, struct batch *batch, size_t column, size_t from, size_t n,
			    PyObject *name);
/* The value as a Python object: int, str, bytes or None. */
PyObject *value_object(const struct batch *b, size_t column, size_t row);

/*
 * Arrow structures in capsules, as Arrow's PyCapsule interface wants them. A consumer that imports a
 * structure moves it out and sets release to NULL; of one that does not, the capsule's end releases it.
 */
/* Defines enclose_NAME(it): a capsule that owns it, which came from malloc(); or NULL with an exception. */
#define CAPSULE(type, name)                                                                        \
	static void free_##name(PyObject *capsule)                                                   \
	{                                                                                            \
		struct type *it = PyCapsule_GetPointer(capsule, #name);                              \
                                                                                                   \
		if (it && it->release)                                                               \
			it->release(it);                                                             \
		free(it);                                                                            \
	}                                                                                            \
                                                                                                   \
	static PyObject *enclose_##name(struct type *it)                                             \
	{                                                                                            \
		PyObject *capsule = PyCapsule_New(it, #name, free_##name);                           \
                                                                                                   \
		if (!capsule && it->release)                                                         \
			it->release(it);                                                             \
		if (!capsule)                                                                        \
			free(it);                                                                    \
		return capsule;                                                                      \
	}

/* Capsules of the Arrow PyCapsule interface. NULL with an exception. */
PyObject *capsule_schema(const struct columns *columns, ssize_t column);   /* -1: all of them */
/* __arrow_c_array__() of a column or of a batch. */
PyObject *arrow_array(struct batch *b, ssize_t column, size_t from, size_t n, PyObject *args, PyObject *kwargs);
/* The rows that a slice takes of so many. 0, or -1 with an exception about a `what`. */
int slice_rows(PyObject *key, size_t rows, const char *what, size_t *from, size_t *n);
const char *column_type_name(enum column_type type);
#endif
