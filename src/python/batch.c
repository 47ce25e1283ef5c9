/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batch.h"

#include "columns/concat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

PyObject *column_name_text(const char *name)
{
	PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "backslashreplace");

	if (text)
		PyUnicode_InternInPlace(&text);
	return text;
}

/* ---- capsules ----------------------------------------------------------------------- */

CAPSULE(ArrowSchema, arrow_schema)
CAPSULE(ArrowArray, arrow_array)

PyObject *capsule_schema(const struct columns *columns, ssize_t column)
{
	struct ArrowSchema *schema = malloc(sizeof(*schema));

	if (!schema || (column < 0 ? export_schema(columns, schema) : export_column_schema(columns, (size_t)column, schema))) {
		free(schema);
		return PyErr_NoMemory();
	}
	return enclose_arrow_schema(schema);
}

static PyObject *capsule_array(struct batch *b, ssize_t column, size_t from, size_t n)
{
	struct ArrowArray *array = malloc(sizeof(*array));

	if (!array || (column < 0 ? export_batch(b, from, n, array) : export_column(b, (size_t)column, from, n, array))) {
		free(array);
		return PyErr_NoMemory();
	}
	return enclose_arrow_array(array);
}

PyObject *arrow_array(struct batch *b, ssize_t column, size_t from, size_t n, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "requested_schema", NULL };
	PyObject *unused = NULL, *schema, *array, *both;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &unused))
		return NULL;
	schema = capsule_schema(b->columns, column);
	array = schema ? capsule_array(b, column, from, n) : NULL;
	both = array ? PyTuple_Pack(2, schema, array) : NULL;
	Py_XDECREF(schema);
	Py_XDECREF(array);
	return both;
}

/* ---- rows --------------------------------------------------------------------------- */

/*
 * One row of a batch, an event or a loss, and the iterator over them. The iterator uses two objects by
 * turns, as long as the program keeps none: while it makes the next row, the loop's variable still has the last one.
 */

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

static PyObject *row_object_new(struct batch_object *batch, size_t row)
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
	int rc;

	for (size_t i = 0; list && i < columns->n; i++)
		list = list_put(list, column_name_text(columns->v[i].name));
	rc = list ? fields_make(names, &row_kind, list, columns->n, NULL) : -1;
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

static PyMethodDef row_methods[] = {
	FIELDS_METHODS,
	{ NULL },
};

static PyType_Slot row_slots[] = {
	{ Py_tp_doc, "A row of a batch: event.NAME or event[\"NAME\"]; None where the event lacks the field." },
	{ Py_tp_dealloc, row_dealloc }, { Py_tp_repr, row_repr }, { Py_tp_getattro, row_getattr },
	{ Py_tp_methods, row_methods }, FIELDS_SLOTS,
	{ 0, NULL },
};

