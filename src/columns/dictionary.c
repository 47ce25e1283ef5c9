/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/dictionary.h"

#include "base/hash.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, FIRST_BYTES = 1024, MANY = 4096 };

/* ---- copies for batches -------------------------------------------------------- */

struct texts *texts_keep(struct texts *t)
{
	atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
	return t;
}

void texts_release(struct texts *t)
{
	if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
		free(t);
}

struct texts *dictionary_take(struct dictionary *d)
{
	size_t numbers = ((size_t)d->n + 1) * sizeof(*d->offsets), bytes = (size_t)d->offsets[d->n];
	struct texts *t = d->taken;

	if (t)
		return texts_keep(t);
	/* 8 bytes more: no buffer of Arrow's begins at the end of an allocation */
	t = malloc(sizeof(*t) + numbers + bytes + 8);
	if (!t)
		return NULL;
	*t = (struct texts){ .refs = 2, .n = d->n, .offsets = (int32_t *)(t + 1), .bytes = (char *)(t + 1) + numbers };
	memcpy(t + 1, d->offsets, numbers);
	memcpy((char *)(t + 1) + numbers, d->bytes, bytes);
	return d->taken = t;
}

/* ---- the table ----------------------------------------------------------------- */

int dictionary_begin(struct dictionary *d)
{
	*d = (struct dictionary){ .room = FIRST_ROOM, .mask = 2 * FIRST_ROOM - 1, .bytes_room = FIRST_BYTES };
	d->slots = calloc(2 * FIRST_ROOM, sizeof(*d->slots));
	d->hashes = malloc(FIRST_ROOM * sizeof(*d->hashes));
	d->offsets = calloc(FIRST_ROOM + 1, sizeof(*d->offsets));
	d->bytes = malloc(FIRST_BYTES);
	return d->slots && d->hashes && d->offsets && d->bytes ? 0 : -ENOMEM;
}

void dictionary_end(struct dictionary *d)
{
	texts_release(d->taken);
	free(d->slots);
	free(d->hashes);
	free(d->offsets);
	free(d->bytes);
	free(d->escaped);
	*d = (struct dictionary){ 0 };
}

void dictionary_rest(struct dictionary *d)
{
	struct dictionary fresh;

	if (d->n < MANY || dictionary_begin(&fresh))
		return;
	dictionary_end(d);
	*d = fresh;
}

/* Also whether all bytes are ASCII, which nearly all texts are. */
static uint32_t hash_of(const char *text, size_t len, bool *ascii)
{
	uint64_t h = len ^ hash_key[0], word, bits = 0;

	for (; len >= 8; text += 8, len -= 8) {
		memcpy(&word, text, 8);
		bits |= word;
		h = hash_step(h, &word);
	}
	word = 0;
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)(uint8_t)text[i] << 8 * i;
	bits |= word;
	*ascii = !(bits & UINT64_C(0x8080808080808080));
	return (uint32_t)hash_step(h, &word);
}

static int grow_table(struct dictionary *d)
{
	uint32_t room = 2 * d->room, *slots = calloc(2 * (size_t)room, sizeof(*slots));
	uint32_t *hashes = realloc(d->hashes, room * sizeof(*hashes));
	int32_t *offsets = hashes ? realloc(d->offsets, ((size_t)room + 1) * sizeof(*offsets)) : NULL;

	d->hashes = hashes ? hashes : d->hashes;
	d->offsets = offsets ? offsets : d->offsets;
	if (!slots || !hashes || !offsets || room > INT32_MAX / 2) {
		free(slots);
		return -ENOMEM;
	}
	free(d->slots);
	d->slots = slots;
	d->room = room;
	d->mask = 2 * room - 1;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t at = d->hashes[i] & d->mask;

		while (slots[at])
			at = (at + 1) & d->mask;
		slots[at] = i + 1;
	}
	return 0;
}

static int grow_bytes(struct dictionary *d, size_t need)
{
	size_t room = d->bytes_room;
	char *bytes;

	while (room < need)
		room *= 2;
	bytes = need > INT32_MAX ? NULL : realloc(d->bytes, room);
	if (!bytes)
		return -ENOMEM;
	d->bytes = bytes;
	d->bytes_room = room;
	return 0;
}

