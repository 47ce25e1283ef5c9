/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of the stream as Python sees it: a reader for each field, found by the address of the
 * interned name.
 *
 * For `event.prio` the interpreter passes the interned string "prio". Its address is hashed into a
 * table without collisions (see build_slots()), so a hit is one comparison of pointers. A name that
 * was built at run time is another object with the same text: it misses the table and is looked up
 * by equality.
 */
#ifndef PYHOST_EVENTCLASS_H
#define PYHOST_EVENTCLASS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stream/stream.h"

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
	PyObject *name;        /* interned; NULL: a free slot */
	uint16_t kind;         /* enum reader_kind */
	uint16_t offset;
	/* The number read last. Values such as pids and CPUs repeat, and making an int costs more than
	 * comparing. Times are not kept. */
	uint32_t last;
	PyObject *last_int;
	const struct trace_field *field;   /* NULL for names that begin with _ */
};

struct event_class {
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
	struct reader *slots;  /* copies of the readers, by hash of the name's address */
	uint64_t slot_factor;
	unsigned int slot_shift;
	PyObject *by_name;     /* dict: name -> index, for names built at run time */
	PyObject *template;    /* dict of all names, copied by to_dict() */
};

/* Makes the readers. If `type` has a method of the same name, attribute access finds the method. 0, or -1
 * with a Python exception. */
int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type, bool rest);

static inline struct reader *event_class_find(const struct event_class *cls, PyObject *name)
{
	struct reader *r =
		&cls->slots[(uintptr_t)name * cls->slot_factor >> cls->slot_shift];

	return r->name == name ? r : NULL;
}

/* Looks up by equality. NULL, without an exception, if there is no such field. */
struct reader *event_class_find_equal(const struct event_class *cls, PyObject *name);
#endif
