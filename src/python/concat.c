/* SPDX-License-Identifier: Apache-2.0 */
/* perf_prof.concat(). */
#include "python/batch.h"

#include "columns/concat.h"

#include <errno.h>
#include <stdlib.h>

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
