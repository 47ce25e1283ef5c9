/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as numbers, for the keys of rows: each text is kept once. */
#ifndef TABLE_WORDS_H
#define TABLE_WORDS_H

#include "table/groups.h"

/* Initialized by zeros. */
struct words {
	struct groups all;       /* of struct word */
	struct word **v;
	size_t n;
	size_t most;             /* texts; 0: WORDS_MOST */
	bool full;               /* there were others */
};
enum { WORD_SIZE = 128, WORDS_OTHERS = 0, WORDS_MOST = 1 << 16 };   /* bytes with the final NUL; the number of all texts above the limit */

/* The number of a text; WORDS_OTHERS: there are too many, or out of memory. words_number() cuts it to WORD_SIZE. */
uint64_t words_add(struct words *w, const char *text, size_t len);
uint64_t words_number(struct words *w, const char *text);
/* WORDS_OTHERS: it has none. */
uint64_t words_find(const struct words *w, const char *text, size_t len);
/* "[others]" for WORDS_OTHERS. */
const char *words_text(const struct words *w, uint64_t number);
/* The text of another number, which may have NULs. */
const char *words_bytes(const struct words *w, uint64_t number, size_t *len);
void words_free(struct words *w);
#endif
