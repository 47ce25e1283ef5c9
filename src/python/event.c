/* SPDX-License-Identifier: Apache-2.0 */
#include "python/event.h"

#include "base/escape.h"
#include "events/parts.h"
#include "python/host.h"
#include "report/eventline.h"
#include "report/sampletext.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

enum {
	MAX_PART_READERS = 48,   /* six fixed ones, the rows of parts.h, second names, _comm, _event */
	MAX_OWN_READERS = 15,    /* readers of a tracepoint besides those of its fields */
};

enum get_kind {
	GET_REC_U32,          /* at an offset in the record */
	GET_REC_U64,
	GET_EACH,             /* the period where samples have none */
	GET_CPU,
	GET_TIME,             /* at an offset in the record, converted for --tsc and the like */
	GET_REALTIME,
	GET_CALLCHAIN,
	GET_COUNTS,           /* increments of the group's counters */
	GET_EVENT,
	GET_COMM,             /* the name that the task had then */
	GET_U8, GET_U16, GET_U32, GET_U64,   /* at an offset in the raw data */
	GET_S8, GET_S16, GET_S32, GET_S64,
	GET_STR,              /* through trace_field_data() */
	GET_BYTES,
	GET_PART,             /* a part of a sample without a fixed place: offset is its row in parts.h */
};

struct field_reader {
	uint16_t kind;         /* enum get_kind */
	uint16_t offset;
	/* The number read last. Values such as pids and CPUs repeat, and making an int costs more than
	 * comparing. Times are not kept. */
	uint32_t last;
	PyObject *last_int;
	const struct trace_field *field;   /* NULL for names that begin with _ */
};

static int add_reader(struct event_class *cls, const char *name, enum get_kind kind,
		      uint16_t offset, const struct trace_field *field)
{
	PyObject *text = PyUnicode_InternFromString(name);
	int rc = text ? PyList_Append(cls->all, text) : -1;

	Py_XDECREF(text);
	if (rc)
		return -1;
	cls->readers[cls->nnames++] = (struct field_reader){ .kind = (uint16_t)kind, .offset = offset, .field = field };
	return 0;
}

static enum get_kind number_kind(const struct trace_field *f)
{
	bool is_signed = f->kind == FIELD_SINT;

	switch (f->size) {
	case 1:
		return is_signed ? GET_S8 : GET_U8;
	case 2:
		return is_signed ? GET_S16 : GET_U16;
	case 4:
		return is_signed ? GET_S32 : GET_U32;
	default:
		return is_signed ? GET_S64 : GET_U64;
	}
}

static enum get_kind kind_of(const struct trace_field *f)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		return number_kind(f);
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return GET_STR;
	default:
		return GET_BYTES;
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
	enum get_kind kind;
} fixed[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct layout, identifier), GET_REC_U64 },
	{ PERF_SAMPLE_IP, offsetof(struct layout, ip), GET_REC_U64 },
	{ PERF_SAMPLE_TID, offsetof(struct layout, tid), GET_REC_U32 },
	{ PERF_SAMPLE_TIME, offsetof(struct layout, time), GET_REC_U64 },
	{ PERF_SAMPLE_ADDR, offsetof(struct layout, addr), GET_REC_U64 },
	{ PERF_SAMPLE_ID, offsetof(struct layout, id), GET_REC_U64 },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct layout, stream_id), GET_REC_U64 },
	{ PERF_SAMPLE_CPU, offsetof(struct layout, cpu), GET_REC_U32 },
	{ PERF_SAMPLE_PERIOD, offsetof(struct layout, period), GET_REC_U64 },
};

/* How and where a row of parts.h is read. */
static enum get_kind part_kind(const struct event_class *cls, size_t row, uint16_t *offset)
{
	const struct sample_part *part = sample_part_at(row);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (fixed[i].bit != part->bits)
			continue;
		*offset = *((const uint8_t *)&cls->event->layout + fixed[i].member);
		if (!strcmp(part->name, "tid"))
			*offset += 4;
		if (part->bits == PERF_SAMPLE_TIME && stream_time_differs(cls->host->stream))
			return GET_TIME;
		return fixed[i].kind;
	}
	*offset = (uint16_t)row;
	return part->bits == PERF_SAMPLE_CALLCHAIN ? GET_CALLCHAIN : GET_PART;
}

static int add_parts(struct event_class *cls)
{
	const struct sample_part *part;

	for (size_t i = 0; (part = sample_part_at(i)); i++) {
		enum get_kind kind;
		uint16_t offset;

		kind = part_kind(cls, i, &offset);
		if (part->bits == PERF_SAMPLE_PERIOD && !offset && cls->event->each > 1)
			kind = GET_EACH;
		else if (!(part->bits & cls->event->layout.sample_type))
			continue;
		if (add_reader(cls, part->name, kind, offset, NULL))
			return -1;
	}
	return 0;
}

