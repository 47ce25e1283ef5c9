/* SPDX-License-Identifier: Apache-2.0 */
#include "export/wordlist.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 512, MAX_WORDS = 4 };

struct number {
	uint64_t key[MAX_WORDS];
	uint32_t number;
};

/* ---- texts ----------------------------------------------------------------------------- */

uint32_t wordlist_of(struct words *w, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char small[SMALL], *buf = small;
	uint64_t number;

	if (4 * len + 1 > SMALL)   /* \xNN */
		buf = malloc(4 * len + 1);
	if (!buf) {
		w->full = true;
		return 0;
	}
	escape_terminal(text ? text : "", len, buf, buf == small ? SMALL : 4 * len + 1);
	w->most = UINT32_MAX;
	number = words_add(w, buf, strlen(buf));
	if (buf != small)
		free(buf);
	return number == WORDS_OTHERS ? 0 : (uint32_t)number - 1;
}

const char *wordlist_at(const struct words *w, uint32_t number)
{
	return number < w->n ? words_text(w, (uint64_t)number + 1) : "";
}

/* ---- keys ------------------------------------------------------------------------------ */

void numbers_free(struct numbers *n)
{
	groups_free(&n->all);
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
	const struct number *number = groups_find(&n->all, key, n->words * sizeof(*key));

	return number ? number->number : UINT32_MAX;
}

uint32_t numbers_of(struct numbers *n, const uint64_t *key, bool *fresh)
{
	uint32_t known = numbers_find(n, key);
	struct number *number;

	*fresh = false;
	if (known != UINT32_MAX)
		return known;
	number = make_row(n) ? groups_get(&n->all, key, n->words * sizeof(*key), sizeof(*number), UINT32_MAX) : NULL;
	if (!number) {
		n->lost = true;
		return 0;
	}
	number->number = n->n;
	*fresh = true;
	return n->n++;
}
