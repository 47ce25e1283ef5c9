/* SPDX-License-Identifier: Apache-2.0 */
/* What Session.run() needs of batches and events: methods of sessions. */
#include "pymodule/session.h"

#include "columns/part.h"

#include <errno.h>
#include <stdlib.h>

/* The texts of a tuple of str, which live as long as it; ends with NULL. NULL with an exception. */
static const char **texts_of(PyObject *tuple)
{
	const char **texts = calloc((size_t)PyTuple_GET_SIZE(tuple) + 1, sizeof(*texts));

	if (!texts)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; texts && i < PyTuple_GET_SIZE(tuple); i++) {
		texts[i] = PyUnicode_Check(PyTuple_GET_ITEM(tuple, i)) ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i)) : NULL;
		if (texts[i])
			continue;
		PyErr_SetString(PyExc_TypeError, "expected the names of events");
		free(texts);
		texts = NULL;
	}
	return texts;
}

static PyObject *part_of(const struct native *native, struct part *p, const struct batch_object *whole)
{
	struct column_names names = { 0 };
	struct batch *rows;
	PyObject *batch;
	size_t events;

	if (part_take(p, whole->batch, whole->from, whole->n, &rows, &events))
		return PyErr_NoMemory();
	if (!rows)
		Py_RETURN_NONE;
	if (column_names_take(&names, p->columns)) {
		batch_release(rows);
		return NULL;
	}
	batch = batch_object_new(&native->host.batches, rows, 0, rows->rows, &names);
	column_names_release(&names);
	return batch;
}

PyObject *session_part(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct batch_object *b;
	PyObject *names, *batch = NULL;
	const char **texts;
	struct part p;
	int losses, rc;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "O!O!p", o->native->host.batches.batch, &b, &PyTuple_Type, &names, &losses))
		return NULL;
	if (!columns_are_like(b->batch->columns, session_columns(o->session)))
		return PyErr_Format(PyExc_TypeError, "expected a batch of the session");
	texts = texts_of(names);
	if (!texts)
		return NULL;
	rc = part_begin(&p, session_plans(o->session), texts, losses);
	free(texts);
	if (!rc)
		batch = part_of(o->native, &p, b);
	else if (rc == -ENOENT)
		PyErr_Format(PyExc_ValueError, "%R: the session lacks one of these events", names);
	else
		PyErr_NoMemory();
	part_end(&p);
	return batch;
}

PyObject *session_words_get(PyObject *self, void *unused)
{
	struct session_object *o = (struct session_object *)self;
	const struct plans *plans = o->session ? session_plans(o->session) : NULL;
	PyObject *words = plans ? PyDict_New() : (PyObject *)session_opened(self);

	for (size_t i = 0; words && plans && i < plans->n; i++) {
		PyObject *name, *word;

		if (!plans->v[i].nreaders)
			continue;
		name = column_name_text(plans->v[i].name);
		word = name ? column_name_text(plans->v[i].word) : NULL;
		if (!word || PyDict_SetItem(words, name, word))
			Py_CLEAR(words);
		Py_XDECREF(name);
		Py_XDECREF(word);
	}
	return words;
}
