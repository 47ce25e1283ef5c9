/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Python knows of one event of the stream: its fields as compiled readers, found
 * by the address of the interned name.
 *
 * `event.prio` reaches us with the interned string "prio": its address is hashed into a
 * table without collisions (the multiplier was searched for), so a hit is one pointer
 * compare. A name that was built at run time is another object with the same text: it
 * misses, and is then looked up by equality.
 */
#ifndef PYHOST_EVENTCLASS_H
#define PYHOST_EVENTCLASS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stream/stream.h"

enum reader_kind {
	READ_REC_U32,          /* at offset of the record */
	READ_REC_U64,
	READ_ONE,              /* 1 */
	READ_CPU,
	READ_TIME,             /* at offset of the record, shown as --tsc and the like say */
	READ_REALTIME,
	READ_CALLCHAIN,
	READ_COUNTS,           /* what its group's counters went on by */
	READ_EVENT,
	READ_U8, READ_U16, READ_U32, READ_U64,   /* at offset of the raw data */
	READ_S8, READ_S16, READ_S32, READ_S64,
	READ_STR,              /* through trace_field_data() */
	READ_BYTES,
	READ_PART,             /* of a sample, at no fixed place: offset is its row in parts.h */
};

struct reader {
	PyObject *name;        /* interned; NULL: a free slot */
	uint16_t kind;         /* enum reader_kind */
	uint16_t offset;
	/* The number read last: pids, CPUs and the like come again and again, and making
	 * an int costs more than comparing. Times are not kept. */
	uint32_t last;
	PyObject *last_int;
	const struct trace_field *field;   /* NULL for the underscored ones */
};

struct event_class {
	const struct stream_event *event;
	struct host *host;
	PyObject *name;        /* str: sys:name or sys:alias */
	PyObject *handler;     /* what is called; NULL = nothing handles the event */
	vectorcallfunc call;   /* its vectorcall, or PyObject_Vectorcall */
	struct reader *readers;   /* in the order of keys(); behind them second names */
	size_t nreaders;       /* of keys() */
	size_t nnames;         /* with the second names */
	struct reader *slots;  /* copies of the readers, by hash of the name's address */
	uint64_t slot_factor;
	unsigned int slot_shift;
	PyObject *by_name;     /* dict: name -> index, for names built at run time */
	PyObject *template;    /* dict of all names, copied by to_dict() */
};

/* Compiles the readers. Names that `type` has as methods stay methods. 0, or -1 with a
 * Python exception. */
int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type);

static inline struct reader *event_class_find(const struct event_class *cls, PyObject *name)
{
	struct reader *r =
		&cls->slots[(uintptr_t)name * cls->slot_factor >> cls->slot_shift];

	return r->name == name ? r : NULL;
}

/* By equality; NULL without an exception if there is no such field. */
struct reader *event_class_find_equal(const struct event_class *cls, PyObject *name);
#endif
