/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a batch, an event or a loss, and the iterator over them. The iterator uses two objects by
 * turns, as long as the program keeps none: while it makes the next row, the loop's variable still has the last one.
 */
#include "python/batch.h"

struct row_object {
	PyObject_HEAD
	const struct fields *names;   /* those of the batch; here: see fields.h */
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
	r->names = &batch->names;
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

static PyObject *row_value(PyObject *self, size_t column)
{
	const struct row_object *r = (struct row_object *)self;

	return value_object(r->batch->batch, column, r->row);
}

/* "sched:sched_switch", or NULL: tables have no events. */
static PyObject *row_title(PyObject *self)
{
	PyObject *column = PyDict_GetItemString(fields_of(self)->index, "_event");
	PyObject *name = column ? row_value(self, PyLong_AsSize_t(column)) : NULL;

	PyErr_Clear();
	if (name && !PyUnicode_Check(name))
		Py_CLEAR(name);
	return name;
}

/* "__array__", "_repr_html_": programs look whether there is one. */
static bool row_refuse(PyObject *self, PyObject *name, PyObject *error)
{
	if (error == PyExc_AttributeError && PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) == '_')
		return true;
	PyErr_Clear();
	return false;
}

static const struct fields_kind row_kind = { .value = row_value, .title = row_title, .refuse = row_refuse };

int fields_of_columns(struct fields *names, const struct columns *columns)
{
	PyObject *list = PyList_New(0);
	int rc = list ? 0 : -1;

	for (size_t i = 0; !rc && i < columns->n; i++) {
		PyObject *name = column_name_text(columns->v[i].name);

		rc = name ? PyList_Append(list, name) : -1;
		Py_XDECREF(name);
	}
	if (!rc)
		rc = fields_make(names, &row_kind, list, columns->n, NULL);
	Py_XDECREF(list);
	return rc;
}

static PyObject *row_getattr(PyObject *self, PyObject *name)
{
	const ssize_t i = fields_at(fields_of(self), name);

	return i >= 0 ? row_value(self, (size_t)i) : fields_getattr_slow(self, name);
}

static PyObject *row_repr(PyObject *self)
{
	PyObject *dict = fields_to_dict(self, NULL), *text = dict ? PyUnicode_FromFormat("<perf_prof.Event %R>", dict) : NULL;

	Py_XDECREF(dict);
	return text;
}

static PyMethodDef methods[] = {
	FIELDS_METHODS,
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A row of a batch: event.NAME or event[\"NAME\"]; None where the event lacks the field." },
	{ Py_tp_dealloc, row_dealloc }, { Py_tp_repr, row_repr }, { Py_tp_getattro, row_getattr },
	{ Py_tp_methods, methods }, FIELDS_SLOTS,
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
