/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Python module needs so that scripts can be run in its interpreter: the types of events, frames and batches. The
 * program has it as the built-in module perf_prof, pip installs it as perf_prof._native (native.h).
 */
#ifndef PYTHON_HOSTMODULE_H
#define PYTHON_HOSTMODULE_H

#include "python/types.h"

struct host;

/* A module that has the types begins its state with this. */
struct hostmodule {
	struct host *host;   /* NULL before host_start() */
	struct batch_types batches;
};

/* For the module's Py_mod_exec: adds PerfEvent, Frame, Batch with its parts, concat() and _restore(). 0, or -1 with an exception. */
int hostmodule_fill(PyObject *module);
/* The host whose events can be unpickled, which gets the types of batches. `package` is perf_prof as scripts import it. 0, or
 * -1 with an exception. */
int hostmodule_set_host(PyObject *package, struct host *h);
#endif
