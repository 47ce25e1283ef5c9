/* SPDX-License-Identifier: Apache-2.0 */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of a lead byte's UTF-8 sequence and the smallest code point it may hold. */
static size_t sequence(unsigned char lead, uint32_t *code, uint32_t *least)
{
	static const struct {
		unsigned char mask, mark;
		uint32_t least;
	} kind[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
	};

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		if ((lead & kind[i].mask) != kind[i].mark)
			continue;
		*code = lead & (unsigned char)~kind[i].mask;
		*least = kind[i].least;
		return i + 1;
	}
	return 0;
}

static bool printable(uint32_t code, uint32_t least)
{
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	bool surrogate = code >= 0xd800 && code < 0xe000;

	return code >= least && code <= 0x10ffff && !control && !surrogate;
}

/* Bytes of the printable character at s, 0 if there is none. */
static size_t printable_length(const unsigned char *s, size_t len)
{
	uint32_t code = 0, least = 0;
	size_t n = sequence(s[0], &code, &least);

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	return printable(code, least) ? n : 0;
}

size_t escape_terminal(const char *text, size_t len, char *buf, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t out = 0;

	if (!size)
		return 0;
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = printable_length((const unsigned char *)text + i, len - i);
		char raw[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
		size_t room = n ? n : sizeof(raw);

		if (out + room >= size)
			break;
		memcpy(buf + out, n ? text + i : raw, room);
		out += room;
		i += n ? n : 1;
	}
	buf[out] = '\0';
	return out;
}
