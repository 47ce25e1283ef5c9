/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batch.h"

#include <string.h>

PyObject *value_object(const struct batch *b, size_t column, size_t row)
{
	enum column_type type = b->columns->v[column].type;
	const char *text;
	size_t len;

	if (batch_is_null(b, column, row))
		Py_RETURN_NONE;
	if (type == COLUMN_F64)
		return PyFloat_FromDouble(((const double *)b->v[column].values)[row]);
	if (type < COLUMN_S8)
		return PyLong_FromUnsignedLongLong(batch_number(b, column, row));
	if (type < COLUMN_TEXT)
		return PyLong_FromLongLong((long long)batch_number(b, column, row));
	text = batch_bytes(b, column, row, &len);
	return type == COLUMN_TEXT ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)len)
				   : PyBytes_FromStringAndSize(text, (Py_ssize_t)len);
}

/* Names of a type here, in the struct module and in NumPy. */
static const struct {
	const char *name, *format, *dtype;
} kinds[COLUMN_NTYPES] = {
	[COLUMN_U8] = { "uint8", "B", "u1" }, [COLUMN_U16] = { "uint16", "H", "u2" },
	[COLUMN_U32] = { "uint32", "I", "u4" }, [COLUMN_U64] = { "uint64", "Q", "u8" },
	[COLUMN_S8] = { "int8", "b", "i1" }, [COLUMN_S16] = { "int16", "h", "i2" },
	[COLUMN_S32] = { "int32", "i", "i4" }, [COLUMN_S64] = { "int64", "q", "i8" },
	[COLUMN_TIMESTAMP] = { "timestamp", NULL, "datetime64[ns]" }, [COLUMN_F64] = { "float64", "d", "f8" },
	[COLUMN_TEXT] = { "text", NULL, NULL }, [COLUMN_BYTES] = { "bytes", NULL, NULL },
};

const char *column_type_name(enum column_type type)
{
	return kinds[type].name;
}

PyObject *column_object_new(const struct batch_types *types, struct batch *batch, size_t column, size_t from, size_t n,
			    PyObject *name)
{
	struct column_object *c = PyObject_New(struct column_object, types->column);

	if (!c)
		return NULL;
	c->batch = batch_keep(batch);
	c->column = column;
	c->from = from;
	c->n = n;
	c->shape = (Py_ssize_t)n;
	c->name = Py_NewRef(name);
	return (PyObject *)c;
}

static void column_dealloc(PyObject *self)
{
	struct column_object *c = (struct column_object *)self;
	PyTypeObject *type = Py_TYPE(self);

	batch_release(c->batch);
	Py_DECREF(c->name);
	PyObject_Free(self);
	Py_DECREF(type);
}

static enum column_type type_of(const struct column_object *c)
{
	return c->batch->columns->v[c->column].type;
}

static Py_ssize_t column_len(PyObject *self)
{
	return (Py_ssize_t)((struct column_object *)self)->n;
}

static PyObject *column_item(PyObject *self, Py_ssize_t i)
{
	struct column_object *c = (struct column_object *)self;

	if (i < 0 || (size_t)i >= c->n) {
		PyErr_SetString(PyExc_IndexError, "row out of range");
		return NULL;
	}
	return value_object(c->batch, c->column, c->from + (size_t)i);
}

static PyObject *column_subscript(PyObject *self, PyObject *key)
{
	struct column_object *c = (struct column_object *)self;
	size_t from, n;
	Py_ssize_t i;

	if (!PySlice_Check(key)) {
		i = PyNumber_AsSsize_t(key, PyExc_IndexError);
		return i == -1 && PyErr_Occurred() ? NULL : column_item(self, i < 0 ? i + (Py_ssize_t)c->n : i);
	}
	if (slice_rows(key, c->n, "column", &from, &n))
		return NULL;
	/* the same type, without looking for the module */
	return column_object_new(&(struct batch_types){ .column = Py_TYPE(self) }, c->batch, c->column, c->from + from, n, c->name);
}