static bool is_name(const struct event_class *cls, size_t i, const char *name)
{
	return !PyUnicode_CompareWithASCIIString(PyList_GET_ITEM(cls->all, (Py_ssize_t)i), name);
}

/* A handler written for tracepoints can also use these names with other events. They are not in keys(). */
static int add_second_names(struct event_class *cls)
{
	static const struct {
		const char *part, *second;
	} names[] = { { "callchain", "_callchain" }, { "period", "_period" }, { "counts", "_counts" } };

	for (size_t i = 0; i < cls->nreaders; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			const struct field_reader *r = &cls->readers[i];

			if (is_name(cls, i, names[k].part) &&
			    add_reader(cls, names[k].second, (enum get_kind)r->kind, r->offset, NULL))
				return -1;
		}
	return 0;
}

static bool has_reader(const struct event_class *cls, const char *name)
{
	for (size_t i = 0; i < cls->nnames; i++)
		if (is_name(cls, i, name))
			return true;
	return false;
}

/* The events of other commands have these parts as all samples do, unless a column of theirs has that name. */
static int add_made_parts(struct event_class *cls)
{
	static const char *const names[] = { "pid", "tid", "time", "cpu" };   /* as in add_common_readers() */

	for (size_t i = 0; cls->event->maker && i < sizeof(names) / sizeof(*names); i++)
		if (!has_reader(cls, names[i]) &&
		    add_reader(cls, names[i], (enum get_kind)cls->readers[i].kind, cls->readers[i].offset, NULL))
			return -1;
	return 0;
}

/* Only __sample__() gets events that it has to tell apart; elsewhere the name is no field, but can be read. */
static int add_event_name(struct event_class *cls)
{
	return cls->rest ? add_reader(cls, "_event", GET_EVENT, 0, NULL) : 0;
}

/* The stream adds TID and TIME to all samples. */
static int add_common_readers(struct event_class *cls)
{
	const struct layout *l = &cls->event->layout;
	bool differs = stream_time_differs(cls->host->stream);

	return add_reader(cls, "_pid", GET_REC_U32, l->tid, NULL) ||
	       add_reader(cls, "_tid", GET_REC_U32, l->tid + 4, NULL) ||
	       add_reader(cls, "_time", differs ? GET_TIME : GET_REC_U64, l->time, NULL) ||
	       add_reader(cls, "_cpu", GET_CPU, 0, NULL);
}

static int add_sample_readers(struct event_class *cls)
{
	return add_common_readers(cls) || add_reader(cls, "_realtime", GET_REALTIME, 0, NULL) ||
	       add_event_name(cls) || add_parts(cls) ||
	       (stream_event_has_counts(cls->event) && add_reader(cls, "counts", GET_COUNTS, 0, NULL));
}

/* In the documented order: parts of the sample, common_* fields, computed fields, fields of the event. */
static int add_readers(struct event_class *cls)
{
	const struct layout *l = &cls->event->layout;
	const struct tracefmt *fmt = cls->event->fmt;

	return add_common_readers(cls) ||
	       add_reader(cls, "_period", l->period ? GET_REC_U64 : GET_EACH, l->period, NULL) ||
	       add_trace_fields(cls, 0, fmt->ncommon) || add_reader(cls, "_realtime", GET_REALTIME, 0, NULL) ||
	       (l->callchain && add_reader(cls, "_callchain", GET_CALLCHAIN, 0, NULL)) ||
	       (stream_event_has_counts(cls->event) && add_reader(cls, "_counts", GET_COUNTS, 0, NULL)) ||
	       add_event_name(cls) ||
	       add_trace_fields(cls, fmt->ncommon, fmt->nfields) || add_made_parts(cls) || add_probe_address(cls);
}

static const struct fields_kind event_kind;

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
	cls->all = PyList_New(0);
	if (!cls->name || !cls->readers || !cls->all) {
		PyErr_NoMemory();
		return -1;
	}
	if (event->fmt ? add_readers(cls) : add_sample_readers(cls))
		return -1;
	cls->nreaders = cls->nnames;
	if ((!has_reader(cls, "_comm") && add_reader(cls, "_comm", GET_COMM, 0, NULL)) ||
	    (!rest && add_reader(cls, "_event", GET_EVENT, 0, NULL)) ||
	    (!event->fmt && add_second_names(cls)))
		return -1;
	return fields_make(&cls->names, &event_kind, cls->all, cls->nreaders, type);
}

/* ---- parts of a sample without a fixed place --------------------------------- */

/* PyLong_FromLong() is faster for small numbers than the unsigned functions. */
static inline PyObject *from_u64(uint64_t v)
{
	return v <= LONG_MAX ? PyLong_FromLong((long)v) : PyLong_FromUnsignedLongLong(v);
}

