/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script's functions that are called by name: found, and judged before anything is
 * opened. A handler that could never work is told at once, not event by event.
 */
#ifndef PYHOST_HANDLERS_H
#define PYHOST_HANDLERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/fault.h"
#include "stream/stream.h"

#include <stdbool.h>

/* The function `name` of a script, which is called with least to most arguments as
 * `usage` shows. *out: a new reference, or NULL if the script has none. *takes (may be
 * NULL): how many of `most` arguments it takes. 0, or -1 with f for one that can't work. */
int handlers_find(PyObject *namespace, const char *name, int least, int most, const char *usage,
		  PyObject **out, int *takes, struct fault *f);
/* The same for an event's own handler. */
int handlers_find_event(PyObject *namespace, const struct stream_event *event, PyObject **out,
			struct fault *f);

/* No event of the run has a handler. With functions of other names that we call, the run
 * goes on with a warning; without any, -1 with f. */
int handlers_none(PyObject *namespace, const struct stream_event *events, size_t n, struct fault *f);
/* Tells of the function that was most likely meant for an event without a handler of its
 * own. `off`: nothing handles the event. */
void handlers_tell_near(PyObject *namespace, const struct stream_event *events, size_t n,
			const struct stream_event *event, bool off, int verbose);
/* Tells of functions that are called like ours but for a slip of the pen. */
void handlers_tell_slips(PyObject *namespace, int verbose);
#endif
