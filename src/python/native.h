/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension module perf_prof._native, for the interpreter that imports it: an environment's own, or the embedded
 * one. All that it keeps belongs to the module object (struct native), so several interpreters of a process can have it.
 * The Python part of the package is in python/perf_prof.
 */
#ifndef PYTHON_NATIVE_H
#define PYTHON_NATIVE_H

#include "base/command.h"
#include "python/hostmodule.h"

struct native {
	struct hostmodule host;   /* first: hostmodule_fill() */
	PyTypeObject *session, *aggregate, *stream;   /* references */
};

static inline struct native *native_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* sql.c: run() of `perf-prof sql` and `perf-prof convert --to parquet` inside their Python. */
int sql_ask(void *config, const struct opt_parser *args, struct fault *f);
int parquet_ask(void *config, const struct opt_parser *args, struct fault *f);
#endif