static int32_t append(struct dictionary *d, uint32_t hash, const char *text, size_t len)
{
	size_t end = (size_t)d->offsets[d->n] + len;
	uint32_t at;

	if ((end > d->bytes_room && grow_bytes(d, end)) || (d->n == d->room && grow_table(d)))
		return -1;
	for (at = hash & d->mask; d->slots[at]; at = (at + 1) & d->mask)
		;
	memcpy(d->bytes + d->offsets[d->n], text, len);
	d->slots[at] = d->n + 1;
	d->hashes[d->n] = hash;
	d->offsets[d->n + 1] = (int32_t)end;
	texts_release(d->taken);
	d->taken = NULL;
	return (int32_t)d->n++;
}

static bool is_text(const struct dictionary *d, uint32_t i, uint32_t hash, const char *text, size_t len)
{
	return d->hashes[i] == hash && (size_t)(d->offsets[i + 1] - d->offsets[i]) == len &&
	       !memcmp(d->bytes + d->offsets[i], text, len);
}

static int32_t find(const struct dictionary *d, uint32_t hash, const char *text, size_t len)
{
	for (uint32_t at = hash & d->mask; d->slots[at]; at = (at + 1) & d->mask)
		if (is_text(d, d->slots[at] - 1, hash, text, len))
			return (int32_t)d->slots[at] - 1;
	return -1;
}

int32_t dictionary_find(const struct dictionary *d, const char *text, size_t len)
{
	bool ascii;

	return find(d, hash_of(text, len, &ascii), text, len);
}

static int32_t number_of(struct dictionary *d, uint32_t hash, const char *text, size_t len)
{
	int32_t number = find(d, hash, text, len);

	return number >= 0 ? number : append(d, hash, text, len);
}

/* ---- UTF-8 --------------------------------------------------------------------- */

/* Bytes of the character at text; 0: not UTF-8 (also surrogates, and what is too long or too big). */
static size_t character(const uint8_t *text, size_t len)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} kinds[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };

	for (size_t n = 1; n <= 4; n++) {
		uint32_t c = text[0] & (uint8_t)~kinds[n - 1].mask;

		if ((text[0] & kinds[n - 1].mask) != kinds[n - 1].lead)
			continue;
		if (n > len)
			return 0;
		for (size_t i = 1; i < n; i++) {
			if ((text[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (text[i] & 0x3f);
		}
		return c < kinds[n - 1].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
	}
	return 0;
}

static bool is_utf8(const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n)
		if (!(n = character((const uint8_t *)text + i, len - i)))
			return false;
	return true;
}

enum { ESCAPED = 4 };   /* bytes of \xNN */

/* Into d->escaped. The length, or -1: no memory. */
static ssize_t escape(struct dictionary *d, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t n, out = 0;

	if (d->escaped_room < ESCAPED * len) {
		free(d->escaped);
		d->escaped_room = ESCAPED * len;
		d->escaped = malloc(d->escaped_room);
		if (!d->escaped) {
			d->escaped_room = 0;
			return -1;
		}
	}
	for (size_t i = 0; i < len; i += n ? n : 1) {
		uint8_t byte = (uint8_t)text[i];

		n = character((const uint8_t *)text + i, len - i);
		if (n)
			memcpy(d->escaped + out, text + i, n);
		else
			memcpy(d->escaped + out, (char[]){ '\\', 'x', digits[byte >> 4], digits[byte & 15] }, ESCAPED);
		out += n ? n : ESCAPED;
	}
	return (ssize_t)out;
}

int32_t dictionary_number(struct dictionary *d, const char *text, size_t len)
{
	bool ascii;
	uint32_t hash = hash_of(text, len, &ascii);
	ssize_t escaped;

	if (__builtin_expect(ascii, 1) || is_utf8(text, len))
		return number_of(d, hash, text, len);
	escaped = escape(d, text, len);
	return escaped < 0 ? -1 : number_of(d, hash_of(d->escaped, (size_t)escaped, &ascii), d->escaped, (size_t)escaped);
}
