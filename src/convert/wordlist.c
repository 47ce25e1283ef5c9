/* SPDX-License-Identifier: Apache-2.0 */
#include "convert/wordlist.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { SMALL = 512, MAX_WORDS = 4 };

struct word {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

struct number {
	UT_hash_handle hh;
	uint64_t key[MAX_WORDS];
	uint32_t number;
};

/* ---- texts ----------------------------------------------------------------------------- */

void wordlist_free(struct wordlist *s)
{
	struct word *string, *next;

	HASH_ITER(hh, s->all, string, next) {
		HASH_DEL(s->all, string);
		free(string);
	}
	*s = (struct wordlist){ 0 };
}

static uint32_t add(struct wordlist *s, const char *text, size_t len)
{
	struct word *string = NULL;

	HASH_FIND(hh, s->all, text, len, string);
	if (string)
		return string->number;
	string = malloc(sizeof(*string) + len + 1);
	if (!string) {
		s->lost = true;
		return 0;
	}
	memcpy(string->text, text, len + 1);
	string->number = s->n;
	HASH_ADD(hh, s->all, text, len, string);
	if (HASH_LOST(string)) {
		free(string);
		s->lost = true;
		return 0;
	}
	return s->n++;
}

uint32_t wordlist_of(struct wordlist *s, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char small[SMALL], *buf = small;
	uint32_t number;

	if (4 * len + 1 > SMALL)   /* \xNN */
		buf = malloc(4 * len + 1);
	if (!buf) {
		s->lost = true;
		return 0;
	}
	len = escape_terminal(text ? text : "", len, buf, buf == small ? SMALL : 4 * len + 1);
	number = add(s, buf, len);
	if (buf != small)
		free(buf);
	return number;
}

const struct word *wordlist_next(const struct wordlist *s, const struct word *last)
{
	return last ? last->hh.next : s->all;
}

const char *word_text(const struct word *string)
{
	return string->text;
}

/* ---- keys ------------------------------------------------------------------------------ */

void numbers_free(struct numbers *n)
{
	struct number *number, *next;

	HASH_ITER(hh, n->all, number, next) {
		HASH_DEL(n->all, number);
		free(number);
	}
	n->all = NULL;
	n->n = 0;
}

uint32_t numbers_of(struct numbers *n, const uint64_t *key, bool *fresh)
{
	size_t size = n->words * sizeof(*key);
	struct number *number = NULL;

	*fresh = false;
	HASH_FIND(hh, n->all, key, size, number);
	if (number)
		return number->number;
	number = calloc(1, sizeof(*number));
	if (number) {
		memcpy(number->key, key, size);
		number->number = n->n;
		HASH_ADD(hh, n->all, key, size, number);
	}
	if (!number || HASH_LOST(number)) {
		free(number);
		n->lost = true;
		return 0;
	}
	*fresh = true;
	return n->n++;
}
