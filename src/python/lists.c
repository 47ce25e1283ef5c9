/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of Python's lists: the rows of a command's tables, for consumers of Arrow. */
#include "python/session.h"

#include <stdlib.h>
#include <string.h>

/* A column while it is filled. */
struct filling {
	struct batch *batch;
	size_t column;
	struct dictionary texts;
};

static enum column_type type_of(const struct filling *f)
{
	return f->batch->columns->v[f->column].type;
}

static int put_number(struct filling *f, size_t row, PyObject *value)
{
	char *at = (char *)batch_values(f->batch, f->column) + row * column_width(type_of(f));
	uint64_t n = type_of(f) < COLUMN_S8 ? PyLong_AsUnsignedLongLong(value) : (uint64_t)PyLong_AsLongLong(value);

	switch (column_width(type_of(f))) {
	case 1:
		*(uint8_t *)at = (uint8_t)n;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)n;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)n;
		break;
	default:
		*(uint64_t *)at = n;
	}
	return n == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

static int put_double(struct filling *f, size_t row, PyObject *value)
{
	double *values = batch_values(f->batch, f->column);

	values[row] = PyFloat_AsDouble(value);
	return values[row] == -1 && PyErr_Occurred() ? -1 : 0;
}

static int put_text(struct filling *f, size_t row, PyObject *value)
{
	int32_t *values = batch_values(f->batch, f->column);
	Py_ssize_t len;
	const char *text = PyUnicode_AsUTF8AndSize(value, &len);

	if (!text)
		return -1;
	values[row] = dictionary_number(&f->texts, text, (size_t)len);
	return values[row] < 0 ? PyErr_NoMemory(), -1 : 0;
}

typedef int put_function(struct filling *f, size_t row, PyObject *value);

static put_function *put_of(enum column_type type)
{
	return type == COLUMN_TEXT ? put_text : type == COLUMN_F64 ? put_double : put_number;
}

/* -1 with an exception. */
static int type_named(PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);

	for (int i = 0; text && i < COLUMN_NTYPES; i++)
		if (i != COLUMN_BYTES && !strcmp(column_type_name((enum column_type)i), text))
			return i;
	if (text)
		PyErr_Format(PyExc_ValueError, "no type %R of a column", name);
	return -1;
}

static int fill_values(struct filling *f, put_function *put, PyObject *list)
{
	for (size_t row = 0; row < f->batch->rows; row++) {
		PyObject *value = PyList_GetItem(list, (Py_ssize_t)row);

		if (!value)
			return -1;
		if (value == Py_None)
			batch_set_null(f->batch, f->column, row);
		else if (put(f, row, value))
			return -1;
	}
	return 0;
}

/* A null has the number 0, so there is a text with it. */
static int end_texts(struct filling *f)
{
	struct batch_column *c = &f->batch->v[f->column];

	if (!f->texts.words.n && dictionary_number(&f->texts, "", 0) < 0)
		return -1;
	c->texts = dictionary_take(&f->texts);
	return c->texts ? 0 : -1;
}

static int fill_column(struct batch *b, size_t column, PyObject *list)
{
	struct filling f = { .batch = b, .column = column };
	put_function *put = put_of(type_of(&f));
	int rc;

	if (!PyList_Check(list) || (size_t)PyList_Size(list) != b->rows) {
		PyErr_Format(PyExc_ValueError, "column %s: expected a list of %zu values", b->columns->v[column].name, b->rows);
		return -1;
	}
	if (type_of(&f) != COLUMN_TEXT)
		return fill_values(&f, put, list);
	rc = fill_values(&f, put, list);
	if (!rc && end_texts(&f))
		rc = (PyErr_NoMemory(), -1);
	dictionary_end(&f.texts);
	return rc;
}

static struct columns *columns_of(PyObject *names, PyObject *kinds)
{
	size_t n = (size_t)PyTuple_GET_SIZE(names), i = 0;
	struct column *v = calloc(n + 1, sizeof(*v));
	struct columns *c = NULL;

	for (; v && i < n; i++) {
		int type = type_named(PyTuple_GET_ITEM(kinds, (Py_ssize_t)i));

		if (type < 0)
			break;
		v[i] = (struct column){ (char *)(uintptr_t)PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, (Py_ssize_t)i)), (enum column_type)type };
		if (!v[i].name)
			break;
	}
	if (v && i == n)
		c = columns_copy(v, n);
	if (!c && !PyErr_Occurred())
		PyErr_NoMemory();
	free(v);
	return c;
}

static int fill(struct batch *b, PyObject *lists)
{
	for (size_t i = 0; i < b->columns->n; i++)
		if (fill_column(b, i, PyTuple_GET_ITEM(lists, (Py_ssize_t)i)))
			return -1;
	return 0;
}

PyObject *batch_of_lists(PyObject *module, PyObject *args)
{
	PyObject *names, *kinds, *lists, *first, *made = NULL;
	struct fields shared = { 0 };
	struct columns *columns;
	struct batch *b;
	int names_events = true;

	if (!PyArg_ParseTuple(args, "O!O!O!|p", &PyTuple_Type, &names, &PyTuple_Type, &kinds, &PyTuple_Type, &lists, &names_events))
		return NULL;
	if (PyTuple_GET_SIZE(kinds) != PyTuple_GET_SIZE(names) || PyTuple_GET_SIZE(lists) != PyTuple_GET_SIZE(names)) {
		PyErr_SetString(PyExc_ValueError, "expected as many types and lists as names");
		return NULL;
	}
	columns = columns_of(names, kinds);
	if (!columns)
		return NULL;
	columns->names_losses = !names_events;
	first = columns->n ? PyTuple_GET_ITEM(lists, 0) : NULL;
	b = batch_new_rows(columns, first && PyList_Check(first) ? (size_t)PyList_Size(first) : 0);
	if (!b)
		PyErr_NoMemory();
	else if (!fill(b, lists) && !fields_of_columns(&shared, columns))
		made = batch_object_new(&native_of(module)->batches, batch_keep(b), 0, b->rows, &shared);
	batch_release(b);
	columns_release(columns);
	fields_release(&shared);
	return made;
}
