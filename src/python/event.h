/* SPDX-License-Identifier: Apache-2.0 */
/* perf_prof.PerfEvent: an event object of a script. */
#ifndef PYTHON_EVENT_H
#define PYTHON_EVENT_H

#include "python/fields.h"
#include "stream/stream.h"
#include "tasks/comms.h"

struct batch_function;
struct row_plan;
struct field_reader;

/* One event of the stream as Python sees it: a reader for each field. */
struct event_class {
	struct fields names;    /* first: see fields.h */
	const struct stream_event *event;
	struct host *host;
	PyObject *name;        /* str: sys:name or sys:alias */
	bool rest;             /* __sample__() gets it */
	PyObject *handler;     /* called for each event; or NULL */
	vectorcallfunc call;   /* the handler's vectorcall, or PyObject_Vectorcall; NULL without a handler */
	struct batch_function *batches;   /* instead of a handler: the function that takes the events as rows; or NULL */
	const struct row_plan *plan;      /* how they become rows */
	struct field_reader *readers;   /* in the order of keys(), followed by second names */
	size_t nreaders;       /* without second names */
	size_t nnames;         /* with second names */
	PyObject *all;         /* list of the names of the readers, with second names */
};

/* Makes the readers. If `type` has a method of the same name, attribute access finds the method. 0, or -1
 * with a Python exception. */
int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type, bool rest);

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
