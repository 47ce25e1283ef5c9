/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Python knows of one event of the stream: its fields as compiled readers, found
 * by the address of the interned name.
 *
 * `event.prio` reaches us with the interned string "prio": its address is hashed into
 * a table at most a quarter full, so a hit is one or two pointer compares. A name that
 * was built at run time is another object with the same text: it misses, and is then
 * looked up by equality.
 */
#ifndef SCRIPT_EVENTCLASS_H
#define SCRIPT_EVENTCLASS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stream/stream.h"

enum reader_kind {
	READ_REC_U32,          /* at offset of the record */
	READ_REC_U64,
	READ_CPU,
	READ_REALTIME,
	READ_CALLCHAIN,
	READ_EVENT,
	READ_U8, READ_U16, READ_U32, READ_U64,   /* at offset of the raw data */
	READ_S8, READ_S16, READ_S32, READ_S64,
	READ_STR,              /* through trace_field_data() */
	READ_BYTES,
};

struct reader {
	PyObject *name;        /* interned */
	enum reader_kind kind;
	uint16_t offset;
	const struct trace_field *field;   /* NULL for the underscored ones */
};

struct reader_slot {
	PyObject *name;
	const struct reader *reader;
};

struct event_class {
	const struct stream_event *event;
	struct host *host;
	PyObject *name;        /* str: sys:name or sys:alias */
	PyObject *handler;     /* what is called; NULL = nothing handles the event */
	struct reader *readers;   /* in the order of keys() */
	size_t nreaders;
	struct reader_slot *slots;
	size_t slot_mask;
	PyObject *by_name;     /* dict: name -> index, for names built at run time */
	PyObject *template;    /* dict of all names, copied by to_dict() */
};

/* Compiles the readers. `methods` are names that stay methods as attributes. 0, or -1
 * with a Python exception. */
int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type);
void event_class_clear(struct event_class *cls);

static inline const struct reader *event_class_find(const struct event_class *cls, PyObject *name)
{
	size_t i = ((uintptr_t)name >> 4) & cls->slot_mask;

	for (; cls->slots[i].name; i = (i + 1) & cls->slot_mask)
		if (cls->slots[i].name == name)
			return cls->slots[i].reader;
	return NULL;
}

/* By equality; NULL without an exception if there is no such field. */
const struct reader *event_class_find_equal(const struct event_class *cls, PyObject *name);
#endif
