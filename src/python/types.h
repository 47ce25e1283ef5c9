/* SPDX-License-Identifier: Apache-2.0 */
/* The types of this room, which a module of Python has: perf_prof in the program, perf_prof._native elsewhere. */
#ifndef PYTHON_TYPES_H
#define PYTHON_TYPES_H

#include "python/python.h"

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
#endif
