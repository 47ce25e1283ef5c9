/* SPDX-License-Identifier: Apache-2.0 */
#include "python/capsule.h"

#include "python/batch.h"

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

PyObject *capsule_array(struct batch *b, ssize_t column, size_t from, size_t n)
{
	struct ArrowArray *array = malloc(sizeof(*array));

	if (!array || (column < 0 ? export_batch(b, from, n, array) : export_column(b, (size_t)column, from, n, array))) {
		free(array);
		return PyErr_NoMemory();
	}
	return enclose_arrow_array(array);
}
