/* SPDX-License-Identifier: Apache-2.0 */
/* perf_prof.PerfEvent: an event object of a script. */
#ifndef PYTHON_EVENT_H
#define PYTHON_EVENT_H

#include "python/fields.h"
#include "stream/stream.h"
#include "tasks/comms.h"

struct batch_function;
struct row_plan;

enum reader_kind {
	READ_REC_U32,          /* at an offset in the record */
	READ_REC_U64,
	READ_EACH,             /* the period where samples have none */
	READ_CPU,
	READ_TIME,             /* at an offset in the record, converted for --tsc and the like */
	READ_REALTIME,
	READ_CALLCHAIN,
	READ_COUNTS,           /* increments of the group's counters */
	READ_EVENT,
	READ_COMM,             /* the name that the task had then */
	READ_U8, READ_U16, READ_U32, READ_U64,   /* at an offset in the raw data */
	READ_S8, READ_S16, READ_S32, READ_S64,
	READ_STR,              /* through trace_field_data() */
	READ_BYTES,
	READ_PART,             /* a part of a sample without a fixed place: offset is its row in parts.h */
};

struct reader {
	uint16_t kind;         /* enum reader_kind */
	uint16_t offset;
	/* The number read last. Values such as pids and CPUs repeat, and making an int costs more than
	 * comparing. Times are not kept. */
	uint32_t last;
	PyObject *last_int;
	const struct trace_field *field;   /* NULL for names that begin with _ */
};

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
	struct reader *readers;   /* in the order of keys(), followed by second names */
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
