/* SPDX-License-Identifier: Apache-2.0 */
/* Some rows and columns of a batch: a copy. */
#ifndef COLUMNS_SELECTION_H
#define COLUMNS_SELECTION_H

#include "columns/batch.h"

/* The rows with these n numbers, and for each column of `columns` the values of the column from[] of the batch. NULL: no memory. */
struct batch *batch_select(const struct batch *b, const uint32_t *rows, size_t n, struct columns *columns, const uint32_t *from);
/* Bytes that the values of its rows take, without texts. */
size_t batch_size(const struct batch *b);
#endif
