/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a column: each different one has a number, and rows have numbers. A batch gets an
 * unchangeable copy of the texts so far; batches between which no text was new share it. Memory
 * grows with new texts, not with rows, and is given back between batches if there were many.
 *
 * Arrow's text is UTF-8. Bytes that are not are written as \xNN, so that different texts stay
 * different.
 */
#ifndef COLUMNS_DICTIONARY_H
#define COLUMNS_DICTIONARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text i: bytes[offsets[i]] to bytes[offsets[i + 1]]. */
struct texts {
	_Atomic unsigned int refs;
	uint32_t n;
	const int32_t *offsets;
	const char *bytes;
};

struct texts *texts_keep(struct texts *t);
void texts_release(struct texts *t);

struct dictionary {
	uint32_t *slots;                /* number + 1 by hash, open addressing; 0: free */
	uint32_t mask;
	uint32_t n, room;
	uint32_t *hashes;
	int32_t *offsets;               /* room + 1 */
	char *bytes;
	size_t bytes_room;
	char *escaped;                  /* scratch for texts that are not UTF-8 */
	size_t escaped_room;
	struct texts *taken;            /* the last copy; NULL: none, or texts came since */
};

/* 0 or -ENOMEM. */
int dictionary_begin(struct dictionary *d);
void dictionary_end(struct dictionary *d);
/* The number of a text; -1: no memory. */
int32_t dictionary_number(struct dictionary *d, const char *text, size_t len);
/* The number of a text in UTF-8; -1: it has none. */
int32_t dictionary_find(const struct dictionary *d, const char *text, size_t len);
/* The texts so far: a reference for the caller. NULL: no memory. */
struct texts *dictionary_take(struct dictionary *d);
/* Between two batches: forgets the texts if there are many, as among file names most never come again. */
void dictionary_rest(struct dictionary *d);
#endif