static int put(PyObject *dict, const char *key, uint64_t v)
{
	return dict_put(dict, key, from_u64(v));
}

/* Returns dict, or NULL if rc says that a dict_put() failed. */
static PyObject *finish(PyObject *dict, int rc)
{
	if (rc)
		Py_CLEAR(dict);
	return dict;
}

/* ---- counts ------------------------------------------------------------------ */

static int put_times(PyObject *dict, const struct pev_read *read)
{
	return (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
		put(dict, "time_enabled", read->time_enabled)) ||
	       (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING &&
		put(dict, "time_running", read->time_running));
}

static int put_id_and_lost(PyObject *dict, const struct pev_read *read, const struct pev_count *c)
{
	return (read->format & PERF_FORMAT_ID && put(dict, "id", c->id)) ||
	       (read->format & PEV_FORMAT_LOST && put(dict, "lost", c->lost));
}

static PyObject *one_counter(const struct pev_read *read, uint64_t i)
{
	PyObject *dict = PyDict_New();
	struct pev_count c;

	pev_read_value(read, i, &c);
	return dict ? finish(dict, put(dict, "value", c.value) ||
			     put_id_and_lost(dict, read, &c)) : NULL;
}

static PyObject *counters(const struct pev_read *read)
{
	PyObject *list = PyList_New((Py_ssize_t)read->nr);

	for (uint64_t i = 0; list && i < read->nr; i++) {
		PyObject *c = one_counter(read, i);

		if (c)
			PyList_SET_ITEM(list, (Py_ssize_t)i, c);
		else
			Py_CLEAR(list);
	}
	return list;
}

/* dict of name -> count since the previous sample */
static PyObject *sample_counts(const struct stream_counts *counts)
{
	PyObject *dict = PyDict_New();
	int rc = 0;

	for (size_t i = 0; dict && i < counts->n && !rc; i++)
		rc = put(dict, counts->v[i].name, counts->v[i].delta);
	return dict ? finish(dict, rc) : NULL;
}

static PyObject *read_value(const struct pev_sample *s, const struct pev_format *fmt)
{
	const struct pev_read *read = &s->read;
	PyObject *dict = PyDict_New();
	struct pev_count c;

	if (!dict)
		return NULL;
	if (read->format & PERF_FORMAT_GROUP)
		return finish(dict, put(dict, "nr", read->nr) || put_times(dict, read) ||
			      dict_put(dict, "cntr", counters(read)));
	pev_read_value(read, 0, &c);
	return finish(dict, put(dict, "value", c.value) || put_times(dict, read) ||
		      put_id_and_lost(dict, read, &c));
}

/* ---- registers --------------------------------------------------------------- */

static PyObject *registers(const struct pev_regs *regs, const struct pev_format *fmt)
{
	PyObject *dict = PyDict_New();
	int rc = dict ? put(dict, "abi", regs->abi) : -1;

	for (unsigned int i = 0; !rc && i < 64; i++) {
		uint64_t value;
		char name[16];

		if (!pev_regs_value(regs, i, &value) || !sample_register_name(fmt, regs->abi, i, name, sizeof(name)))
			continue;
		rc = put(dict, name, value);
	}
	return finish(dict, rc);
}

static PyObject *regs_user(const struct pev_sample *s, const struct pev_format *fmt)
{
	return registers(&s->regs_user, fmt);
}

static PyObject *regs_intr(const struct pev_sample *s, const struct pev_format *fmt)
{
	return registers(&s->regs_intr, fmt);
}

/* ---- bytes ------------------------------------------------------------------- */

/* A u64 and the data that it counts, as in the record. */
static PyObject *counted(uint64_t head, const void *data, size_t size)
{
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(head) + size));

	if (!bytes)
		return NULL;
	memcpy(PyBytes_AS_STRING(bytes), &head, sizeof(head));
	if (size)
		memcpy(PyBytes_AS_STRING(bytes) + sizeof(head), data, size);
	return bytes;
}

static PyObject *raw(const struct pev_sample *s, const struct pev_format *fmt)
{
	return PyBytes_FromStringAndSize(s->raw, (Py_ssize_t)s->raw_size);
}

static PyObject *branch_stack(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->branches.nr, s->branches.entries,
		       (size_t)s->branches.nr * sizeof(struct perf_branch_entry));
}

static PyObject *stack_user(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->stack_size, s->stack, (size_t)s->stack_size);
}

static PyObject *aux(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->aux_size, s->aux, (size_t)s->aux_size);
}