static PyType_Spec row_spec = {
	.name = "perf_prof.Event", .basicsize = sizeof(struct row_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = row_slots,
};

/* ---- the iterator ------------------------------------------------------------------- */

static PyObject *row_iterator_new(struct batch_object *batch)
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

static int row_type_add(PyObject *module, struct batch_types *types)
{
	types->row = type_add(module, &row_spec, "Event");
	types->iterator = type_add(module, &iterator_spec, NULL);
	return types->row && types->iterator ? 0 : -1;
}

/* ---- batches ------------------------------------------------------------------------ */

PyObject *batch_object_new(const struct batch_types *types, struct batch *batch, size_t from, size_t n,
			   const struct fields *names)
{
	struct batch_object *b = PyObject_New(struct batch_object, types->batch);

	if (!b) {
		batch_release(batch);
		return NULL;
	}
	b->types = types;
	b->batch = batch;
	b->from = from;
	b->n = n;
	b->names = fields_keep(names);
	return (PyObject *)b;
}

static void batch_dealloc(PyObject *self)
{
	struct batch_object *b = (struct batch_object *)self;
	PyTypeObject *type = Py_TYPE(self);

	batch_release(b->batch);
	fields_release(&b->names);
	PyObject_Free(self);
	Py_DECREF(type);
}

static Py_ssize_t batch_len(PyObject *self)
{
	return (Py_ssize_t)((struct batch_object *)self)->n;
}

static PyObject *no_column(struct batch_object *b, PyObject *name)
{
	PyObject *comma = PyUnicode_FromString(", "), *all = comma ? PyUnicode_Join(comma, b->names.tuple) : NULL;

	if (all)
		PyErr_Format(PyExc_KeyError, "no column %R; there are: %U", name, all);
	Py_XDECREF(comma);
	Py_XDECREF(all);
	return NULL;
}

static PyObject *column_named(struct batch_object *b, PyObject *name)
{
	PyObject *index = PyDict_GetItemWithError(b->names.index, name);
	size_t i;

	if (!index)
		return PyErr_Occurred() ? NULL : no_column(b, name);
	i = PyLong_AsSize_t(index);
	return column_object_new(b->types, b->batch, i, b->from, b->n, PyTuple_GET_ITEM(b->names.tuple, (Py_ssize_t)i));
}

static PyObject *batch_item(PyObject *self, Py_ssize_t i)
{
	struct batch_object *b = (struct batch_object *)self;

	if (i < 0 || (size_t)i >= b->n) {
		PyErr_SetString(PyExc_IndexError, "row out of range");
		return NULL;
	}
	return row_object_new(b, (size_t)i);
}

int slice_rows(PyObject *key, size_t rows, const char *what, size_t *from, size_t *n)
{
	Py_ssize_t start, stop, step;

	if (PySlice_Unpack(key, &start, &stop, &step))
		return -1;
	*n = (size_t)PySlice_AdjustIndices((Py_ssize_t)rows, &start, &stop, step);
	*from = (size_t)start;
	if (step != 1)
		PyErr_Format(PyExc_ValueError, "a slice of a %s has step 1, not %zd", what, step);
	return step != 1 ? -1 : 0;
}

static PyObject *slice_of(struct batch_object *b, PyObject *key)
{
	size_t from, n;

	return slice_rows(key, b->n, "batch", &from, &n) ? NULL
							 : batch_object_new(b->types, batch_keep(b->batch), b->from + from, n, &b->names);
}

static PyObject *batch_subscript(PyObject *self, PyObject *key)
{
	struct batch_object *b = (struct batch_object *)self;
	Py_ssize_t i;

	if (PyUnicode_Check(key))
		return column_named(b, key);
	if (PySlice_Check(key))
		return slice_of(b, key);
	i = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (i == -1 && PyErr_Occurred())
		return NULL;
	return batch_item(self, i < 0 ? i + (Py_ssize_t)b->n : i);
}

static PyObject *batch_iter(PyObject *self)
{
	return row_iterator_new((struct batch_object *)self);
}

static PyObject *batch_to_pylist(PyObject *self, PyObject *unused)
{
	struct batch_object *b = (struct batch_object *)self;
	PyObject *list = PyList_New((Py_ssize_t)b->n);

	for (size_t i = 0; list && i < b->n; i++) {
		PyObject *row = row_object_new(b, i), *dict = row ? fields_to_dict(row, NULL) : NULL;

		Py_XDECREF(row);
		if (dict)
			PyList_SET_ITEM(list, (Py_ssize_t)i, dict);
		else
			Py_CLEAR(list);
	}
	return list;
}

/* METHOD() of a batch is FUNCTION(batch) of a module of the package, which scripts for `perf-prof python` do not have. */
static PyObject *call_package(const char *method, const char *module, const char *function, PyObject *self)
{
	PyObject *imported = PyImport_ImportModule(module);
	PyObject *result = imported ? PyObject_CallMethod(imported, function, "O", self) : NULL;

	if (!imported && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError))
		PyErr_Format(PyExc_NotImplementedError, "%s() is there in programs that import perf_prof; a script for `perf-prof python` "
			     "takes polars.DataFrame(batch) or pyarrow.record_batch(batch)", method);
	Py_XDECREF(imported);
	return result;
}

static PyObject *batch_html(PyObject *self, PyObject *unused)
{
	return call_package("_repr_html_", "perf_prof._display", "batch_html", self);
}

#define FRAME(name) \
	static PyObject *batch_##name(PyObject *self, PyObject *unused)                              \
	{                                                                                            \
		return call_package(#name, "perf_prof._frames", #name, self);                        \
	}
FRAME(pl)
FRAME(df)
FRAME(arrow)

/* ---- Arrow ------------------------------------------------------------------------- */

static PyObject *batch_arrow_schema(PyObject *self, PyObject *unused)
{
	return capsule_schema(((struct batch_object *)self)->batch->columns, -1);
}

static PyObject *batch_arrow_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct batch_object *b = (struct batch_object *)self;

	return arrow_array(b->batch, -1, b->from, b->n, args, kwargs);
}

/* ---- the type ---------------------------------------------------------------------- */

static PyObject *batch_columns(PyObject *self, void *unused)
{
	return Py_NewRef(((struct batch_object *)self)->names.tuple);
}

static PyObject *batch_repr(PyObject *self)
{
	struct batch_object *b = (struct batch_object *)self;

	return PyUnicode_FromFormat("<perf_prof.Batch: %zu rows, %zu columns>", b->n, b->batch->columns->n);
}

static PyMethodDef methods[] = {
	{ "to_pylist", batch_to_pylist, METH_NOARGS, "The rows as a list of dicts." },
	{ "pl", batch_pl, METH_NOARGS, "The events as a polars.DataFrame." },
	{ "df", batch_df, METH_NOARGS, "The events as a pandas.DataFrame." },
	{ "arrow", batch_arrow, METH_NOARGS, "The events as a pyarrow.Table." },
	{ "_repr_html_", batch_html, METH_NOARGS, "The first rows as a table, for notebooks." },
	{ "__arrow_c_schema__", batch_arrow_schema, METH_NOARGS, "The columns as an Arrow schema." },
	{ "__arrow_c_array__", (PyCFunction)(void (*)(void))batch_arrow_array, METH_VARARGS | METH_KEYWORDS,
	  "The rows as an Arrow struct array, without a copy." },
	{ NULL },
};

