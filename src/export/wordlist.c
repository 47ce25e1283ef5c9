/* SPDX-License-Identifier: Apache-2.0 */
#include "export/wordlist.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/room.h"

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
	HASH_FREE(s->all);
	free(s->at);
	*s = (struct wordlist){ 0 };
}

static uint32_t add(struct wordlist *s, const char *text, size_t len)
{
	struct word *word = NULL;

	HASH_FIND(hh, s->all, text, len, word);
	if (word)
		return word->number;
	word = ROOM_FOR_ONE(s->at, s->n) ? malloc(sizeof(*word) + len + 1) : NULL;
	if (word) {
		memcpy(word->text, text, len + 1);
		word->number = s->n;
		HASH_ADD(hh, s->all, text, len, word);
	}
	if (!word || HASH_LOST(word)) {
		free(word);
		s->lost = true;
		return 0;
	}
	s->at[s->n] = word;
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

const char *wordlist_at(const struct wordlist *s, uint32_t number)
{
	return number < s->n ? s->at[number]->text : "";
}

/* ---- keys ------------------------------------------------------------------------------ */

void numbers_free(struct numbers *n)
{
	HASH_FREE(n->all);
	free(n->rows);
	n->rows = NULL;
	n->n = 0;
}

/* Room for row n->n. The rows double at each power of two. */
static bool make_row(struct numbers *n)
{
	void *rows = n->rows;

	if (!n->row)
		return true;
	if (!n->n || !(n->n & (n->n - 1)))
		rows = reallocarray(rows, n->n ? 2 * (size_t)n->n : 1, n->row);
	if (!rows)
		return false;
	n->rows = rows;
	memset((char *)rows + n->n * n->row, 0, n->row);
	return true;
}

uint32_t numbers_find(const struct numbers *n, const uint64_t *key)
{
	struct number *number = NULL;

	HASH_FIND(hh, n->all, key, n->words * sizeof(*key), number);
	return number ? number->number : UINT32_MAX;
}

uint32_t numbers_of(struct numbers *n, const uint64_t *key, bool *fresh)
{
	size_t size = n->words * sizeof(*key);
	uint32_t known = numbers_find(n, key);
	struct number *number;

	*fresh = false;
	if (known != UINT32_MAX)
		return known;
	number = make_row(n) ? calloc(1, sizeof(*number)) : NULL;
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
