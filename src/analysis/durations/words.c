/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/words.h"

#include "base/hash.h"
#include "base/room.h"

#include <string.h>

struct word {
	uint64_t number;         /* from 1 */
	UT_hash_handle hh;
	char text[];
};

static struct word *add(struct words *w, const char *text, size_t len)
{
	struct word *one;

	if (w->n >= (w->most ? w->most : WORDS_MOST) || !ROOM_FOR_ONE(w->v, w->n))
		return NULL;
	one = calloc(1, sizeof(*one) + len + 1);
	if (!one)
		return NULL;
	memcpy(one->text, text, len);
	one->number = w->n + 1;
	HASH_ADD_KEYPTR(hh, w->all, one->text, len, one);
	one = HASH_KEPT(one);
	if (one)
		w->v[w->n++] = one;
	return one;
}

static uint64_t number(struct words *w, const char *text, size_t len)
{
	struct word *one;

	HASH_FIND(hh, w->all, text, len, one);
	if (!one)
		one = add(w, text, len);
	w->full |= !one;
	return one ? one->number : WORDS_OTHERS;
}

uint64_t words_number(struct words *w, const char *text)
{
	return number(w, text, strnlen(text, WORD_SIZE - 1));
}

uint64_t words_whole(struct words *w, const char *text)
{
	return number(w, text, strlen(text));
}

const char *words_text(const struct words *w, uint64_t number)
{
	return number && number <= w->n ? w->v[number - 1]->text : "[others]";
}

void words_free(struct words *w)
{
	HASH_FREE(w->all);
	free(w->v);
	*w = (struct words){ .most = w->most };
}
