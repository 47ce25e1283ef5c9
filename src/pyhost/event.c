/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/event.h"

#include "base/nearest.h"
#include "events/parts.h"
#include "pyhost/host.h"
#include "pyhost/sampleparts.h"

#include <inttypes.h>
#include <stddef.h>
#include <structmember.h>

/* ---- one field ---------------------------------------------------------- */

static PyObject *read_text(const struct perf_event *e, const struct reader *r)
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

static PyObject *read_bytes(const struct perf_event *e, const struct reader *r)
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

/* PyLong_FromLong() is faster for small numbers than the unsigned functions. */
static inline PyObject *from_u64(uint64_t v)
{
	return v <= LONG_MAX ? PyLong_FromLong((long)v) : PyLong_FromUnsignedLongLong(v);
}

/* A 32-bit number: returns the object of the last call if the bits are the same. Small ints are left to
 * the interpreter's cache. A long may have 32 bits, too few for an unsigned number. */
static inline PyObject *from_bits(struct reader *r, uint32_t bits, int64_t value)
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

static PyObject *event_read(struct perf_event *e, struct reader *r)
{
	switch ((enum reader_kind)r->kind) {
	case READ_REC_U32:
		return from_bits(r, layout_u32(e->rec, (uint8_t)r->offset),
				 layout_u32(e->rec, (uint8_t)r->offset));
	case READ_REC_U64:
		return from_u64(layout_u64(e->rec, (uint8_t)r->offset));
	case READ_TIME:
		return from_u64(stream_time(e->cls->host->stream, event_time(e)));
	case READ_EACH:
		return from_u64(e->cls->event->each);
	case READ_CPU:
		return PyLong_FromLong((long)(int32_t)e->cpu);   /* -1: not recorded */
	case READ_REALTIME:
		return read_realtime(e);
	case READ_CALLCHAIN:
		return host_callchain(e->cls->host, e);
	case READ_COUNTS:
		return event_counts(e);
	case READ_EVENT:
		return read_event_name(e);
	case READ_COMM:
		return read_comm(e);
	case READ_U8:
		return PyLong_FromLong(RAW(uint8_t));
	case READ_U16:
		return PyLong_FromLong(RAW(uint16_t));
	case READ_U32:
		return from_bits(r, RAW(uint32_t), RAW(uint32_t));
	case READ_U64:
		return from_u64(RAW(uint64_t));
	case READ_S8:
		return PyLong_FromLong(RAW(int8_t));
	case READ_S16:
		return PyLong_FromLong(RAW(int16_t));
	case READ_S32:
		return from_bits(r, RAW(uint32_t), RAW(int32_t));
	case READ_S64:
		return PyLong_FromLongLong(RAW(int64_t));
	case READ_STR:
		return read_text(e, r);
	case READ_BYTES:
		return read_bytes(e, r);
	case READ_PART:
		return sample_part_value(e, sample_part_at(r->offset)->bits);
	}
	Py_UNREACHABLE();
}

/* ---- attribute and item access ------------------------------------------ */

static struct reader *find(struct perf_event *e, PyObject *name)
{
	struct reader *r = event_class_find(e->cls, name);

	return r ? r : event_class_find_equal(e->cls, name);
}

/* Without this, Python 3.10 and later add their own "Did you mean" to the message. */
static void forget_object(PyObject *name)
{
	PyObject *type, *error, *trace;

	PyErr_Fetch(&type, &error, &trace);
	PyErr_NormalizeException(&type, &error, &trace);
	if (error && (PyObject_SetAttrString(error, "name", name) ||
		      PyObject_SetAttrString(error, "obj", Py_None)))
		PyErr_Clear();
	PyErr_Restore(type, error, trace);
}

/* Sets the error for a missing field, with the nearest field name if there is one. */
static PyObject *no_field(const struct perf_event *e, PyObject *name, PyObject *error)
{
	const char *text = PyUnicode_AsUTF8(name);
	struct nearest n;

	PyErr_Clear();
	if (e->cls->event->sampling && text && sample_part_bits(text, strlen(text))) {
		PyErr_Format(error, "%U has no field '%U': its samples do not carry it; the attribute sample=%U in "
			     "the event list adds it to live events", e->cls->name, name, name);
		return NULL;
	}
	nearest_begin(&n, text ? text : "");
	for (size_t i = 0; i < e->cls->nreaders; i++)
		nearest_offer(&n, PyUnicode_AsUTF8(e->cls->readers[i].name));
	for (const PyMethodDef *m = Py_TYPE(e)->tp_methods; error == PyExc_AttributeError && m->ml_name; m++)
		nearest_offer(&n, m->ml_name);
	if (nearest_get(&n))
		PyErr_Format(error, "%U has no field '%U'; did you mean '%s'?", e->cls->name, name,
			     nearest_get(&n));
	else
		PyErr_Format(error, "%U has no field '%U'; event.keys() lists them", e->cls->name, name);
	if (error == PyExc_AttributeError)
		forget_object(name);
	return NULL;
}

static PyObject *getattro_slow(struct perf_event *e, PyObject *name)
{
	PyObject *value = PyObject_GenericGetAttr((PyObject *)e, name);
	struct reader *r;

	if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	r = event_class_find_equal(e->cls, name);
	if (!r)
		return no_field(e, name, PyExc_AttributeError);
	PyErr_Clear();
	return event_read(e, r);
}

static PyObject *getattro(PyObject *self, PyObject *name)
{
	struct perf_event *e = (struct perf_event *)self;
	struct reader *r = event_class_find(e->cls, name);

	if (r)
		return event_read(e, r);
	return getattro_slow(e, name);
}

