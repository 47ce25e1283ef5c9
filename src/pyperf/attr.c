/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_event_attr with an attribute for each field in libperfevent's table, so that new fields of
 * the library appear here by themselves.
 */
#include "pyperf/pyperf.h"

#include "perfevent/parse/near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_signed(const struct pev_attr_field *f)
{
	return !strcmp(f->name, "clockid");
}

/* Fields that point to a text. */
static bool is_text(const struct pev_attr_field *f)
{
	return !strcmp(f->name, "kprobe_func") || !strcmp(f->name, "uprobe_path");
}

static PyObject *attr_get(PyObject *self, void *closure)
{
	const struct pev_attr_field *f = closure;
	uint64_t value;

	pev_attr_get(&((struct attr_object *)self)->buf.attr, f->name, &value);
	return is_signed(f) ? PyLong_FromLong((int32_t)value) : PyLong_FromUnsignedLongLong(value);
}

static int out_of_range(const struct pev_attr_field *f, PyObject *value)
{
	const char *least = is_signed(f) ? "-2**31" : "0";
	unsigned int bits = is_signed(f) ? 31 : f->width;

	if (bits == 1)
		return refused(PyExc_OverflowError, "perf_event_attr.%s takes 0 or 1, not %R", f->name, value);
	return refused(PyExc_OverflowError, "perf_event_attr.%s takes %s to 2**%u - 1, not %R", f->name, least, bits,
		       value);
}

static int set_text(struct attr_object *self, const struct pev_attr_field *f, PyObject *value)
{
	PyObject *bytes, *old = self->keep;
	char *text;

	if (!PyUnicode_FSConverter(value, &bytes))
		return -1;
	text = PyBytes_AsString(bytes);
	pev_attr_set(&self->buf, f->name, (uint64_t)(uintptr_t)text);
	self->keep = bytes;
	Py_XDECREF(old);
	return 0;
}

static int attr_set(PyObject *o, PyObject *value, void *closure)
{
	struct attr_object *self = (struct attr_object *)o;
	const struct pev_attr_field *f = closure;
	unsigned long long bits;
	PyObject *number;

	if (!value)
		return refused(PyExc_AttributeError, "cannot delete perf_event_attr.%s: set it to 0", f->name);
	if (is_text(f) && (PyUnicode_Check(value) || PyBytes_Check(value)))
		return set_text(self, f, value);
	number = PyNumber_Index(value);
	if (!number)
		return refused(PyExc_TypeError, "perf_event_attr.%s takes an integer, not %R", f->name, value);
	if (is_signed(f))
		bits = (unsigned long long)PyLong_AsLongLong(number);
	else
		bits = PyLong_AsUnsignedLongLong(number);
	Py_DECREF(number);
	if (PyErr_Occurred() || (is_signed(f) && (long long)bits != (int32_t)bits)) {
		PyErr_Clear();
		return out_of_range(f, value);
	}
	if (!strcmp(f->name, "size") && bits > PEV_ATTR_SIZE_MAX)
		return refused(PyExc_OverflowError, "perf_event_attr.size takes 0 to %d, not %R",
			       PEV_ATTR_SIZE_MAX, value);
	return pev_attr_set(&self->buf, f->name, bits) ? out_of_range(f, value) : 0;
}

/* ---- making and copying --------------------------------------------------------- */

/* "…; did you mean 'type'?" */
static int no_such_field(PyObject *exception, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	char near[64];

	if (!text)
		return -1;
	PyErr_Clear();
	if (pev_near_field_(text, near, sizeof(near)))
		return refused(exception, "perf_event_attr has no field %R; did you mean '%s'?", name, near);
	return refused(exception, "perf_event_attr has no field %R", name);
}

/* A class that is derived from this one may have attributes of its own. */
static int attr_setattr(PyObject *self, PyObject *name, PyObject *value)
{
	int rc = PyObject_GenericSetAttr(self, name, value);
	const char *text;
	uint64_t old;

	if (!rc || !value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !PyUnicode_Check(name))
		return rc;
	text = PyUnicode_AsUTF8AndSize(name, NULL);
	return text && !pev_attr_get(&((struct attr_object *)self)->buf.attr, text, &old) ? rc :
		       no_such_field(PyExc_AttributeError, name);
}

