/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, each once, numbered from 0 in the order they came: the string table of a file. */
#ifndef EXPORT_WORDLIST_H
#define EXPORT_WORDLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wordlist {
	struct word *all;            /* by text */
	struct word **at;            /* by number */
	uint32_t n;
	bool lost;                   /* one found no memory */
};

void wordlist_free(struct wordlist *s);
/* Its number; NULL is "". Control characters and what is no UTF-8 are escaped. Without memory 0. */
uint32_t wordlist_of(struct wordlist *s, const char *text);
const char *wordlist_at(const struct wordlist *s, uint32_t number);

/* Keys of a few words, each once, numbered from 0 in the order they came. */
struct numbers {
	size_t words;                /* of a key, 4 at most; set before the first one */
	struct number *all;
	uint32_t n;
	bool lost;
};

void numbers_free(struct numbers *n);
/* The key's number; *fresh: it had none. Without memory 0, and not fresh. */
uint32_t numbers_of(struct numbers *n, const uint64_t *key, bool *fresh);
#endif
