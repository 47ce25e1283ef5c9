/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a batch, an event or a loss, and the iterator over them. The iterator uses two objects by
 * turns, as long as the program keeps none: while it makes the next row, the loop's variable still has the last one.
 */
#include "pybatch/pybatch.h"

#include "base/nearest.h"

struct row_object {
	PyObject_HEAD
	struct batch_object *batch;
	size_t row;                  /* of the batch's memory */
};

struct iterator {
	PyObject_HEAD
	struct batch_object *batch;
	struct row_object *rows[2];
	size_t next;
};

static struct row_object *row_new(PyTypeObject *type, struct batch_object *batch, size_t row)
{
	struct row_object *r = PyObject_New(struct row_object, type);

	if (!r)
		return NULL;
	r->batch = (struct batch_object *)Py_NewRef((PyObject *)batch);
	r->row = batch->from + row;
	return r;
}

PyObject *row_object_new(struct batch_object *batch, size_t row)
{
	return (PyObject *)row_new(batch->types->row, batch, row);
}

static void row_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF((PyObject *)((struct row_object *)self)->batch);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Names that programs write are interned, as those of the columns are: their addresses are compared. */
static Py_ssize_t find(const struct row_object *r, PyObject *name)
{
	const struct column_names *names = &r->batch->names;
	PyObject *index;

	for (size_t i = 0; i < names->n; i++)
		if (names->v[i] == name)
			return (Py_ssize_t)i;
	index = PyDict_GetItemWithError(names->index, name);
	return index ? PyLong_AsSsize_t(index) : -1;
}

/* "sched:sched_switch", or NULL: tables have no events. */
static PyObject *event_name(const struct row_object *r)
{
	PyObject *column = PyUnicode_FromString("_event"), *name = NULL;
	Py_ssize_t i = column ? find(r, column) : -1;

	if (i >= 0)
		name = value_object(r->batch->batch, (size_t)i, r->row);
	Py_XDECREF(column);
	PyErr_Clear();
	if (name && !PyUnicode_Check(name))
		Py_CLEAR(name);
	return name;
}

/* Says which column is meant, if one has a similar name, as events of scripts do. */
static void no_field(const struct row_object *r, PyObject *error, PyObject *name)
{
	PyObject *names = r->batch->names.names, *event = event_name(r);
	const char *text = PyUnicode_AsUTF8(name);
	struct nearest n;

	PyErr_Clear();
	nearest_begin(&n, text ? text : "");
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
		nearest_offer(&n, PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i)));
	if (nearest_get(&n))
		PyErr_Format(error, "%V has no field '%U'; did you mean '%s'?", event, "the row", name, nearest_get(&n));
	else
		PyErr_Format(error, "%V has no field '%U'; %s.keys() lists them", event, "the row", name, event ? "event" : "row");
	Py_XDECREF(event);
}

/* "__array__", "_repr_html_": programs look whether there is one. */
static bool is_pythons_own(PyObject *name)
{
	return PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) == '_';
}

static PyObject *row_getattr(PyObject *self, PyObject *name)
{
	struct row_object *r = (struct row_object *)self;
	Py_ssize_t i = find(r, name);
	PyObject *value;

	if (i >= 0)
		return value_object(r->batch->batch, (size_t)i, r->row);
	value = PyErr_Occurred() ? NULL : PyObject_GenericGetAttr(self, name);
	if (!value && PyErr_ExceptionMatches(PyExc_AttributeError) && !is_pythons_own(name))
		no_field(r, PyExc_AttributeError, name);
	return value;
}

static PyObject *row_subscript(PyObject *self, PyObject *name)
{
	struct row_object *r = (struct row_object *)self;
	Py_ssize_t i = find(r, name);

	if (i >= 0)
		return value_object(r->batch->batch, (size_t)i, r->row);
	if (PyErr_Occurred())
		return NULL;
	if (PyUnicode_Check(name))
		no_field(r, PyExc_KeyError, name);
	else
		PyErr_SetObject(PyExc_KeyError, name);
	return NULL;
}

