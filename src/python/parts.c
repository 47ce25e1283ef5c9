/* SPDX-License-Identifier: Apache-2.0 */
/* What Session.run() needs of batches and events: methods of sessions. */
#include "python/session.h"

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

static const char capsule_name[] = "perf_prof part";

struct kept_part {
	struct part part;
	struct columns *whole;          /* of the batches that it is for: session_choose() may change those of the session */
	struct fields names;
};

static void free_part(struct kept_part *k)
{
	part_end(&k->part);
	columns_release(k->whole);
	fields_release(&k->names);
	free(k);
}

static void capsule_end(PyObject *capsule)
{
	free_part(PyCapsule_GetPointer(capsule, capsule_name));
}

static int begin(struct kept_part *k, struct session *s, PyObject *names, bool losses)
{
	const char **texts = texts_of(names);
	int rc = texts ? part_begin(&k->part, session_plans(s), texts, losses) : -EINVAL;

	k->whole = columns_keep(session_columns(s));
	free(texts);
	if (rc == -ENOENT)
		PyErr_Format(PyExc_ValueError, "%R: the session lacks one of these events", names);
	else if (rc == -ENOMEM)
		PyErr_NoMemory();
	return rc ? -1 : fields_of_columns(&k->names, k->part.columns);
}

PyObject *session_part(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct kept_part *k;
	PyObject *names, *capsule;
	int losses;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &names, &losses))
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return PyErr_NoMemory();
	capsule = begin(k, o->session, names, losses) ? NULL : PyCapsule_New(k, capsule_name, capsule_end);
	if (!capsule)
		free_part(k);
	return capsule;
}

PyObject *session_rows(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct batch_object *b;
	struct kept_part *k;
	struct batch *rows;
	PyObject *capsule;
	size_t events;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "OO!", &capsule, o->native->host.batches.batch, &b))
		return NULL;
	k = PyCapsule_GetPointer(capsule, capsule_name);
	if (!k)
		return NULL;
	if (!columns_are_like(b->batch->columns, k->whole))
		return PyErr_Format(PyExc_TypeError, "expected a batch of the session, with the columns that it had");
	if (part_take(&k->part, b->batch, b->from, b->n, &rows, &events))
		return PyErr_NoMemory();
	if (!rows)
		Py_RETURN_NONE;
	return batch_object_new(&o->native->host.batches, rows, 0, rows->rows, &k->names);
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
