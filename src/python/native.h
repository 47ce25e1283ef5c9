/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules of Python: perf_prof, which the program has built in, and the extension module perf_prof._native for the interpreter
 * that imports it, with sessions. Either has the types of events, frames and batches, so that scripts can be run in its
 * interpreter. All that a module keeps belongs to the module object, so several interpreters of a process can have it.
 * The Python part of the package is in python/perf_prof.
 */
#ifndef PYTHON_NATIVE_H
#define PYTHON_NATIVE_H

#include "base/command.h"
#include "python/batch.h"

struct host;

/* The state of a module. */
struct native {
	struct host *host;   /* NULL before host_start() */
	struct batch_types batches;
	PyTypeObject *session, *aggregate, *stream;   /* references; NULL in the program */
};

static inline struct native *native_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* For the module's Py_mod_exec: adds PerfEvent, Frame, Batch with its parts, concat() and _restore(). 0, or -1 with an exception. */
int hostmodule_fill(PyObject *module);
/* The host whose events can be unpickled, which gets the types of batches. `package` is perf_prof as scripts import it. 0, or
 * -1 with an exception. */
int hostmodule_set_host(PyObject *package, struct host *h);
/* For the definition of a module. */
int hostmodule_traverse(PyObject *module, visitproc visit, void *arg);
int hostmodule_clear(PyObject *module);
void hostmodule_free(void *module);

/* sql.c: run() of `perf-prof sql` and `perf-prof convert --to parquet` inside their Python. */
int sql_ask(void *config, const struct opt_parser *args, struct fault *f);
int parquet_ask(void *config, const struct opt_parser *args, struct fault *f);
#endif
