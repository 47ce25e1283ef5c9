/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as small objects: a copy of the record's bytes, and a reference to what is needed to
 * decode them. Each access to an attribute decodes the record, which takes some ns; most attributes
 * are never read.
 */
#include "pyperf/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct record_object {
	PyObject_VAR_HEAD
	struct source *source;
	/* followed by the record: PyType_GenericAlloc() aligns to 16 bytes */
};

_Static_assert(sizeof(struct record_object) % 8 == 0, "records lie on an 8-byte grid");

static const struct perf_event_header *bytes_in(PyObject *o)
{
	return (const struct perf_event_header *)((struct record_object *)o + 1);
}

static struct source *source_in(PyObject *o)
{
	return ((struct record_object *)o)->source;
}

static void decode(PyObject *o, struct pev_record *r)
{
	const struct perf_event_header *rec = bytes_in(o);

	/* it did when the object was made */
	pev_decode(rec, rec->size, &source_in(o)->format, r);
}

/* ---- sources ---------------------------------------------------------------------- */

struct source *source_new(const struct perf_event_attr *attr, uint64_t id, const char *label)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return PyErr_NoMemory(), NULL;
	s->refs = 1;
	s->id = id;
	pev_format_from_attr(&s->format, attr);
	strncpy(s->label, label, sizeof(s->label) - 1);
	return s;
}

void source_drop(struct source *s)
{
	if (s && !--s->refs)
		free(s);
}

/* ---- values ----------------------------------------------------------------------- */

PyObject *words_tuple(const uint64_t *words, uint64_t n)
{
	PyObject *all = PyTuple_New((Py_ssize_t)n), *one;

	for (uint64_t i = 0; all && i < n; i++) {
		one = PyLong_FromUnsignedLongLong(words[i]);
		if (!one || PyTuple_SetItem(all, (Py_ssize_t)i, one))
			Py_CLEAR(all);
	}
	return all;
}

