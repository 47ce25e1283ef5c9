/* SPDX-License-Identifier: Apache-2.0 */
/* perf_prof.PerfEvent: an event object of a script. */
#ifndef PYHOST_EVENT_H
#define PYHOST_EVENT_H

#include "pyhost/eventclass.h"
#include "tasks/comms.h"

/*
 * While a handler runs, the event points to the record in the ring. If the script keeps a
 * reference, event_keep() copies the record and the next event gets a new object. Otherwise the
 * object is used again.
 */
struct perf_event {
	PyObject_HEAD
	struct event_class *cls;
	const struct perf_event_header *rec;
	const void *raw;
	uint32_t raw_size;
	uint32_t cpu;
	bool owned;            /* rec was allocated for this object */
	char comm[COMMS_NAME];         /* kept events: the task's name at the time of the event, or empty */
	PyObject *counts;      /* kept events: dict of counts, or NULL */
	PyObject *chain;       /* kept events with user addresses: list of frames, or NULL */
	PyObject *weakrefs;
};

/* Adds the type to a module. Returns a new reference. */
PyTypeObject *event_type_new(PyObject *module);
struct perf_event *event_new(PyTypeObject *type);
/* Copies the record into the event. 0, or -1 with an exception. */
int event_keep(struct perf_event *e);
/* dict of name -> count, or None: a new reference. */
PyObject *event_counts(const struct perf_event *e);

/* pickle.c: __reduce__() */
PyObject *event_reduce(PyObject *self, PyObject *unused);
/* print.c: event.print() */
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
