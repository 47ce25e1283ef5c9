/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batch.h"

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

static PyObject *slice_of(struct batch_object *b, PyObject *key)
{
	Py_ssize_t start, stop, step, n;

	if (PySlice_Unpack(key, &start, &stop, &step))
		return NULL;
	n = PySlice_AdjustIndices((Py_ssize_t)b->n, &start, &stop, step);
	if (step != 1) {
		PyErr_Format(PyExc_ValueError, "a slice of a batch has step 1, not %zd", step);
		return NULL;
	}
	return batch_object_new(b->types, batch_keep(b->batch), b->from + (size_t)start, (size_t)n, &b->names);
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
	static char *names[] = { "requested_schema", NULL };
	struct batch_object *b = (struct batch_object *)self;
	PyObject *unused = NULL, *schema, *array, *both;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &unused))
		return NULL;
	schema = batch_arrow_schema(self, NULL);
	array = schema ? capsule_array(b->batch, -1, b->from, b->n) : NULL;
	both = array ? PyTuple_Pack(2, schema, array) : NULL;
	Py_XDECREF(schema);
	Py_XDECREF(array);
	return both;
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

int batch_type_add(PyObject *module, struct batch_types *types)
{
	types->batch = type_add(module, &spec, "Batch");
	return types->batch ? 0 : -1;
}
