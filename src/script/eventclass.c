/* SPDX-License-Identifier: Apache-2.0 */
#include "script/eventclass.h"

#include <stddef.h>

static int add_reader(struct event_class *cls, const char *name, enum reader_kind kind,
		      uint16_t offset, const struct trace_field *field)
{
	struct reader *r = &cls->readers[cls->nreaders];

	r->name = PyUnicode_InternFromString(name);
	r->kind = kind;
	r->offset = offset;
	r->field = field;
	if (!r->name)
		return -1;
	cls->nreaders++;
	return 0;
}

static enum reader_kind number_kind(const struct trace_field *f)
{
	bool is_signed = f->kind == FIELD_SINT;

	switch (f->size) {
	case 1:
		return is_signed ? READ_S8 : READ_U8;
	case 2:
		return is_signed ? READ_S16 : READ_U16;
	case 4:
		return is_signed ? READ_S32 : READ_U32;
	default:
		return is_signed ? READ_S64 : READ_U64;
	}
}

static enum reader_kind kind_of(const struct trace_field *f)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		return number_kind(f);
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return READ_STR;
	default:
		return READ_BYTES;
	}
}

static int add_trace_fields(struct event_class *cls, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct trace_field *f = &cls->event->fmt->fields[i];

		if (add_reader(cls, f->name, kind_of(f), f->offset, f))
			return -1;
	}
	return 0;
}

/* The documented order: the sample's own, the common_* of the trace entry, the
 * computed ones, the event's fields. */
static int add_readers(struct event_class *cls)
{
	const struct layout *l = &cls->event->layout;
	const struct tracefmt *fmt = cls->event->fmt;

	if (add_reader(cls, "_pid", READ_REC_U32, l->tid, NULL) ||
	    add_reader(cls, "_tid", READ_REC_U32, l->tid + 4, NULL) ||
	    add_reader(cls, "_time", READ_REC_U64, l->time, NULL) ||
	    add_reader(cls, "_cpu", READ_CPU, 0, NULL) ||
	    add_reader(cls, "_period", READ_REC_U64, l->period, NULL) ||
	    add_trace_fields(cls, 0, fmt->ncommon) ||
	    add_reader(cls, "_realtime", READ_REALTIME, 0, NULL))
		return -1;
	if (l->callchain && add_reader(cls, "_callchain", READ_CALLCHAIN, 0, NULL))
		return -1;
	if (add_reader(cls, "_event", READ_EVENT, 0, NULL))
		return -1;
	return add_trace_fields(cls, fmt->ncommon, fmt->nfields);
}

static void add_slot(struct event_class *cls, const struct reader *r)
{
	size_t i = ((uintptr_t)r->name >> 4) & cls->slot_mask;

	while (cls->slots[i].name)
		i = (i + 1) & cls->slot_mask;
	cls->slots[i] = (struct reader_slot){ r->name, r };
}

/* A field that is named like a method is reached by [] only: the methods are the
 * interface that scripts rely on. */
static int is_method(PyTypeObject *type, PyObject *name)
{
	return PyObject_HasAttr((PyObject *)type, name);
}

static int build_index(struct event_class *cls, PyTypeObject *type)
{
	size_t slots = 16;

	while (slots < 4 * cls->nreaders)
		slots *= 2;
	cls->slots = PyMem_Calloc(slots, sizeof(*cls->slots));
	cls->slot_mask = slots - 1;
	cls->by_name = PyDict_New();
	cls->template = PyDict_New();
	if (!cls->slots || !cls->by_name || !cls->template)
		return -1;
	for (size_t i = 0; i < cls->nreaders; i++) {
		PyObject *name = cls->readers[i].name, *index = PyLong_FromSize_t(i);

		if (!is_method(type, name))
			add_slot(cls, &cls->readers[i]);
		if (!index || PyDict_SetItem(cls->by_name, name, index) ||
		    PyDict_SetItem(cls->template, name, Py_None)) {
			Py_XDECREF(index);
			return -1;
		}
		Py_DECREF(index);
	}
	return 0;
}

int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type)
{
	memset(cls, 0, sizeof(*cls));
	cls->event = event;
	cls->host = host;
	cls->name = PyUnicode_FromString(event->name);
	cls->readers = PyMem_Calloc(event->fmt->nfields + 8, sizeof(*cls->readers));
	if (!cls->name || !cls->readers) {
		PyErr_NoMemory();
		return -1;
	}
	return add_readers(cls) || build_index(cls, type) ? -1 : 0;
}

void event_class_clear(struct event_class *cls)
{
	for (size_t i = 0; i < cls->nreaders; i++)
		Py_CLEAR(cls->readers[i].name);
	PyMem_Free(cls->readers);
	PyMem_Free(cls->slots);
	Py_CLEAR(cls->name);
	Py_CLEAR(cls->handler);
	Py_CLEAR(cls->by_name);
	Py_CLEAR(cls->template);
	memset(cls, 0, sizeof(*cls));
}

const struct reader *event_class_find_equal(const struct event_class *cls, PyObject *name)
{
	PyObject *index = PyDict_GetItemWithError(cls->by_name, name);

	if (!index) {
		PyErr_Clear();   /* an unhashable name is no field either */
		return NULL;
	}
	return &cls->readers[PyLong_AsSize_t(index)];
}