/* make NULL: a number at an offset. */
static const struct {
	uint64_t bits;
	PyObject *(*make)(const struct pev_sample *s, const struct pev_format *fmt);
	size_t at;
} parts[] = {
	{ PERF_SAMPLE_RAW, .make = raw },
	{ PERF_SAMPLE_READ, .make = read_value },
	{ PERF_SAMPLE_BRANCH_STACK, .make = branch_stack },
	{ PERF_SAMPLE_REGS_USER, .make = regs_user },
	{ PERF_SAMPLE_STACK_USER, .make = stack_user },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, .at = offsetof(struct pev_sample, weight.full) },
	{ PERF_SAMPLE_DATA_SRC, .at = offsetof(struct pev_sample, data_src) },
	{ PERF_SAMPLE_TRANSACTION, .at = offsetof(struct pev_sample, transaction) },
	{ PERF_SAMPLE_REGS_INTR, .make = regs_intr },
	{ PERF_SAMPLE_PHYS_ADDR, .at = offsetof(struct pev_sample, phys_addr) },
	{ PERF_SAMPLE_AUX, .make = aux },
	{ PERF_SAMPLE_CGROUP, .at = offsetof(struct pev_sample, cgroup) },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, .at = offsetof(struct pev_sample, data_page_size) },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, .at = offsetof(struct pev_sample, code_page_size) },
};

/* A part of an event that is not a tracepoint; bits as in events/parts.h. None if the sample does not
 * have it, or if it follows registers of an unknown ABI. NULL with an exception. */
static PyObject *sample_part_value(const struct perf_event *e, uint64_t bits)
{
	const struct pev_format *fmt = &e->cls->event->sampling->format;
	struct pev_record rec;

	if (pev_decode(e->rec, e->rec->size, fmt, &rec) || rec.sample.undecoded & bits)
		Py_RETURN_NONE;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].bits & bits)
			return parts[i].make ? parts[i].make(&rec.sample, fmt)
					     : from_u64(*(const uint64_t *)(const void *)((const char *)&rec.sample + parts[i].at));
	Py_RETURN_NONE;
}

/* The stream has the counts of the current sample; a kept event has a copy. */
static PyObject *event_counts(const struct perf_event *e)
{
	if (!e->owned && e->cls->event->counts)
		return sample_counts(e->cls->event->counts);
	if (e->counts)
		return PyDict_Copy(e->counts);
	Py_RETURN_NONE;
}

/* ---- one field ---------------------------------------------------------- */

static PyObject *read_text(const struct perf_event *e, const struct field_reader *r)
{
	const char *data;
	uint32_t len;
	int rc = trace_field_data(r->field, e->raw, e->raw_size, &data, &len);

	if (rc == TRACE_FIELD_FAULT)
		Py_RETURN_NONE;
	if (rc)
		return PyUnicode_FromStringAndSize("", 0);
	return PyUnicode_DecodeUTF8(data, (Py_ssize_t)len, "surrogateescape");
}

static PyObject *read_bytes(const struct perf_event *e, const struct field_reader *r)
{
	const char *data;
	uint32_t len;

	if (trace_field_data(r->field, e->raw, e->raw_size, &data, &len))
		return PyBytes_FromStringAndSize("", 0);
	return PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
}

static PyObject *read_realtime(const struct perf_event *e)
{
	/* a recorded time may be any number: the sum wraps */
	return PyLong_FromLongLong((int64_t)(event_time(e) + (uint64_t)stream_realtime_offset(e->cls->host->stream)));
}

static PyObject *read_event_name(const struct perf_event *e)
{
	Py_INCREF(e->cls->name);
	return e->cls->name;
}

static PyObject *read_comm(const struct perf_event *e)
{
	const char *comm = event_comm(e);

	return PyUnicode_DecodeUTF8(comm ? comm : "", comm ? (Py_ssize_t)strlen(comm) : 0, "surrogateescape");
}

/* Raw data may be unaligned, so fields are copied. */
#define RAW(type) __extension__({ type v_; memcpy(&v_, (const char *)e->raw + r->offset, sizeof(v_)); v_; })

/* A 32-bit number: returns the object of the last call if the bits are the same. Small ints are left to
 * the interpreter's cache. A long may have 32 bits, too few for an unsigned number. */
static inline PyObject *from_bits(struct field_reader *r, uint32_t bits, int64_t value)
{
	PyObject *v = r->last_int;

	if (v && r->last == bits) {
		Py_INCREF(v);
		return v;
	}
	v = value <= LONG_MAX ? PyLong_FromLong((long)value) : PyLong_FromLongLong(value);
	if (v && (value < -5 || value > 256)) {
		Py_XDECREF(r->last_int);
		Py_INCREF(v);
		r->last_int = v;
		r->last = bits;
	}
	return v;
}

