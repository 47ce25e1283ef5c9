/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as Python's objects. */
#ifndef PYMODULE_SESSION_H
#define PYMODULE_SESSION_H

#include "base/fault.h"
#include "pybatch/pybatch.h"
#include "pymodule/module.h"
#include "session/session.h"

struct session_object {
	PyObject_HEAD
	struct native *native;
	struct session *session; /* NULL: never began */
	struct column_names names;
	bool streamed;           /* __arrow_c_stream__() was called */
};

/* Adds the type to the module. 0, or -1 with an exception. */
int session_type_add(PyObject *module);

/* Raises that a fork of the session's process has no session. Returns NULL. */
PyObject *session_forked(void);

/* stacks.c: methods of sessions. The number of stacks; the numbers of the frames of one; the frames from one number on, as
 * perf_prof.Frame; the tables of stacks and frames. */
PyObject *session_stack_count(PyObject *self, PyObject *unused);
PyObject *session_stack(PyObject *self, PyObject *number);
PyObject *session_stack_frames(PyObject *self, PyObject *from);
PyObject *session_stack_tables(PyObject *self, PyObject *unused);

/* faults.c: raises what the fault says. Returns NULL. */
PyObject *fault_raise(const struct fault *f);

/* capsule.c: a capsule of the Arrow PyCapsule interface. NULL with an exception. */
PyObject *capsule_stream(struct session *s);

/* Waits until session_next() may have something else than SESSION_WAIT. 0, or -1: a signal's handler raised, and the
 * exception is set. Call it with the GIL. */
int session_wait(struct session *s);

#endif