static PyObject *row_to_dict(PyObject *self, PyObject *unused)
{
	struct row_object *r = (struct row_object *)self;
	PyObject *dict = PyDict_New();

	for (size_t c = 0; dict && c < r->batch->batch->columns->n; c++) {
		PyObject *value = value_object(r->batch->batch, c, r->row);

		if (!value || PyDict_SetItem(dict, PyTuple_GET_ITEM(r->batch->names.names, (Py_ssize_t)c), value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *row_keys(PyObject *self, PyObject *unused)
{
	return PySequence_List(((struct row_object *)self)->batch->names.names);
}

static PyObject *row_values(PyObject *self, PyObject *unused)
{
	PyObject *dict = row_to_dict(self, NULL), *list = dict ? PyDict_Values(dict) : NULL;

	Py_XDECREF(dict);
	return list;
}

static PyObject *row_items(PyObject *self, PyObject *unused)
{
	PyObject *dict = row_to_dict(self, NULL), *list = dict ? PyDict_Items(dict) : NULL;

	Py_XDECREF(dict);
	return list;
}

/* As PerfEvent: pairs of names and values. */
static PyObject *row_iter(PyObject *self)
{
	PyObject *list = row_items(self, NULL), *iterator = list ? PyObject_GetIter(list) : NULL;

	Py_XDECREF(list);
	return iterator;
}

static PyObject *row_get(PyObject *self, PyObject *args)
{
	PyObject *name, *other = Py_None;
	Py_ssize_t i;

	if (!PyArg_ParseTuple(args, "O|O", &name, &other))
		return NULL;
	i = find((struct row_object *)self, name);
	if (i >= 0)
		return value_object(((struct row_object *)self)->batch->batch, (size_t)i, ((struct row_object *)self)->row);
	return PyErr_Occurred() ? NULL : Py_NewRef(other);
}

static int row_contains(PyObject *self, PyObject *name)
{
	return find((struct row_object *)self, name) >= 0 ? 1 : PyErr_Occurred() ? -1 : 0;
}

static Py_ssize_t row_length(PyObject *self)
{
	return PyTuple_GET_SIZE(((struct row_object *)self)->batch->names.names);
}

static PyObject *row_repr(PyObject *self)
{
	PyObject *dict = row_to_dict(self, NULL), *text = dict ? PyUnicode_FromFormat("<perf_prof.Event %R>", dict) : NULL;

	Py_XDECREF(dict);
	return text;
}

static PyMethodDef methods[] = {
	{ "to_dict", row_to_dict, METH_NOARGS, "The values by the names of the columns." },
	{ "get", row_get, METH_VARARGS, "get(name, default=None): the value of that column; without such a column, the default." },
	{ "keys", row_keys, METH_NOARGS, "The names of the columns." },
	{ "values", row_values, METH_NOARGS, "The values." },
	{ "items", row_items, METH_NOARGS, "Pairs of names and values." },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A row of a batch: event.NAME or event[\"NAME\"]; None where the event lacks the field." },
	{ Py_tp_dealloc, row_dealloc }, { Py_tp_repr, row_repr }, { Py_tp_getattro, row_getattr },
	{ Py_tp_methods, methods }, { Py_tp_iter, row_iter }, { Py_mp_subscript, row_subscript }, { Py_mp_length, row_length },
	{ Py_sq_contains, row_contains },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof.Event", .basicsize = sizeof(struct row_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

/* ---- the iterator ------------------------------------------------------------------- */

PyObject *row_iterator_new(struct batch_object *batch)
{
	struct iterator *it = PyObject_New(struct iterator, batch->types->iterator);

	if (!it)
		return NULL;
	it->batch = (struct batch_object *)Py_NewRef((PyObject *)batch);
	it->rows[0] = it->rows[1] = NULL;
	it->next = 0;
	return (PyObject *)it;
}

static void iterator_dealloc(PyObject *self)
{
	struct iterator *it = (struct iterator *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF((PyObject *)it->rows[0]);
	Py_XDECREF((PyObject *)it->rows[1]);
	Py_DECREF((PyObject *)it->batch);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *iterator_next(PyObject *self)
{
	struct iterator *it = (struct iterator *)self;

	struct row_object **r = &it->rows[it->next & 1];

	if (it->next >= it->batch->n)
		return NULL;
#ifndef Py_GIL_DISABLED   /* there another thread may be about to take a reference */
	if (*r && Py_REFCNT((PyObject *)*r) == 1) {
		(*r)->row = it->batch->from + it->next++;
		return Py_NewRef((PyObject *)*r);
	}
#endif
	Py_XDECREF((PyObject *)*r);
	*r = row_new(it->batch->types->row, it->batch, it->next);
	if (!*r)
		return NULL;
	it->next++;
	return Py_NewRef((PyObject *)*r);
}

static PyType_Slot iterator_slots[] = {
	{ Py_tp_dealloc, iterator_dealloc }, { Py_tp_iter, PyObject_SelfIter }, { Py_tp_iternext, iterator_next },
	{ 0, NULL },
};

static PyType_Spec iterator_spec = {
	.name = "perf_prof._native.EventIterator", .basicsize = sizeof(struct iterator),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = iterator_slots,
};

int row_type_add(PyObject *module, struct batch_types *types)
{
	types->row = type_add(module, &spec, "Event");
	types->iterator = type_add(module, &iterator_spec, NULL);
	return types->row && types->iterator ? 0 : -1;
}
