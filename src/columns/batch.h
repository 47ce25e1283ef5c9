/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: rows in columns, which do not change any more. It owns its memory, and outlives the
 * stream. References are counted atomically, so that threads and consumers of Arrow can share it.
 *
 * The values of a batch lie in one block. Blocks of full batches are used again, because a fresh
 * one costs page faults: as much time as the decoding.
 */
#ifndef COLUMNS_BATCH_H
#define COLUMNS_BATCH_H

#include "columns/columns.h"
#include "table/words.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The texts of a column: each different one has a number, and rows have numbers. A batch gets an
 * unchangeable copy of the texts so far; batches between which no text was new share it. Memory
 * grows with new texts, not with rows, and is given back between batches if there were many.
 *
 * Arrow's text is UTF-8. Bytes that are not are written as \xNN, so that different texts stay
 * different.
 */

/* Text i: bytes[offsets[i]] to bytes[offsets[i + 1]]. */
struct texts {
	_Atomic unsigned int refs;
	uint32_t n;
	const int32_t *offsets;
	const char *bytes;
};

/* Initialized by zeros. */
struct dictionary {
	struct words words;
	size_t bytes;                   /* of all texts */
	char *escaped;                  /* scratch for texts that are not UTF-8 */
	size_t escaped_room;
	struct texts *taken;            /* the last copy; NULL: none, or texts came since */
};

struct texts *texts_keep(struct texts *t);
void texts_release(struct texts *t);
void dictionary_end(struct dictionary *d);
/* The number of a text; -1: no memory. */
int32_t dictionary_number(struct dictionary *d, const char *text, size_t len);
/* The number of a text in UTF-8; -1: it has none. */
int32_t dictionary_find(const struct dictionary *d, const char *text, size_t len);
/* The texts so far: a reference for the caller. NULL: no memory. */
struct texts *dictionary_take(struct dictionary *d);
/* Between two batches: forgets the texts if there are many, as among file names most never come again. */
void dictionary_rest(struct dictionary *d);

enum { BATCH_ROWS = 65536 };

struct block_pool;

/* A pool of blocks of `size` bytes. NULL: no memory. */
struct block_pool *block_pool_new(size_t size);
/* Blocks that are still used live on. */
void block_pool_free(struct block_pool *pool);
/* Aligned to 64 bytes. NULL: no memory. */
void *block_take(struct block_pool *pool);
/* The same with its own size, outside of pools. */
void *block_alloc(size_t size);
void block_free(void *block);

struct batch_column {
	const void *values;             /* rows of column_width(); BYTES: rows + 1 offsets */
	const uint8_t *valid;           /* a bit per row; NULL: all rows have values */
	size_t nulls;
	struct texts *texts;            /* TEXT */
	char *bytes;                    /* BYTES */
};

struct batch {
	_Atomic unsigned int refs;
	struct columns *columns;
	size_t rows;
	void *block;
	struct batch_column v[];        /* columns->n */
};

/* Without rows and memory for values, with one reference. NULL: no memory. */
struct batch *batch_new(struct columns *columns);
/* The same with that many rows, whose values are all 0, in one block: for numbers and texts. */
struct batch *batch_new_rows(struct columns *columns, size_t rows);
/* While such a batch is filled: the values of a column, and a row that has none. */
void *batch_values(struct batch *b, size_t column);
void batch_set_null(struct batch *b, size_t column, size_t row);
struct batch *batch_keep(struct batch *b);
void batch_release(struct batch *b);

static inline bool batch_is_null(const struct batch *b, size_t column, size_t row)
{
	return b->v[column].valid && !(b->v[column].valid[row / 8] >> (row % 8) & 1);
}
/* The text or bytes of a row. */
const char *batch_bytes(const struct batch *b, size_t column, size_t row, size_t *len);
/* The number of a row. Signed types are sign-extended; of COLUMN_F64, its bits. */
uint64_t batch_number(const struct batch *b, size_t column, size_t row);
#endif
