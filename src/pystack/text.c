/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UTF8 = 4, MAX_LENGTH = 1 << 24 };

/* The bits of PyASCIIObject.state: interned 2, kind 3, compact 1, ascii 1. */
struct state {
	size_t unit;                     /* bytes of a character */
	bool compact, ascii;
};

static struct state state_of(uint32_t bits)
{
	return (struct state){ .unit = bits >> 2 & 7, .compact = bits >> 5 & 1, .ascii = bits >> 6 & 1 };
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* '\0' would end the text. Surrogates are what surrogateescape made of bytes: what prints the text escapes them. */
static char *encode(const char *chars, size_t n, size_t unit, bool cut)
{
	char *text = malloc(n * MAX_UTF8 + sizeof("..."));
	size_t len = 0;

	for (size_t i = 0; text && i < n; i++) {
		uint32_t c = (uint32_t)memory_field(chars, i * unit, unit);

		len += put_utf8(text + len, c ? c : '?');
	}
	if (text)
		strcpy(text + len, cut ? "..." : "");
	return text;
}

char *text_at(const struct memory *m, const struct offsets *l, uint64_t addr)
{
	char head[OFFSETS_TEXT], chars[TEXT_MOST * sizeof(uint32_t)];
	struct state s;
	uint64_t length;
	size_t n;

	if (!addr || memory_get(m, addr, head, l->text.size))
		return NULL;
	s = state_of((uint32_t)memory_field(head, l->text.state, 4));
	length = memory_field(head, l->text.length, 8);
	/* others are instances of subclasses; names and paths of code are compact */
	if (!s.compact || length > MAX_LENGTH || (s.unit != 1 && s.unit != 2 && s.unit != 4))
		return NULL;
	n = length < TEXT_MOST ? (size_t)length : TEXT_MOST;
	if (n && memory_get(m, addr + (s.ascii ? l->text.ascii : l->text.compact), chars, n * s.unit))
		return NULL;
	return encode(chars, n, s.unit, n < length);
}