static PyObject *event_read(struct perf_event *e, struct field_reader *r)
{
	switch ((enum get_kind)r->kind) {
	case GET_REC_U32:
		return from_bits(r, layout_u32(e->rec, (uint8_t)r->offset),
				 layout_u32(e->rec, (uint8_t)r->offset));
	case GET_REC_U64:
		return from_u64(layout_u64(e->rec, (uint8_t)r->offset));
	case GET_TIME:
		return from_u64(stream_time(e->cls->host->stream, event_time(e)));
	case GET_EACH:
		return from_u64(e->cls->event->each);
	case GET_CPU:
		return PyLong_FromLong((long)(int32_t)e->cpu);   /* -1: not recorded */
	case GET_REALTIME:
		return read_realtime(e);
	case GET_CALLCHAIN:
		return host_callchain(e->cls->host, e);
	case GET_COUNTS:
		return event_counts(e);
	case GET_EVENT:
		return read_event_name(e);
	case GET_COMM:
		return read_comm(e);
	case GET_U8:
		return PyLong_FromLong(RAW(uint8_t));
	case GET_U16:
		return PyLong_FromLong(RAW(uint16_t));
	case GET_U32:
		return from_bits(r, RAW(uint32_t), RAW(uint32_t));
	case GET_U64:
		return from_u64(RAW(uint64_t));
	case GET_S8:
		return PyLong_FromLong(RAW(int8_t));
	case GET_S16:
		return PyLong_FromLong(RAW(int16_t));
	case GET_S32:
		return from_bits(r, RAW(uint32_t), RAW(int32_t));
	case GET_S64:
		return PyLong_FromLongLong(RAW(int64_t));
	case GET_STR:
		return read_text(e, r);
	case GET_BYTES:
		return read_bytes(e, r);
	case GET_PART:
		return sample_part_value(e, sample_part_at(r->offset)->bits);
	}
	Py_UNREACHABLE();
}

/* ---- names --------------------------------------------------------------- */

static PyObject *value(PyObject *self, size_t index)
{
	struct perf_event *e = (struct perf_event *)self;

	return event_read(e, &e->cls->readers[index]);
}

static PyObject *title(PyObject *self)
{
	return Py_NewRef(((struct perf_event *)self)->cls->name);
}

/* Parts that samples of the event could carry. */
static bool refuse(PyObject *self, PyObject *name, PyObject *error)
{
	const struct event_class *cls = ((struct perf_event *)self)->cls;
	const char *text;

	PyErr_Clear();
	text = PyUnicode_AsUTF8(name);
	PyErr_Clear();
	if (!cls->event->sampling || !text || !sample_part_bits(text, strlen(text)))
		return false;
	PyErr_Format(error, "%U has no field '%U': its samples do not carry it; the attribute sample=%U in "
		     "the event list adds it to live events", cls->name, name, name);
	return true;
}

static const struct fields_kind event_kind = { .value = value, .title = title, .refuse = refuse, .hidden = true };

static PyObject *getattro(PyObject *self, PyObject *name)
{
	struct perf_event *e = (struct perf_event *)self;
	const ssize_t i = fields_at(&e->cls->names, name);

	return __builtin_expect(i >= 0, 1) ? event_read(e, &e->cls->readers[i]) : fields_getattr_slow(self, name);
}

/* ---- text, identity ------------------------------------------------------ */

static PyObject *str(PyObject *self)
{
	PyObject *dict = fields_to_dict(self, NULL), *text;

	if (!dict)
		return NULL;
	text = PyObject_Str(dict);
	Py_DECREF(dict);
	return text;
}

static PyObject *repr(PyObject *self)
{
	struct perf_event *e = (struct perf_event *)self;
	unsigned int pid = layout_u32(e->rec, e->cls->event->layout.tid);

	return PyUnicode_FromFormat("<PerfEvent %U cpu=%d pid=%u time=%llu>", e->cls->name, (int)e->cpu,
				    pid, (unsigned long long)event_time(e));
}

/* FNV-1a by words over the whole record and its CPU. */
static Py_hash_t hash(PyObject *self)
{
	struct perf_event *e = (struct perf_event *)self;
	uint64_t h = 0xcbf29ce484222325ull ^ e->cpu;

	for (size_t i = 0; i + 8 <= e->rec->size; i += 8) {
		uint64_t w;

		memcpy(&w, (const char *)e->rec + i, sizeof(w));
		h = (h ^ w) * 0x100000001b3ull;
		h ^= h >> 29;
	}
	return h == (uint64_t)-1 ? -2 : (Py_hash_t)h;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
	struct perf_event *x = (struct perf_event *)a, *y = (struct perf_event *)b;
	bool equal;

	if (Py_TYPE(a) != Py_TYPE(b) || (op != Py_EQ && op != Py_NE))
		Py_RETURN_NOTIMPLEMENTED;
	equal = x->cls == y->cls && x->cpu == y->cpu && x->rec->size == y->rec->size &&
		!memcmp(x->rec, y->rec, x->rec->size);
	return PyBool_FromLong(equal == (op == Py_EQ));
}