/* The value of a row. Rows with one text share it: known[] has those that there are; NULL: none is kept. */
static PyObject *shared_value(const struct column_object *c, size_t row, PyObject **known)
{
	uint64_t number = known ? batch_number(c->batch, c->column, row) : 0;
	PyObject *value;

	if (known && known[number] && !batch_is_null(c->batch, c->column, row))
		return Py_NewRef(known[number]);
	value = value_object(c->batch, c->column, row);
	if (known && value && value != Py_None)
		known[number] = Py_NewRef(value);
	return value;
}

static PyObject *column_to_pylist(PyObject *self, PyObject *unused)
{
	struct column_object *c = (struct column_object *)self;
	size_t texts = type_of(c) == COLUMN_TEXT ? c->batch->v[c->column].texts->n : 0;
	PyObject *list = PyList_New((Py_ssize_t)c->n), **known = texts && texts < c->n ? PyMem_Calloc(texts, sizeof(*known)) : NULL;

	for (size_t i = 0; list && i < c->n; i++) {
		PyObject *value = shared_value(c, c->from + i, known);

		if (value)
			PyList_SET_ITEM(list, (Py_ssize_t)i, value);
		else
			Py_CLEAR(list);
	}
	for (size_t i = 0; known && i < texts; i++)
		Py_XDECREF(known[i]);
	PyMem_Free(known);
	return list;
}

/* ---- buffers ----------------------------------------------------------------------- */

static bool has_nulls(const struct column_object *c)
{
	for (size_t i = 0; c->batch->v[c->column].valid && i < c->n; i++)
		if (batch_is_null(c->batch, c->column, c->from + i))
			return true;
	return false;
}

static int column_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column_object *c = (struct column_object *)self;
	size_t width = column_width(type_of(c));

	view->obj = NULL;
	/* without a format, NumPy would take times of the day for numbers; a null would be 0 */
	if (type_of(c) >= COLUMN_TEXT || flags & PyBUF_WRITABLE || (type_of(c) == COLUMN_TIMESTAMP && flags & PyBUF_FORMAT) || has_nulls(c)) {
		PyErr_Format(PyExc_BufferError, "%U: %s", c->name, flags & PyBUF_WRITABLE ? "a batch cannot be changed"
			     : "only columns of numbers without nulls are buffers; to_pylist() and Arrow have the rest");
		return -1;
	}
	*view = (Py_buffer){
		.buf = (char *)c->batch->v[c->column].values + c->from * width, .obj = Py_NewRef(self),
		.len = (Py_ssize_t)(c->n * width), .itemsize = (Py_ssize_t)width, .readonly = 1, .ndim = 1,
		.format = flags & PyBUF_FORMAT ? (char *)kinds[type_of(c)].format : NULL,
		.shape = flags & PyBUF_ND ? &c->shape : NULL,
	};
	view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &view->itemsize : NULL;
	return 0;
}

/* NumPy's array: without a copy for numbers, of objects for the rest. Numbers with nulls are floats, as in pandas and pyarrow. */
static PyObject *column_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "dtype", "copy", NULL };
	struct column_object *c = (struct column_object *)self;
	PyObject *dtype = Py_None, *copy = Py_None, *numpy, *values, *array = NULL, *view;
	bool nulls;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &dtype, &copy))
		return NULL;
	numpy = PyImport_ImportModule("numpy");
	if (!numpy)
		return NULL;
	nulls = has_nulls(c);
	values = type_of(c) < COLUMN_TEXT && !nulls ? Py_NewRef(self) : column_to_pylist(self, NULL);
	if (values && type_of(c) < COLUMN_TEXT && nulls)
		array = PyObject_CallMethod(numpy, "array", "Os", values, type_of(c) == COLUMN_TIMESTAMP ? kinds[COLUMN_TIMESTAMP].dtype : "f8");
	else if (values && type_of(c) < COLUMN_TEXT && c->n)
		array = PyObject_CallMethod(numpy, "frombuffer", "Os", values, kinds[type_of(c)].dtype);
	else if (values && type_of(c) < COLUMN_TEXT)   /* frombuffer() refuses it */
		array = PyObject_CallMethod(numpy, "empty", "is", 0, kinds[type_of(c)].dtype);
	else if (values)
		array = PyObject_CallMethod(numpy, "array", "Os", values, "object");
	Py_XDECREF(values);
	Py_DECREF(numpy);
	if (array && (dtype != Py_None || copy == Py_True)) {
		view = dtype != Py_None ? PyObject_CallMethod(array, "astype", "O", dtype) : PyObject_CallMethod(array, "copy", NULL);
		Py_DECREF(array);
		array = view;
	}
	return array;
}

