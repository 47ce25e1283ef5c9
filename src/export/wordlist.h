/* SPDX-License-Identifier: Apache-2.0 */
/* String tables: each text once, numbered from 0 in order of arrival. `full`: out of memory, a text is missing. */
#ifndef EXPORT_WORDLIST_H
#define EXPORT_WORDLIST_H

#include "table/words.h"

/* The number of a text; NULL is "". Escapes control characters and invalid UTF-8. 0 without memory. */
uint32_t wordlist_of(struct words *w, const char *text);
const char *wordlist_at(const struct words *w, uint32_t number);

/* Keys of a few words: each once, numbered from 0 in order of arrival, with a row of the caller's. */
struct numbers {
	size_t words;                /* words of a key, at most 4; set it first, */
	size_t row;                  /* and bytes of a row; 0: there are none */
	void *rows;
	struct groups all;
	uint32_t n;
	bool lost;
};

void numbers_free(struct numbers *n);
/* The number of a key; *fresh: it is new, and its row zero. Without memory 0, and not fresh. */
uint32_t numbers_of(struct numbers *n, const uint64_t *key, bool *fresh);
/* UINT32_MAX: there is no such key. */
uint32_t numbers_find(const struct numbers *n, const uint64_t *key);
#endif