static PyObject *batch_names_events(PyObject *self, void *unused)
{
	return PyBool_FromLong(!((struct batch_object *)self)->batch->columns->names_losses);
}

static PyGetSetDef getset[] = {
	{ "columns", batch_columns, NULL, "The names of the columns.", NULL },
	{ "_names_events", batch_names_events, NULL, "Whether _event names events, or causes of losses alone.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "Rows in columns: batch[\"NAME\"] is a column, batch[i] a row, batch[i:j] a batch. "
		     "It does not change, owns its memory, and outlives its session." },
	{ Py_tp_dealloc, batch_dealloc }, { Py_tp_repr, batch_repr }, { Py_tp_iter, batch_iter },
	{ Py_tp_methods, methods }, { Py_tp_getset, getset },
	{ Py_sq_length, batch_len }, { Py_sq_item, batch_item },
	{ Py_mp_length, batch_len }, { Py_mp_subscript, batch_subscript },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof.Batch", .basicsize = sizeof(struct batch_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

static int batch_type_add(PyObject *module, struct batch_types *types)
{
	types->batch = type_add(module, &spec, "Batch");
	return types->batch ? 0 : -1;
}

/* ---- concat() ----------------------------------------------------------------------- */

/* 0, or -1 with an exception. */
static int take_part(const struct batch_types *types, PyObject *item, const struct batch_object *first, struct batch_part *part)
{
	const struct batch_object *b = (struct batch_object *)item;
	char name[TYPE_NAME];

	if (!Py_IS_TYPE(item, types->batch)) {
		PyErr_Format(PyExc_TypeError, "concat() takes a list of batches, not of %s", type_name(Py_TYPE(item), name));
		return -1;
	}
	if (!batch_is_like(b->batch, first->batch)) {
		PyErr_Format(PyExc_ValueError, "concat() takes batches with the same columns; one has %R, another %R",
			     first->names.tuple, b->names.tuple);
		return -1;
	}
	*part = (struct batch_part){ b->batch, b->from, b->n };
	return 0;
}

static struct batch *join(const struct batch_part *parts, size_t n)
{
	struct batch *out;
	int rc;

	Py_BEGIN_ALLOW_THREADS
	rc = batch_concat(parts, n, &out);
	Py_END_ALLOW_THREADS
	if (rc == -EOVERFLOW)
		PyErr_SetString(PyExc_OverflowError, "the bytes of a column are more than 2 GiB");
	else if (rc)
		PyErr_NoMemory();
	return out;
}

/* The tuple keeps the batches. */
static PyObject *concat_tuple(const struct batch_types *types, PyObject *tuple)
{
	size_t n = (size_t)PyTuple_GET_SIZE(tuple);
	struct batch_part *parts = calloc(n + 1, sizeof(*parts));
	struct batch_object *first = n ? (struct batch_object *)PyTuple_GET_ITEM(tuple, 0) : NULL;
	struct batch *out = NULL;
	int rc = 0;

	if (!parts)
		PyErr_NoMemory();
	else if (!first)
		PyErr_SetString(PyExc_ValueError, "concat() of no batches");
	for (size_t i = 0; first && parts && !rc && i < n; i++)
		rc = take_part(types, PyTuple_GET_ITEM(tuple, (Py_ssize_t)i), first, &parts[i]);
	if (first && parts && !rc)
		out = join(parts, n);
	free(parts);
	return out ? batch_object_new(types, out, 0, out->rows, &first->names) : NULL;
}

PyObject *batches_concat(const struct batch_types *types, PyObject *batches)
{
	PyObject *tuple = PySequence_Tuple(batches), *out = tuple ? concat_tuple(types, tuple) : NULL;

	Py_XDECREF(tuple);
	return out;
}

/* ---- types -------------------------------------------------------------------------- */

int batch_types_add(PyObject *module, struct batch_types *types)
{
	static int (*const steps[])(PyObject *module, struct batch_types *types) = {
		row_type_add, column_type_add, batch_type_add,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i](module, types))
			return -1;
	return 0;
}

int batch_types_visit(struct batch_types *types, visitproc visit, void *arg)
{
	Py_VISIT(types->batch);
	Py_VISIT(types->column);
	Py_VISIT(types->row);
	Py_VISIT(types->iterator);
	return 0;
}

void batch_types_clear(struct batch_types *types)
{
	Py_CLEAR(types->batch);
	Py_CLEAR(types->column);
	Py_CLEAR(types->row);
	Py_CLEAR(types->iterator);
}
