/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the script's functions that are called by name, and checks them before anything is opened:
 * a handler that cannot work is an error at once, not once per event.
 */
#ifndef PYHOST_HANDLERS_H
#define PYHOST_HANDLERS_H

#include "base/fault.h"
#include "pybatch/python.h"
#include "stream/stream.h"

#include <stdbool.h>

/* Finds the script's function `name`, which is called with `least` to `most` arguments, as `usage` shows.
 * *out: a new reference, or NULL if the script has none. *takes (may be NULL): the number of arguments it
 * takes, `most` at most. 0, or -1 with f if it cannot work. */
int handlers_find(PyObject *namespace, const char *name, int least, int most, const char *usage,
		  PyObject **out, int *takes, struct fault *f);
/* The same for the handler of an event. */
int handlers_find_event(PyObject *namespace, const struct stream_event *event, PyObject **out,
			struct fault *f);

/* Functions for events that have none of their own. */
#define HANDLERS_REST "__sample__"
#define HANDLERS_BATCH_REST "__batch__"
/* The name of the function that takes batches of the event: its word and "__batch". */
void handlers_batch_name(const struct stream_event *event, char *buf, size_t size);

/* For a run without any handler of an event. 0 with a warning if the script has other callbacks, else -1
 * with f. */
int handlers_none(PyObject *namespace, const struct stream_event *events, size_t n, struct fault *f);
/* Suggests the function that was probably meant for an event without its own handler. rest: the name of the
 * function that handles it instead; NULL: none does. */
void handlers_tell_near(PyObject *namespace, const struct stream_event *events, size_t n,
			const struct stream_event *event, const char *rest, int verbose);
/* Suggests callbacks for functions whose names are almost theirs. */
void handlers_tell_slips(PyObject *namespace);
/* Functions that perf script calls, and this does not. */
void handlers_tell_perf(PyObject *namespace);
#endif