/* Fields that the constructor is given: a wrong one is a wrong argument. */
static int set_all(PyObject *self, PyObject *kw)
{
	PyObject *name, *value;
	Py_ssize_t pos = 0;

	if (kw && PyDict_GetItemString(kw, "sample_freq") && PyDict_GetItemString(kw, "sample_period"))
		return refused(PyExc_ValueError, "sample_freq and sample_period are one field of perf_event_attr: give one of them");
	while (kw && PyDict_Next(kw, &pos, &name, &value)) {
		if (!PyObject_SetAttr(self, name, value))
			continue;
		if (PyErr_ExceptionMatches(PyExc_AttributeError) && !PyObject_HasAttr(self, name))
			return no_such_field(PyExc_TypeError, name);
		return -1;
	}
	return 0;
}

static PyObject *attr_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	struct attr_object *self = (struct attr_object *)PyType_GenericAlloc(type, 0);

	if (self)
		pev_attr_buf_init(&self->buf, PERF_TYPE_HARDWARE, 0);
	return (PyObject *)self;
}

static int attr_init(PyObject *self, PyObject *args, PyObject *kw)
{
	if (PyTuple_Size(args))
		return refused(PyExc_TypeError, "perf_event_attr() takes fields by keyword: "
			       "perf_event_attr(type=..., config=...)");
	return set_all(self, kw);
}

PyObject *attr_new_from(struct state *st, const struct perf_event_attr *attr, PyObject *keep)
{
	struct attr_object *self =
		(struct attr_object *)PyType_GenericAlloc((PyTypeObject *)st->attr_type, 0);

	if (!self)
		return NULL;
	pev_attr_buf_copy(&self->buf, attr);
	self->keep = new_ref(keep);
	return (PyObject *)self;
}

struct attr_object *attr_of(struct state *st, PyObject *o)
{
	int is = PyObject_IsInstance(o, st->attr_type);

	if (is > 0)
		return (struct attr_object *)o;
	if (is == 0)
		PyErr_Format(PyExc_TypeError, "expected a perf_event_attr, not %R", o);
	return NULL;
}

static PyObject *attr_copy(PyObject *o, PyObject *unused)
{
	struct attr_object *self = (struct attr_object *)o, *new;

	new = (struct attr_object *)PyType_GenericAlloc(Py_TYPE(o), 0);
	if (!new)
		return NULL;
	new->buf = self->buf;
	new->keep = new_ref(self->keep);
	return (PyObject *)new;
}

static PyObject *attr_bytes(PyObject *o, PyObject *unused)
{
	struct attr_object *self = (struct attr_object *)o;
	uint32_t size = self->buf.attr.size;

	/* a size that is set to a wrong value is passed on, for the kernel to refuse */
	if (size > sizeof(self->buf))
		size = sizeof(self->buf);
	return PyBytes_FromStringAndSize((char *)&self->buf, (Py_ssize_t)size);
}

/* ---- comparison, text ----------------------------------------------------------- */

/* Whether field f is shown: of a union, only the member that the attr uses. */
static bool is_shown(const struct perf_event_attr *attr, const struct pev_attr_field *f)
{
	static const struct { const char *name; int other; } rows[] = {
		{ "sample_period", 0 }, { "sample_freq", 1 },
		{ "wakeup_events", 0 }, { "wakeup_watermark", 1 },
		{ "bp_addr", 1 }, { "config1", 0 }, { "bp_len", 1 }, { "config2", 0 },
		{ "kprobe_func", -1 }, { "uprobe_path", -1 }, { "kprobe_addr", -1 },
		{ "probe_offset", -1 }, { "size", -1 },
		{ "aux_start_paused", -1 }, { "aux_pause", -1 }, { "aux_resume", -1 },
	};
	int other = !strncmp(f->name, "sample_", 7) ? attr->freq :
		    !strncmp(f->name, "wakeup_", 7) ? attr->watermark :
						      attr->type == PERF_TYPE_BREAKPOINT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].name, f->name))
			return rows[i].other == other;
	return true;
}

