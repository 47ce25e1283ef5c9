/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for consumers of Arrow's C data interface: a struct of columns, without copying. */
#ifndef COLUMNS_EXPORT_H
#define COLUMNS_EXPORT_H

#include "columns/arrow.h"
#include "columns/batch.h"

/* Each has 0 or -ENOMEM, and *out is as the interface says: released by its release(). */
int export_schema(const struct columns *columns, struct ArrowSchema *out);
int export_column_schema(const struct columns *columns, size_t column, struct ArrowSchema *out);
/* `n` rows from row `from` on; they keep the batch alive. */
int export_batch(struct batch *b, size_t from, size_t n, struct ArrowArray *out);
int export_column(struct batch *b, size_t column, size_t from, size_t n, struct ArrowArray *out);
#endif
