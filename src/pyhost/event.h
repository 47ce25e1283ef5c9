/* SPDX-License-Identifier: Apache-2.0 */
/* perf_prof.PerfEvent: one event in a script's hands. */
#ifndef PYHOST_EVENT_H
#define PYHOST_EVENT_H

#include "pyhost/eventclass.h"
#include "tasks/comms.h"

/*
 * While its handler runs, an event borrows the record where it lies. If the script kept
 * a reference, event_keep() gives it a copy of its own and the next event gets a new
 * object; else the same object serves again.
 */
struct perf_event {
	PyObject_HEAD
	struct event_class *cls;
	const struct perf_event_header *rec;
	const void *raw;
	uint32_t raw_size;
	uint32_t cpu;
	bool owned;            /* rec is ours to free */
	char comm[COMMS_NAME];         /* of a kept event: what its task was called then; or empty */
	PyObject *counts;      /* dict of a kept event, or NULL */
	PyObject *chain;       /* list of frames, of a kept event with a user's part; or NULL */
	PyObject *weakrefs;
};

/* Adds the type to a module; returns it (owned by the module's state too). */
PyTypeObject *event_type_new(PyObject *module);
struct perf_event *event_new(PyTypeObject *type);
/* Makes `e` own its record. 0, or -1 with an exception (it then is an empty event). */
int event_keep(struct perf_event *e);
/* dict: name -> count; None: it has none. A new reference. */
PyObject *event_counts(const struct perf_event *e);

/* pickle.c: __reduce__(). */
PyObject *event_reduce(PyObject *self, PyObject *unused);
/* print.c: event.print() and its text. */
PyObject *event_print(struct perf_event *e, bool timestamp, bool callchain);

static inline uint64_t event_time(const struct perf_event *e)
{
	return layout_u64(e->rec, e->cls->event->layout.time);
}

/* Whether the script holds a reference that outlives the handler. */
static inline bool event_is_kept(const struct perf_event *e)
{
	return Py_REFCNT((PyObject *)e) != 1 || e->weakrefs;
}
#endif
