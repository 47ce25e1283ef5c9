/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, MAX_STRING = 16 << 10, MAX_STRINGS = 64 << 20 };   /* bytes of one, and of all */

static struct string_slot *slot_of(const struct strings *s, const void *key)
{
	size_t i = (size_t)((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (i &= s->cap - 1; s->slots[i].key && s->slots[i].key != key; i = (i + 1) & (s->cap - 1))
		;
	return &s->slots[i];
}

static int grow(struct strings *s)
{
	struct strings bigger = { .cap = s->cap ? s->cap * 2 : FIRST_SLOTS };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++)
		if (s->slots[i].key)
			*slot_of(&bigger, s->slots[i].key) = s->slots[i];
	free(s->slots);
	s->slots = bigger.slots;
	s->cap = bigger.cap;
	return s->text.size ? 0 : parser_put(&s->text, "", 1);
}

bool strings_find(const struct strings *s, const void *key, uint32_t *at)
{
	const struct string_slot *slot = s->cap ? slot_of(s, key) : NULL;

	if (!slot || !slot->key)
		return false;
	*at = slot->at;
	return true;
}

int strings_alias(struct strings *s, const void *key, uint32_t at)
{
	struct string_slot *slot;

	if (2 * s->n >= s->cap && grow(s))
		return -ENOMEM;
	slot = slot_of(s, key);
	s->n += !slot->key;
	*slot = (struct string_slot){ key, at };
	return 0;
}

/* A string that is too long counts as missing. */
int strings_put(struct strings *s, const void *key, const char *text, uint32_t *at)
{
	size_t len = text ? strnlen(text, MAX_STRING) : 0;

	*at = 0;
	if (strings_alias(s, key, 0))
		return -ENOMEM;
	if (!len || len == MAX_STRING)
		return 0;
	if (s->text.size + len > MAX_STRINGS)
		return -E2BIG;
	*at = (uint32_t)s->text.size;
	if (parser_put(&s->text, text, len + 1))
		return -ENOMEM;
	slot_of(s, key)->at = *at;
	return 0;
}

void strings_free(struct strings *s)
{
	parser_bytes_free(&s->text);
	free(s->slots);
	*s = (struct strings){ 0 };
}
