/* SPDX-License-Identifier: Apache-2.0 */
/* Several batches as one: a copy. */
#ifndef COLUMNS_CONCAT_H
#define COLUMNS_CONCAT_H

#include "columns/batch.h"

/* Rows `from` to `from + n` of a batch. */
struct batch_part {
	struct batch *batch;
	size_t from, n;
};

/* Whether batches have the same columns: names, types and order. */
bool batch_is_like(const struct batch *a, const struct batch *b);
/* The rows of n parts, at least one, of batches that are alike. 0; -ENOMEM; or -EOVERFLOW: arrays of bytes of more than
 * 2 GiB in a column. */
int batch_concat(const struct batch_part *parts, size_t n, struct batch **out);
#endif
