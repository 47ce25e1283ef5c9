/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/words.h"

#include "base/hash.h"
#include "base/room.h"

#include <stdio.h>

struct word {
	uint64_t number;         /* from 1 */
	UT_hash_handle hh;
	char text[WORD_SIZE];    /* all bytes after its end are 0 */
};

static struct word *add(struct words *w, const char *text)
{
	struct word *one;

	if (w->n == WORDS_MOST || !ROOM_FOR_ONE(w->v, w->n))
		return NULL;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	memcpy(one->text, text, sizeof(one->text));
	one->number = w->n + 1;
	HASH_ADD_KEYPTR(hh, w->all, one->text, sizeof(one->text), one);
	one = HASH_KEPT(one);
	if (one)
		w->v[w->n++] = one;
	return one;
}

uint64_t words_number(struct words *w, const char *text)
{
	char key[WORD_SIZE] = "";
	struct word *one;

	snprintf(key, sizeof(key), "%s", text);
	HASH_FIND(hh, w->all, key, sizeof(key), one);
	if (!one)
		one = add(w, key);
	w->full |= !one;
	return one ? one->number : WORDS_OTHERS;
}

const char *words_text(const struct words *w, uint64_t number)
{
	return number && number <= w->n ? w->v[number - 1]->text : "[others]";
}

void words_free(struct words *w)
{
	HASH_FREE(w->all);
	free(w->v);
	*w = (struct words){ 0 };
}
