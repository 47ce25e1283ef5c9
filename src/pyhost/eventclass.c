/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/eventclass.h"

#include "events/parts.h"
#include "pyhost/host.h"

#include <stddef.h>

enum {
	MAX_PART_READERS = 48,   /* six fixed ones, the rows of parts.h, second names, _comm, _event */
	MAX_OWN_READERS = 15,    /* readers of a tracepoint besides those of its fields */
};

static int add_reader(struct event_class *cls, const char *name, enum reader_kind kind,
		      uint16_t offset, const struct trace_field *field)
{
	struct reader *r = &cls->readers[cls->nnames];

	r->name = PyUnicode_InternFromString(name);
	r->kind = (uint16_t)kind;
	r->offset = offset;
	r->field = field;
	if (!r->name)
		return -1;
	cls->nnames++;
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

/* The address of a probe. The kernel's name for it differs between entry and return, so it is also called
 * "ip", unless the user's arguments include that name. */
static int add_probe_address(struct event_class *cls)
{
	const struct tracefmt *fmt = cls->event->fmt;
	const struct trace_field *address = stream_probe_address(cls->event);

	for (size_t i = fmt->ncommon; address && i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, "ip"))
			return 0;
	return address ? add_reader(cls, "ip", kind_of(address), address->offset, address) : 0;
}

/* Parts that have the same place in all samples of an event. */
static const struct {
	uint64_t bit;
	size_t member;
	enum reader_kind kind;
} fixed[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct layout, identifier), READ_REC_U64 },
	{ PERF_SAMPLE_IP, offsetof(struct layout, ip), READ_REC_U64 },
	{ PERF_SAMPLE_TID, offsetof(struct layout, tid), READ_REC_U32 },
	{ PERF_SAMPLE_TIME, offsetof(struct layout, time), READ_REC_U64 },
	{ PERF_SAMPLE_ADDR, offsetof(struct layout, addr), READ_REC_U64 },
	{ PERF_SAMPLE_ID, offsetof(struct layout, id), READ_REC_U64 },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct layout, stream_id), READ_REC_U64 },
	{ PERF_SAMPLE_CPU, offsetof(struct layout, cpu), READ_REC_U32 },
	{ PERF_SAMPLE_PERIOD, offsetof(struct layout, period), READ_REC_U64 },
};

/* How and where a row of parts.h is read. */
static enum reader_kind part_kind(const struct event_class *cls, size_t row, uint16_t *offset)
{
	const struct sample_part *part = sample_part_at(row);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (fixed[i].bit != part->bits)
			continue;
		*offset = *((const uint8_t *)&cls->event->layout + fixed[i].member);
		if (!strcmp(part->name, "tid"))
			*offset += 4;
		if (part->bits == PERF_SAMPLE_TIME && stream_time_differs(cls->host->stream))
			return READ_TIME;
		return fixed[i].kind;
	}
	*offset = (uint16_t)row;
	return part->bits == PERF_SAMPLE_CALLCHAIN ? READ_CALLCHAIN : READ_PART;
}

static int add_parts(struct event_class *cls)
{
	const struct sample_part *part;

	for (size_t i = 0; (part = sample_part_at(i)); i++) {
		enum reader_kind kind;
		uint16_t offset;

		kind = part_kind(cls, i, &offset);
		if (part->bits == PERF_SAMPLE_PERIOD && !offset && cls->event->each > 1)
			kind = READ_EACH;
		else if (!(part->bits & cls->event->layout.sample_type))
			continue;
		if (add_reader(cls, part->name, kind, offset, NULL))
			return -1;
	}
	return 0;
}

/* A handler written for tracepoints can also use these names with other events. They are not in keys(). */
static int add_second_names(struct event_class *cls)
{
	static const struct {
		const char *part, *second;
	} names[] = { { "callchain", "_callchain" }, { "period", "_period" }, { "counts", "_counts" } };

	for (size_t i = 0; i < cls->nreaders; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			const struct reader *r = &cls->readers[i];

			if (!PyUnicode_CompareWithASCIIString(r->name, names[k].part) &&
			    add_reader(cls, names[k].second, (enum reader_kind)r->kind, r->offset, NULL))
				return -1;
		}
	return 0;
}

static bool has_reader(const struct event_class *cls, const char *name)
{
	for (size_t i = 0; i < cls->nnames; i++)
		if (!PyUnicode_CompareWithASCIIString(cls->readers[i].name, name))
			return true;
	return false;
}

/* The events of other commands have these parts as all samples do, unless a column of theirs has that name. */
static int add_made_parts(struct event_class *cls)
{
	static const char *const names[] = { "pid", "tid", "time", "cpu" };   /* as in add_common_readers() */

	for (size_t i = 0; cls->event->maker && i < sizeof(names) / sizeof(*names); i++)
		if (!has_reader(cls, names[i]) &&
		    add_reader(cls, names[i], (enum reader_kind)cls->readers[i].kind, cls->readers[i].offset, NULL))
			return -1;
	return 0;
}

/* Only __sample__() gets events that it has to tell apart; elsewhere the name is no field, but can be read. */
static int add_event_name(struct event_class *cls)
{
	return cls->rest ? add_reader(cls, "_event", READ_EVENT, 0, NULL) : 0;
}

/* The stream adds TID and TIME to all samples. */
static int add_common_readers(struct event_class *cls)
{
	const struct layout *l = &cls->event->layout;
	bool differs = stream_time_differs(cls->host->stream);

	return add_reader(cls, "_pid", READ_REC_U32, l->tid, NULL) ||
	       add_reader(cls, "_tid", READ_REC_U32, l->tid + 4, NULL) ||
	       add_reader(cls, "_time", differs ? READ_TIME : READ_REC_U64, l->time, NULL) ||
	       add_reader(cls, "_cpu", READ_CPU, 0, NULL);
}