/* ---- Arrow ------------------------------------------------------------------------- */

static PyObject *column_arrow_schema(PyObject *self, PyObject *unused)
{
	struct column_object *c = (struct column_object *)self;

	return capsule_schema(c->batch->columns, (ssize_t)c->column);
}

static PyObject *column_arrow_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct column_object *c = (struct column_object *)self;

	return arrow_array(c->batch, (ssize_t)c->column, c->from, c->n, args, kwargs);
}

/* ---- the type ---------------------------------------------------------------------- */

static PyObject *column_name(PyObject *self, void *unused)
{
	return Py_NewRef(((struct column_object *)self)->name);
}

static PyObject *column_type(PyObject *self, void *unused)
{
	return PyUnicode_FromString(kinds[type_of((struct column_object *)self)].name);
}

static PyObject *column_null_count(PyObject *self, void *unused)
{
	struct column_object *c = (struct column_object *)self;
	size_t nulls = 0;

	if (c->batch->v[c->column].nulls)
		for (size_t i = 0; i < c->n; i++)
			nulls += batch_is_null(c->batch, c->column, c->from + i);
	return PyLong_FromSize_t(nulls);
}

static PyObject *column_repr(PyObject *self)
{
	struct column_object *c = (struct column_object *)self;

	return PyUnicode_FromFormat("<perf_prof.Column %U: %zu %s>", c->name, c->n, kinds[type_of(c)].name);
}

static PyMethodDef methods[] = {
	{ "to_pylist", column_to_pylist, METH_NOARGS, "The values as a list; None for nulls." },
	{ "__array__", (PyCFunction)(void (*)(void))column_array, METH_VARARGS | METH_KEYWORDS,
	  "A NumPy array: of numbers without a copy, of objects for text and bytes. With nulls, numbers are floats, and nulls are NaN (NaT)." },
	{ "__arrow_c_schema__", column_arrow_schema, METH_NOARGS, "The type as an Arrow schema." },
	{ "__arrow_c_array__", (PyCFunction)(void (*)(void))column_arrow_array, METH_VARARGS | METH_KEYWORDS,
	  "The values as an Arrow array, without a copy." },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "name", column_name, NULL, "The name.", NULL },
	{ "type", column_type, NULL, "\"uint8\" to \"int64\", \"timestamp\", \"float64\", \"text\" or \"bytes\".", NULL },
	{ "null_count", column_null_count, NULL, "How many rows have no value.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A column of a batch: a sequence of values, a buffer if they are numbers, an Arrow array." },
	{ Py_tp_dealloc, column_dealloc }, { Py_tp_repr, column_repr },
	{ Py_tp_methods, methods }, { Py_tp_getset, getset },
	{ Py_sq_length, column_len }, { Py_sq_item, column_item },
	{ Py_mp_length, column_len }, { Py_mp_subscript, column_subscript },
	{ Py_tp_iter, PySeqIter_New },      /* pandas takes for a list what has it */
	{ Py_bf_getbuffer, column_getbuffer },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof.Column", .basicsize = sizeof(struct column_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_SEQUENCE,
	.slots = slots,
};

int column_type_add(PyObject *module, struct batch_types *types)
{
	types->column = type_add(module, &spec, "Column");
	return types->column ? 0 : -1;
}
