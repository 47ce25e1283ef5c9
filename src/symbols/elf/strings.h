/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings, each stored once. Keys are pointers that stay valid as long as the strings are used: to names in a
 * file, or to entries with names. A hash table with open addressing.
 */
#ifndef SYMBOLS_ELF_STRINGS_H
#define SYMBOLS_ELF_STRINGS_H

#include "symbols/jail/parser.h"

struct string_slot {
	const void *key;         /* NULL: free */
	uint32_t at;
};

struct strings {
	struct parser_bytes text;    /* begins with an empty string */
	struct string_slot *slots;
	size_t n, cap;               /* cap: a power of two */
};

/* The offset of the string for that key, which may be known to have none (0). */
bool strings_find(const struct strings *s, const void *key, uint32_t *at);
/* Adds text for that key; NULL: it has none. 0, -ENOMEM or -E2BIG. */
int strings_put(struct strings *s, const void *key, const char *text, uint32_t *at);
/* Uses the same string for another key. */
int strings_alias(struct strings *s, const void *key, uint32_t at);
void strings_free(struct strings *s);
#endif
