/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUX area of a Ring. Python gets copies of the trace, never memory of the mapping. aux_tail
 * advances as data is handed out, in order.
 */
#include "pyperf/pyperf.h"

#include <errno.h>
#include <string.h>

/* The first `most` bytes of the two pieces. */
static PyObject *copy(const struct pev_aux_data *d, uint64_t most)
{
	size_t first = d->size[0] < most ? d->size[0] : most;
	size_t second = d->size[1] < most - first ? d->size[1] : most - first;
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(first + second));
	char *to = bytes ? PyBytes_AsString(bytes) : NULL;

	if (!to)
		return bytes;
	if (first)
		memcpy(to, d->data[0], first);
	if (second)
		memcpy(to + first, d->data[1], second);
	return bytes;
}

static void consume(struct aux *a, uint64_t bytes)
{
	pev_aux_consume(a->area, bytes);
	a->taken += bytes;
}

PyObject *aux_read(struct aux *a, Py_ssize_t most)
{
	struct pev_aux_data data;
	uint64_t there = pev_aux_peek(a->area, &data);
	PyObject *bytes;

	if (most >= 0 && (uint64_t)most < there)
		there = (uint64_t)most;
	bytes = copy(&data, there);
	if (bytes && !a->snapshot)
		consume(a, there);
	return bytes;
}

PyObject *aux_chunk(struct aux *a, uint64_t offset, uint64_t size)
{
	struct pev_aux_data data;
	uint64_t there = pev_aux_peek(a->area, &data), behind = offset + size - a->taken;
	PyObject *bytes;

	/* an overwritable area has no order; in others the record must announce data that is there */
	if (pev_aux_piece(a->area, offset, size, &data) ||
	    (!a->snapshot && (offset - a->taken > there || behind > there || behind < size)))
		return PyErr_Format(PyExc_ValueError, "the AUX area does not hold %llu bytes at %llu (or "
				    "not any more)", (unsigned long long)size, (unsigned long long)offset);
	bytes = copy(&data, size);
	if (bytes && !a->snapshot)
		consume(a, behind);
	return bytes;
}