static int add_sample_readers(struct event_class *cls)
{
	return add_common_readers(cls) || add_reader(cls, "_realtime", READ_REALTIME, 0, NULL) ||
	       add_event_name(cls) || add_parts(cls) ||
	       (stream_event_has_counts(cls->event) && add_reader(cls, "counts", READ_COUNTS, 0, NULL));
}

/* In the documented order: parts of the sample, common_* fields, computed fields, fields of the event. */
static int add_readers(struct event_class *cls)
{
	const struct layout *l = &cls->event->layout;
	const struct tracefmt *fmt = cls->event->fmt;

	return add_common_readers(cls) ||
	       add_reader(cls, "_period", l->period ? READ_REC_U64 : READ_EACH, l->period, NULL) ||
	       add_trace_fields(cls, 0, fmt->ncommon) || add_reader(cls, "_realtime", READ_REALTIME, 0, NULL) ||
	       (l->callchain && add_reader(cls, "_callchain", READ_CALLCHAIN, 0, NULL)) ||
	       (stream_event_has_counts(cls->event) && add_reader(cls, "_counts", READ_COUNTS, 0, NULL)) ||
	       add_event_name(cls) ||
	       add_trace_fields(cls, fmt->ncommon, fmt->nfields) || add_made_parts(cls) || add_probe_address(cls);
}

/* A field with the name of a method is available as event['name'] only. */
static int is_method(PyTypeObject *type, PyObject *name)
{
	return PyObject_HasAttr((PyObject *)type, name);
}

/* Fills the slots with the current factor. False if two names collide. Of readers with one name, as a field of an
 * event can have that of ours, the last one counts, as in by_name. */
static bool fill_slots(struct event_class *cls, const bool *as_attribute)
{
	memset(cls->slots, 0, sizeof(*cls->slots) << (64 - cls->slot_shift));
	for (size_t i = 0; i < cls->nnames; i++) {
		uintptr_t name = (uintptr_t)cls->readers[i].name;
		struct reader *slot = &cls->slots[name * cls->slot_factor >> cls->slot_shift];

		if (!as_attribute[i])
			continue;
		if (slot->name && slot->name != cls->readers[i].name)
			return false;
		*slot = cls->readers[i];
	}
	return true;
}

/* Tries factors, and then more slots. With n names in at least n * n slots, every second factor has no
 * collisions. */
static int build_slots(struct event_class *cls, const bool *as_attribute)
{
	unsigned int bits = 4;

	while (1ul << bits < 2 * cls->nnames)
		bits++;
	cls->slot_factor = 0x9e3779b97f4a7c15ull;
	for (int tries = 0;; tries++, cls->slot_factor = cls->slot_factor * 6364136223846793005ull + 2) {
		if (!cls->slots || tries == 32) {
			tries = 0;
			bits++;
			PyMem_Free(cls->slots);
			cls->slot_shift = 64 - bits;
			cls->slots = PyMem_Calloc(1ul << bits, sizeof(*cls->slots));
			if (!cls->slots)
				return -1;
		}
		if (fill_slots(cls, as_attribute))
			return 0;
	}
}

static int index_name(struct event_class *cls, size_t i)
{
	PyObject *name = cls->readers[i].name, *index = PyLong_FromSize_t(i);
	int rc = -1;

	if (index && !PyDict_SetItem(cls->by_name, name, index))
		rc = i < cls->nreaders ? PyDict_SetItem(cls->template, name, Py_None) : 0;
	Py_XDECREF(index);
	return rc;
}

static int build_index(struct event_class *cls, PyTypeObject *type)
{
	bool *as_attribute = PyMem_Calloc(cls->nnames + 1, sizeof(*as_attribute));
	int rc = 0;

	cls->by_name = PyDict_New();
	cls->template = PyDict_New();
	if (!as_attribute || !cls->by_name || !cls->template)
		rc = -1;
	for (size_t i = 0; !rc && i < cls->nnames; i++) {
		as_attribute[i] = !is_method(type, cls->readers[i].name);
		rc = index_name(cls, i);
	}
	if (!rc)
		rc = build_slots(cls, as_attribute);
	PyMem_Free(as_attribute);
	return rc;
}

int event_class_init(struct event_class *cls, const struct stream_event *event, struct host *host,
		     PyTypeObject *type, bool rest)
{
	memset(cls, 0, sizeof(*cls));
	cls->event = event;
	cls->rest = rest;
	cls->host = host;
	cls->name = PyUnicode_FromString(event->name);
	cls->readers = PyMem_Calloc(event->fmt ? event->fmt->nfields + MAX_OWN_READERS : MAX_PART_READERS,
				    sizeof(*cls->readers));
	if (!cls->name || !cls->readers) {
		PyErr_NoMemory();
		return -1;
	}
	if (event->fmt ? add_readers(cls) : add_sample_readers(cls))
		return -1;
	cls->nreaders = cls->nnames;
	if ((!has_reader(cls, "_comm") && add_reader(cls, "_comm", READ_COMM, 0, NULL)) ||
	    (!rest && add_reader(cls, "_event", READ_EVENT, 0, NULL)) ||
	    (!event->fmt && add_second_names(cls)))
		return -1;
	return build_index(cls, type) ? -1 : 0;
}

struct reader *event_class_find_equal(const struct event_class *cls, PyObject *name)
{
	PyObject *index = PyDict_GetItemWithError(cls->by_name, name);

	if (!index) {
		PyErr_Clear();   /* an unhashable name is not a field either */
		return NULL;
	}
	return &cls->readers[PyLong_AsSize_t(index)];
}
