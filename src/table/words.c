/* SPDX-License-Identifier: Apache-2.0 */
#include "table/words.h"

#include "base/room.h"

#include <string.h>

struct word {
	uint64_t number;         /* from 1 */
	char text[];
};

uint64_t words_add(struct words *w, const char *text, size_t len)
{
	struct word *one = groups_find(&w->all, text, len);

	if (!one && w->n < (w->most ? w->most : WORDS_MOST) && ROOM_FOR_ONE(w->v, w->n) &&
	    (one = groups_text(&w->all, text, len, offsetof(struct word, text), UINT32_MAX))) {
		w->v[w->n++] = one;
		one->number = w->n;
	}
	w->full |= !one;
	return one ? one->number : WORDS_OTHERS;
}

uint64_t words_number(struct words *w, const char *text)
{
	return words_add(w, text, strnlen(text, WORD_SIZE - 1));
}

uint64_t words_find(const struct words *w, const char *text, size_t len)
{
	const struct word *one = groups_find(&w->all, text, len);

	return one ? one->number : WORDS_OTHERS;
}

const char *words_text(const struct words *w, uint64_t number)
{
	return number && number <= w->n ? w->v[number - 1]->text : "[others]";
}

const char *words_bytes(const struct words *w, uint64_t number, size_t *len)
{
	const struct word *one = w->v[number - 1];

	*len = groups_len(one);
	return one->text;
}

void words_free(struct words *w)
{
	groups_free(&w->all);
	free(w->v);
	*w = (struct words){ .most = w->most };
}