/* ---- creation and end ----------------------------------------------------- */

struct perf_event *event_new(PyTypeObject *type)
{
	struct perf_event *e = PyObject_New(struct perf_event, type);

	if (e) {
		e->owned = false;
		e->comm[0] = '\0';
		e->chain = NULL;
		e->counts = NULL;
		e->weakrefs = NULL;
	}
	return e;
}

int event_keep(struct perf_event *e)
{
	size_t raw_at = e->raw ? (size_t)((const char *)e->raw - (const char *)e->rec) : 0;
	struct perf_event_header *copy;

	if (e->owned)
		return 0;
	copy = PyMem_Malloc(e->rec->size);
	if (!copy) {
		PyErr_NoMemory();
		return -1;
	}
	e->chain = host_chain_to_keep(e->cls->host, e);
	e->counts = e->cls->event->counts ? sample_counts(e->cls->event->counts) : NULL;
	if (e->cls->event->counts && !e->counts) {
		PyMem_Free(copy);
		return -1;
	}
	snprintf(e->comm, sizeof(e->comm), "%s", event_comm(e));
	memcpy(copy, e->rec, e->rec->size);
	e->rec = copy;
	e->raw = raw_at ? (const char *)copy + raw_at : NULL;
	e->owned = true;
	return 0;
}

static void dealloc(PyObject *self)
{
	struct perf_event *e = (struct perf_event *)self;
	PyTypeObject *type = Py_TYPE(self);

	if (e->weakrefs)
		PyObject_ClearWeakRefs(self);
	if (e->owned)
		PyMem_Free((void *)e->rec);
	Py_XDECREF(e->chain);
	Py_XDECREF(e->counts);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Events are immutable, so a copy is the object itself. */
static PyObject *copy(PyObject *self, PyObject *unused)
{
	Py_INCREF(self);
	return self;
}

/* ---- print() ------------------------------------------------------------------------ */

/* Kept from one line to the next. */
struct printing {
	struct eventline *line;
	PyObject *sys;           /* dict of the module sys, borrowed */
	PyObject *stdout_name, *write_name;
};

void print_close(struct host *h)
{
	struct printing *p = h->printing;

	if (!p)
		return;
	eventline_free(p->line);
	free(p);
	h->printing = NULL;
}

static struct printing *printing_of(struct host *h)
{
	struct printing *p = h->printing;
	PyObject *sys;

	if (p)
		return p;
	sys = PyImport_ImportModule("sys");   /* the interpreter keeps it */
	p = sys ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		if (sys)
			PyErr_NoMemory();
		Py_XDECREF(sys);
		return NULL;
	}
	h->printing = p;
	p->sys = PyModule_GetDict(sys);
	Py_DECREF(sys);
	p->line = eventline_new(&h->names);
	p->stdout_name = PyUnicode_InternFromString("stdout");
	p->write_name = PyUnicode_InternFromString("write");
	return p;
}

/* Writes to sys.stdout, in order with the script's own output. */
static PyObject *write_out(struct printing *p, const char *text, size_t n)
{
	PyObject *out = PyDict_GetItemWithError(p->sys, p->stdout_name), *str, *rc;

	if (!out && PyErr_Occurred())
		return NULL;
	if (!out || out == Py_None)
		Py_RETURN_NONE;
	str = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
	if (!str)
		return NULL;
	Py_INCREF(out);
	rc = PyObject_CallMethodObjArgs(out, p->write_name, str, NULL);
	Py_DECREF(out);
	Py_DECREF(str);
	return rc;
}

static PyObject *print_frames(struct perf_event *e, struct printing *p)
{
	PyObject *frames = host_callchain(e->cls->host, e);

	for (Py_ssize_t i = 0; frames && i < PyList_GET_SIZE(frames); i++) {
		PyObject *f = PyList_GET_ITEM(frames, i), *rc;
		unsigned long long addr =
			PyLong_AsUnsignedLongLong(PyDict_GetItemString(f, "addr"));
		unsigned long long offset =
			PyLong_AsUnsignedLongLong(PyDict_GetItemString(f, "offset"));
		const char *symbol = PyUnicode_AsUTF8(PyDict_GetItemString(f, "symbol"));
		const char *dso = PyUnicode_AsUTF8(PyDict_GetItemString(f, "dso"));
		char line[1024], sym[512], file[384];
		int n;

		escape_terminal(symbol ? symbol : "?", strlen(symbol ? symbol : "?"), sym, sizeof(sym));
		escape_terminal(dso ? dso : "?", strlen(dso ? dso : "?"), file, sizeof(file));
		n = snprintf(line, sizeof(line), "    %016llx %s+0x%llx (%s)\n", addr, sym, offset,
			     file);
		rc = write_out(p, line, (size_t)n);
		if (!rc)
			Py_CLEAR(frames);
		Py_XDECREF(rc);
	}
	return frames;
}