PyObject *bytes_of(const void *data, uint64_t size)
{
	return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

PyObject *read_values(const struct pev_read *read)
{
	PyObject *all = PyTuple_New((Py_ssize_t)read->nr), *one;
	struct pev_count count;

	for (uint64_t i = 0; all && i < read->nr; i++) {
		pev_read_value(read, i, &count);
		one = Py_BuildValue("(KKKKK)", (unsigned long long)count.value,
				    (unsigned long long)count.time_enabled, (unsigned long long)count.time_running,
				    (unsigned long long)count.id, (unsigned long long)count.lost);
		if (!one || PyTuple_SetItem(all, (Py_ssize_t)i, one))
			Py_CLEAR(all);
	}
	return all;
}

static PyObject *value_of(const struct field *f, const struct pev_record *r, const struct source *s)
{
	const char *p = (const char *)r + f->offset;

	switch (f->kind) {
	case FIELD_U64:
		return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
	case FIELD_U32:
		return PyLong_FromUnsignedLong(*(const uint32_t *)p);
	case FIELD_U16:
		return PyLong_FromLong(*(const uint16_t *)p);
	case FIELD_U8:
		return PyLong_FromLong(*(const uint8_t *)p);
	case FIELD_BOOL:
		return PyBool_FromLong(*(const bool *)p);
	case FIELD_TEXT:
		return text_of(*(const char *const *)p);
	case FIELD_CALL:
		return f->call(r, s);
	}
	return NULL;
}

static bool has(const struct field *f, const struct pev_record *r, const struct source *s)
{
	uint64_t present = f->trailer ? r->sample_id.present :
					s->format.sample_type & ~r->sample.undecoded;

	return !f->needs || f->needs & present;
}

static PyObject *get(PyObject *o, void *closure)
{
	const struct field *f = closure;
	struct source *s = source_in(o);
	struct pev_record r;

	decode(o, &r);
	if (has(f, &r, s))
		return value_of(f, &r, s);
	return PyErr_Format(PyExc_AttributeError, "this %s record of %s has no %s: needs PERF_SAMPLE_%s in "
			    "attr.sample_type%s", pev_record_name(r.type) ? pev_record_name(r.type) : "unknown",
			    s->label, f->name, pev_sample_name(f->needs & -f->needs),
			    f->trailer ? ", and attr.sample_id_all" : "");
}

/* ---- common attributes ------------------------------------------------------------ */

static PyObject *get_name(const struct pev_record *r, const struct source *s)
{
	const char *name = pev_record_name(r->type);

	return name ? PyUnicode_FromString(name) : PyUnicode_FromFormat("RECORD_%u", r->type);
}

static PyObject *get_event(const struct pev_record *r, const struct source *s)
{
	return text_of(s->label);
}

static PyObject *get_cpu_mode(const struct pev_record *r, const struct source *s)
{
	return text_of(pev_cpu_mode_name(r->misc));
}

static const struct field base_fields[] = {
	FIELD(U32, type, "type", 0, "PERF_RECORD_*"),
	FIELD(U16, misc, "misc", 0, "PERF_RECORD_MISC_* bits"),
	CALL(get_name, "name", 0, "name of its type: \"SAMPLE\", \"MMAP2\""),
	CALL(get_event, "event", 0, "name of the event that it came from"),
	CALL(get_cpu_mode, "cpu_mode", 0, "\"user\", \"kernel\", \"hypervisor\", …"),
	TRAILER(U32, pid, "pid", PERF_SAMPLE_TID, "process"),
	TRAILER(U32, tid, "tid", PERF_SAMPLE_TID, "thread"),
	TRAILER(U64, time, "time", PERF_SAMPLE_TIME, "ns, of the event's clock"),
	TRAILER(U64, id, "id", PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, "id of the event"),
	TRAILER(U64, stream_id, "stream_id", PERF_SAMPLE_STREAM_ID, "id of the event's copy"),
	TRAILER(U32, cpu, "cpu", PERF_SAMPLE_CPU, "CPU"),
	END,
};

/* ---- methods ---------------------------------------------------------------------- */

static const struct record_kind *kind_of(uint32_t type)
{
	for (const struct record_kind *k = record_kinds + 1; k->name; k++)
		if (k->types[0] == type || k->types[1] == type)
			return k;
	return record_kinds;
}

static int put_fields(PyObject *dict, const struct field *f, const struct pev_record *r,
		      const struct source *s)
{
	PyObject *value;
	int rc = 0;

	for (; f && f->name && !rc; f++) {
		if (!has(f, r, s))
			continue;
		value = value_of(f, r, s);
		rc = value ? PyDict_SetItemString(dict, f->name, value) : -1;
		Py_XDECREF(value);
	}
	return rc;
}

static PyObject *asdict(PyObject *o, PyObject *unused)
{
	struct source *s = source_in(o);
	PyObject *dict = PyDict_New();
	struct pev_record r;

	decode(o, &r);
	if (dict && (put_fields(dict, base_fields, &r, s) ||
		     put_fields(dict, kind_of(r.type)->fields, &r, s)))
		Py_CLEAR(dict);
	return dict;
}

static PyObject *as_bytes(PyObject *o, PyObject *unused)
{
	return bytes_of(bytes_in(o), bytes_in(o)->size);
}

static PyObject *as_text(PyObject *o)
{
	struct source *s = source_in(o);
	struct pev_record r;
	PyObject *text;
	int size;
	char *buf;

	decode(o, &r);
	size = pev_record_text(&r, &s->format, NULL, 0) + 1;
	buf = PyMem_Malloc((size_t)size);
	if (!buf)
		return PyErr_NoMemory();
	pev_record_text(&r, &s->format, buf, (size_t)size);
	text = text_of(buf);
	PyMem_Free(buf);
	return text;
}

static PyObject *as_repr(PyObject *o)
{
	PyObject *text = as_text(o), *repr = text ? PyUnicode_FromFormat("<%U>", text) : NULL;

	Py_XDECREF(text);
	return repr;
}

static void dealloc(PyObject *o)
{
	source_drop(source_in(o));
	free_object(o);
}

static PyMethodDef methods[] = {
	{ "asdict", asdict, METH_NOARGS,
	  "asdict()\n--\n\nAll attributes that this record has, and their values." },
	{ "__bytes__", as_bytes, METH_NOARGS, "The record as the kernel wrote it." },
	{ NULL },
};

/* ---- creation --------------------------------------------------------------------- */

static int kind_index(uint32_t type)
{
	return (int)(kind_of(type) - record_kinds);
}

PyObject *record_new(struct state *st, struct source *source, const struct perf_event_header *rec)
{
	uint16_t size = rec->size;
	PyTypeObject *type = (PyTypeObject *)st->kind_types[kind_index(rec->type)];
	PyObject *o = PyType_GenericAlloc(type, size / 8);

	if (!o)
		return NULL;
	source->refs++;
	((struct record_object *)o)->source = source;
	memcpy((struct record_object *)o + 1, rec, size);
	((struct perf_event_header *)((struct record_object *)o + 1))->size = size;
	return o;
}

PyObject *record_decode(PyObject *module, PyObject *args)
{
	struct state *st = PyModule_GetState(module);
	uint64_t words[PEV_RECORD_MAX_SIZE / 8];
	struct attr_object *attr;
	struct source *source;
	struct pev_record r;
	PyObject *what, *o = NULL;
	Py_ssize_t size;
	const char *data;

	if (!PyArg_ParseTuple(args, "y#O:decode", &data, &size, &what) ||
	    !(attr = attr_of(st, what)))
		return NULL;
	if (size > (Py_ssize_t)sizeof(words))
		return PyErr_SetString(PyExc_ValueError, "longer than any record"), NULL;
	memcpy(words, data, (size_t)size);
	source = source_new(&attr->buf.attr, 0, "bytes");
	if (!source)
		return NULL;
	if (pev_decode((void *)words, (size_t)size, &source->format, &r) || r.size % 8)
		PyErr_SetString(PyExc_ValueError, "the bytes are not a record of this attr");
	else
		o = record_new(st, source, (void *)words);
	source_drop(source);
	return o;
}

/* ---- types ------------------------------------------------------------------------ */

static PyGetSetDef *fields_table(struct state *st, const struct field *f)
{
	PyGetSetDef *table;
	size_t n = 0;

	while (f && f[n].name)
		n++;
	table = new_table(st, n);
	for (size_t i = 0; table && i < n; i++)
		table[i] = (PyGetSetDef){ f[i].name, get, NULL, f[i].doc, (void *)&f[i] };
	return table;
}

static PyObject *make_type(PyObject *module, struct state *st, const struct record_kind *kind,
			   PyObject *base)
{
	PyGetSetDef *table = fields_table(st, base ? kind->fields : base_fields);
	PyType_Slot slots[] = {
		{ Py_tp_doc, (void *)kind->doc },
		{ Py_tp_getset, table },
		NEW_FORBIDDEN,
		{ Py_tp_dealloc, dealloc },
		{ Py_tp_methods, base ? methods + 2 : methods },
		{ Py_tp_repr, as_repr },
		{ Py_tp_str, as_text },
		{ 0, NULL },
	};
	PyObject *bases = base ? PyTuple_Pack(1, base) : NULL, *type;
	char name[64] = PYPERF_NAME ".";
	PyType_Spec spec = { name, sizeof(struct record_object), 8,
			     Py_TPFLAGS_DEFAULT | (base ? 0 : Py_TPFLAGS_BASETYPE), slots };

	strncat(name, kind->name, sizeof(name) - sizeof(PYPERF_NAME "."));
	type = table && (bases || !base) ? add_type(module, kind->name, &spec, bases) : NULL;
	Py_XDECREF(bases);
	return type;
}

int add_records(PyObject *module, struct state *st)
{
	for (int i = 0; record_kinds[i].name; i++) {
		st->kind_types[i] = make_type(module, st, &record_kinds[i],
					      i ? st->kind_types[0] : NULL);
		if (!st->kind_types[i])
			return -1;
	}
	return 0;
}