static PyObject *no_item(const struct perf_event *e, PyObject *key)
{
	PyObject *args;

	if (PyUnicode_Check(key))
		return no_field(e, key, PyExc_KeyError);
	args = PyTuple_Pack(1, key);   /* None or a tuple would be taken for the arguments */
	if (args)
		PyErr_SetObject(PyExc_KeyError, args);
	Py_XDECREF(args);
	return NULL;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
	struct perf_event *e = (struct perf_event *)self;
	struct reader *r = find(e, key);

	if (!r)
		return no_item(e, key);
	return event_read(e, r);
}

static Py_ssize_t length(PyObject *self)
{
	return (Py_ssize_t)((struct perf_event *)self)->cls->nreaders;
}

static int contains(PyObject *self, PyObject *key)
{
	return find((struct perf_event *)self, key) != NULL;
}

/* ---- views --------------------------------------------------------------- */

static PyObject *pair(struct perf_event *e, struct reader *r)
{
	PyObject *value = event_read(e, r), *t;

	if (!value)
		return NULL;
	t = PyTuple_Pack(2, r->name, value);
	Py_DECREF(value);
	return t;
}

static PyObject *name_of(struct perf_event *e, struct reader *r)
{
	Py_INCREF(r->name);
	return r->name;
}

static PyObject *list_of(PyObject *self,
			 PyObject *(*item)(struct perf_event *e, struct reader *r))
{
	struct perf_event *e = (struct perf_event *)self;
	PyObject *list = PyList_New((Py_ssize_t)e->cls->nreaders);

	for (size_t i = 0; list && i < e->cls->nreaders; i++) {
		PyObject *v = item(e, &e->cls->readers[i]);

		if (!v)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, v);
	}
	return list;
}

static PyObject *keys(PyObject *self, PyObject *unused)
{
	return list_of(self, name_of);
}

static PyObject *values(PyObject *self, PyObject *unused)
{
	return list_of(self, event_read);
}

static PyObject *items(PyObject *self, PyObject *unused)
{
	return list_of(self, pair);
}

static PyObject *iter(PyObject *self)
{
	PyObject *list = items(self, NULL), *it;

	if (!list)
		return NULL;
	it = PyObject_GetIter(list);
	Py_DECREF(list);
	return it;
}

static PyObject *to_dict(PyObject *self, PyObject *unused)
{
	struct perf_event *e = (struct perf_event *)self;
	PyObject *dict = PyDict_Copy(e->cls->template);

	for (size_t i = 0; dict && i < e->cls->nreaders; i++) {
		PyObject *v = event_read(e, &e->cls->readers[i]);

		if (!v || PyDict_SetItem(dict, e->cls->readers[i].name, v))
			Py_CLEAR(dict);
		Py_XDECREF(v);
	}
	return dict;
}

static PyObject *get(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "field", "default", NULL };
	struct perf_event *e = (struct perf_event *)self;
	PyObject *name, *fallback = Py_None;
	struct reader *r;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:get", names, &name, &fallback))
		return NULL;
	r = find(e, name);
	if (r)
		return event_read(e, r);
	Py_INCREF(fallback);
	return fallback;
}

static PyObject *print_method(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "timestamp", "callchain", NULL };
	int timestamp = 1, callchain = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp:print", names, &timestamp, &callchain))
		return NULL;
	return event_print((struct perf_event *)self, timestamp, callchain);
}

/* ---- text, identity ------------------------------------------------------ */

static PyObject *str(PyObject *self)
{
	PyObject *dict = to_dict(self, NULL), *text;

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

/* The stream has the counts of the current sample; a kept event has a copy. */
PyObject *event_counts(const struct perf_event *e)
{
	if (!e->owned && e->cls->event->counts)
		return sample_counts(e->cls->event->counts);
	if (e->counts)
		return PyDict_Copy(e->counts);
	Py_RETURN_NONE;
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

static PyMethodDef methods[] = {
	{ "get", (PyCFunction)(void (*)(void))get, METH_VARARGS | METH_KEYWORDS,
	  "get(field, default=None)\n--\n\nValue of the field, or default if the event has none." },
	{ "keys", keys, METH_NOARGS, "keys()\n--\n\nList of the field names." },
	{ "values", values, METH_NOARGS, "values()\n--\n\nList of the field values." },
	{ "items", items, METH_NOARGS, "items()\n--\n\nList of (name, value) tuples." },
	{ "to_dict", to_dict, METH_NOARGS, "to_dict()\n--\n\nThe event as a plain dict." },
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
	{ Py_tp_iter, iter },
	{ Py_tp_str, str },
	{ Py_tp_repr, repr },
	{ Py_tp_hash, hash },
	{ Py_tp_richcompare, richcompare },
	{ Py_mp_subscript, subscript },
	{ Py_mp_length, length },
	{ Py_sq_contains, contains },
	{ 0, NULL },
};

/* Both flags are new in 3.10. */
#ifdef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define EVENT_TYPE_FLAGS                                                                           \
	(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE)
#else
#define EVENT_TYPE_FLAGS Py_TPFLAGS_DEFAULT
#endif

static PyType_Spec spec = {
	.name = "perf_prof.PerfEvent",
	.basicsize = sizeof(struct perf_event),
	.flags = EVENT_TYPE_FLAGS,
	.slots = slots,
};

PyTypeObject *event_type_new(PyObject *module)
{
	return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