static PyObject *event_print(struct perf_event *e, bool timestamp, bool callchain)
{
	struct printing *p = printing_of(e->cls->host);
	struct sample_view view = { e->cls->event, e->rec, e->raw, e->raw_size, e->cpu, NULL };
	const char *line;
	PyObject *rc;
	size_t n;

	if (!p)
		return NULL;
	line = p->line ? eventline_text(p->line, &view, event_comm(e), timestamp, &n) : NULL;
	rc = line ? write_out(p, line, n) : PyErr_NoMemory();
	if (!rc)
		return NULL;
	Py_DECREF(rc);
	if (callchain && e->cls->event->layout.callchain) {
		rc = print_frames(e, p);
		if (!rc)
			return NULL;
		Py_DECREF(rc);
	}
	Py_RETURN_NONE;
}

static PyObject *print_method(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "timestamp", "callchain", NULL };
	int timestamp = 1, callchain = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp:print", names, &timestamp, &callchain))
		return NULL;
	return event_print((struct perf_event *)self, timestamp, callchain);
}

/* ---- pickles ------------------------------------------------------------------------ */

/*
 * Pickles of events: the record's bytes and the event's name. They can be read by any run that has
 * the same event with the same fields: the same run, its forked children (multiprocessing), or
 * another with the same -e. Other programs need event.to_dict().
 */

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)data)[i]) * 0x100000001b3ull;
	return h;
}

/* Hashes the meaning of the bytes: name, kind and place of each field. */
static uint64_t fingerprint(const struct event_class *cls)
{
	uint64_t h = mix(0xcbf29ce484222325ull, &cls->event->layout.sample_type, 8);
	const struct stream_sampling *sampling = cls->event->sampling;

	if (sampling) {
		h = mix(h, &sampling->format.read_format, sizeof(uint64_t));
		h = mix(h, &sampling->format.branch_sample_type, sizeof(uint64_t));
		h = mix(h, &sampling->format.regs_user, sizeof(uint64_t));
		h = mix(h, &sampling->format.regs_intr, sizeof(uint64_t));
	}
	for (size_t i = 0; i < cls->nreaders; i++) {
		const struct field_reader *r = &cls->readers[i];
		const char *name = PyUnicode_AsUTF8(PyList_GET_ITEM(cls->all, (Py_ssize_t)i));

		h = name ? mix(h, name, strlen(name) + 1) : h;
		h = mix(h, &r->kind, sizeof(r->kind));
		h = mix(h, &r->offset, sizeof(r->offset));
		h = r->field ? mix(h, &r->field->size, sizeof(r->field->size)) : h;
	}
	return h;
}

/* The chain with its names; None if it can be made from the record later. */
static PyObject *chain_of(const struct perf_event *e)
{
	PyObject *chain = e->chain ? (Py_INCREF(e->chain), e->chain) :
				     host_chain_to_keep(e->cls->host, e);

	return chain ? chain : (Py_INCREF(Py_None), Py_None);
}

/* The stream has them only while it delivers the event. */
static PyObject *counts_of(const struct perf_event *e)
{
	if (e->counts || e->cls->event->counts)
		return event_counts(e);
	Py_RETURN_NONE;
}

static PyObject *event_reduce(PyObject *self, PyObject *unused)
{
	struct perf_event *e = (struct perf_event *)self;
	PyObject *module = PyImport_ImportModule("perf_prof"), *restore = NULL;

	if (module)
		restore = PyObject_GetAttrString(module, "_restore");
	Py_XDECREF(module);
	if (!restore)
		return NULL;
	return Py_BuildValue("(N(OKIy#NN))", restore, e->cls->name,
			     (unsigned long long)fingerprint(e->cls), e->cpu, (const char *)e->rec,
			     (Py_ssize_t)e->rec->size, chain_of(e), counts_of(e));
}

/* ---- unpickling ------------------------------------------------------------ */

static struct event_class *class_of(struct host *h, PyObject *name, uint64_t print)
{
	for (size_t i = 0; h && h->classes && i < h->nclasses; i++) {
		struct event_class *cls = &h->classes[i];

		if (cls->name && !PyUnicode_Compare(cls->name, name) && fingerprint(cls) == print)
			return cls;
	}
	PyErr_Format(PyExc_ValueError, "this run has no event %U with the fields of the pickled one: "
		     "give the -e, -g and clock options that the other run had", name);
	return NULL;
}

