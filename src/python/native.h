/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension module perf_prof._native, for the interpreter that imports it: an environment's own, or the embedded
 * one. All that it keeps belongs to the module object (struct native), so several interpreters of a process can have it.
 * The Python part of the package is in python/perf_prof.
 */
#ifndef PYTHON_NATIVE_H
#define PYTHON_NATIVE_H

#include "python/hostmodule.h"

struct native {
	struct hostmodule host;   /* first: hostmodule_fill() */
	PyTypeObject *session, *aggregate, *stream;   /* references */
};

static inline struct native *native_of(PyObject *module)
{
	return PyModule_GetState(module);
}
#endif