/* Such as "perf_event_attr(type=1, config=2, inherit=1)": the type, and all fields that are not 0. */
static PyObject *attr_repr(PyObject *o)
{
	struct attr_object *self = (struct attr_object *)o;
	char text[4096] = "perf_event_attr(";
	size_t n = strlen(text);
	const struct pev_attr_field *f;
	uint64_t value;

	for (unsigned int i = 0; (f = pev_attr_field_at(i)); i++) {
		pev_attr_get(&self->buf.attr, f->name, &value);
		if ((!value && strcmp(f->name, "type")) || !is_shown(&self->buf.attr, f))
			continue;
		if (is_signed(f))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%d, ", f->name,
					      (int32_t)value);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      f->width == 64 && value > 65535 ? "%s=%#llx, " : "%s=%llu, ",
					      f->name, (unsigned long long)value);
		if (n >= sizeof(text))
			n = sizeof(text) - 1;
	}
	strcpy(text + n - 2, ")");
	return text_of(text);
}

static PyObject *attr_compare(PyObject *a, PyObject *b, int op)
{
	struct attr_object *x = (struct attr_object *)a, *y = (struct attr_object *)b;
	PyTypeObject *type = Py_TYPE(a);
	bool same;

	if ((op != Py_EQ && op != Py_NE) || !PyType_IsSubtype(Py_TYPE(b), type))
		return new_ref(Py_NotImplemented);
	same = !memcmp(&x->buf, &y->buf, sizeof(x->buf));
	return PyBool_FromLong(same == (op == Py_EQ));
}

static PyObject *attr_dir(PyObject *o, PyObject *unused)
{
	const struct pev_attr_field *f;
	PyObject *dict = PyDict_New(), *value;

	for (unsigned int i = 0; dict && (f = pev_attr_field_at(i)); i++) {
		value = PyObject_GetAttrString(o, f->name);
		if (!value || PyDict_SetItemString(dict, f->name, value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static void attr_dealloc(PyObject *o)
{
	Py_XDECREF(((struct attr_object *)o)->keep);
	free_object(o);
}

static PyMethodDef methods[] = {
	{ "copy", attr_copy, METH_NOARGS, "copy()\n--\n\nA copy that can be changed by itself." },
	{ "__copy__", attr_copy, METH_NOARGS, NULL },
	{ "__deepcopy__", attr_copy, METH_O, NULL },
	{ "__bytes__", attr_bytes, METH_NOARGS, "The struct as the kernel gets it." },
	{ "asdict", attr_dir, METH_NOARGS, "asdict()\n--\n\nAll fields and their values." },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc,
	  "perf_event_attr(**fields)\n--\n\n"
	  "The kernel's struct perf_event_attr: the event, and the content of its samples.\n\n"
	  "Every field is an attribute, bit fields too; all are 0 unless given. A value that\n"
	  "does not fit raises OverflowError. Fields of a union share their value, as in C." },
	{ Py_tp_new, attr_new },
	{ Py_tp_init, attr_init },
	{ Py_tp_dealloc, attr_dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_setattro, attr_setattr },
	{ Py_tp_repr, attr_repr },
	{ Py_tp_richcompare, attr_compare },
	{ Py_tp_hash, PyObject_HashNotImplemented },
	{ Py_tp_getset, NULL },
	{ 0, NULL },
};

static PyGetSetDef *fields_table(struct state *st)
{
	const struct pev_attr_field *f;
	PyGetSetDef *table;
	unsigned int n = 0;

	while (pev_attr_field_at(n))
		n++;
	table = new_table(st, n);
	for (unsigned int i = 0; table && (f = pev_attr_field_at(i)); i++)
		table[i] = (PyGetSetDef){ f->name, attr_get, attr_set, f->what, (void *)f };
	return table;
}

int add_attr(PyObject *module, struct state *st)
{
	enum { N = sizeof(slots) / sizeof(*slots) };
	PyType_Slot own[N];
	PyType_Spec spec = { PYPERF_NAME ".perf_event_attr", sizeof(struct attr_object), 0,
			     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, own };

	memcpy(own, slots, sizeof(slots));
	own[N - 2].pfunc = fields_table(st);
	if (!own[N - 2].pfunc)
		return -1;
	st->attr_type = add_type(module, "perf_event_attr", &spec, NULL);
	return st->attr_type ? 0 : -1;
}