/* Checks a record as the drain does. */
static bool is_whole(const struct event_class *cls, struct perf_event *e, size_t size)
{
	const struct layout *l = &cls->event->layout;

	if (size < sizeof(*e->rec) || e->rec->size != size || size < l->fixed_end)
		return false;
	e->raw = NULL;
	e->raw_size = 0;
	if (!cls->event->fmt)
		return stream_sample_fits(cls->event, e->rec);
	e->raw = layout_raw(l, e->rec, &e->raw_size);
	return e->raw && e->raw_size >= cls->event->fmt->min_size;
}

static PyObject *rebuild(struct host *h, struct event_class *cls, uint32_t cpu, const char *bytes,
			 Py_ssize_t size)
{
	struct perf_event *e = event_new(h->event_type);
	void *copy = PyMem_Malloc(size ? (size_t)size : 1);

	if (!e || !copy) {
		PyMem_Free(copy);
		Py_XDECREF((PyObject *)e);
		return PyErr_NoMemory();
	}
	memcpy(copy, bytes, (size_t)size);
	e->cls = cls;
	e->cpu = cpu;
	e->rec = copy;
	e->owned = true;
	if (!is_whole(cls, e, (size_t)size)) {
		Py_DECREF(e);
		PyErr_SetString(PyExc_ValueError, "the pickled event is damaged");
		return NULL;
	}
	return (PyObject *)e;
}

PyObject *event_restore(struct host *h, PyObject *args)
{
	struct event_class *cls;
	unsigned long long print;
	unsigned int cpu;
	PyObject *name, *chain, *counts = NULL, *e;
	const char *bytes;
	Py_ssize_t size;

	if (!PyArg_ParseTuple(args, "UKIy#O|O:_restore", &name, &print, &cpu, &bytes, &size, &chain, &counts))
		return NULL;
	cls = class_of(h, name, print);
	e = cls ? rebuild(h, cls, cpu, bytes, size) : NULL;
	if (e && PyList_Check(chain)) {
		Py_INCREF(chain);
		((struct perf_event *)e)->chain = chain;
	}
	if (e && counts && PyDict_Check(counts)) {
		Py_INCREF(counts);
		((struct perf_event *)e)->counts = counts;
	}
	return e;
}

/* ---- the type ---------------------------------------------------------------- */

static PyMethodDef methods[] = {
	FIELDS_METHODS,
	{ "print", (PyCFunction)(void (*)(void))print_method, METH_VARARGS | METH_KEYWORDS,
	  "print(timestamp=True, callchain=True)\n--\n\n"
	  "Print the event to sys.stdout: time of day, comm, tid, flags, CPU, time, name and\n"
	  "fields; below it the call chain, if one was sampled." },
	{ "__copy__", copy, METH_NOARGS, NULL },
	{ "__deepcopy__", copy, METH_O, NULL },
	{ "__reduce__", event_reduce, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyMemberDef members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct perf_event, weakrefs), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static const char doc[] =
	"An event, handed to a script's handler. Fields are read when they are asked for.\n\n"
	"Fields of every tracepoint:\n"
	"  _pid, _tid     process and thread that were running (int)\n"
	"  _time          time in ns of the perf clock (int); for latencies\n"
	"  _cpu           CPU (int)\n"
	"  _period        sample period (int)\n"
	"  common_type, common_flags, common_preempt_count, common_pid  of the trace entry (int)\n"
	"  _realtime      time in ns since the Unix epoch (int); for display, it drifts\n"
	"  _callchain     list of frames, if call chains are sampled (-g or the stack attribute):\n"
	"                 dicts of addr, symbol, offset, kernel, dso\n"
	"  _event         name of the event, 'sys:name' or 'sys:alias' (str)\n"
	"  <field>        the event's own: int, str, or bytes for arrays\n\n"
	"Sources (profile, page-faults) and plain perf events have _pid, _tid, _time, _cpu,\n"
	"_realtime, _event, and the parts of their sample: ip, pid, tid, time, addr, cpu, period,\n"
	"callchain (a list of frames), regs_user and regs_intr (dicts), and so on; callchain and\n"
	"period, where they are sampled, also answer to _callchain and _period.\n\n"
	"event.field, event['field'], event.get('field', default), 'field' in event, len(event),\n"
	"for name, value in event: all work. An event that the script keeps stays valid.";

static PyType_Slot slots[] = {
	{ Py_tp_doc, (void *)doc },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_getattro, getattro },
	{ Py_tp_methods, methods },
	{ Py_tp_members, members },
	{ Py_tp_str, str },
	{ Py_tp_repr, repr },
	{ Py_tp_hash, hash },
	{ Py_tp_richcompare, richcompare },
	FIELDS_SLOTS,
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof.PerfEvent",
	.basicsize = sizeof(struct perf_event),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

PyTypeObject *event_type_new(PyObject *module)
{
	return type_add(module, &spec, NULL);
}
