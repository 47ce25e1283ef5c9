/* SPDX-License-Identifier: Apache-2.0 */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 sequence that begins with the byte, and the smallest code point allowed for it. */
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

/* Line and paragraph separators and direction controls, which could make a name look like another. */
static bool misleads(uint32_t code)
{
	return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static bool printable(uint32_t code, uint32_t least)
{
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	bool surrogate = code >= 0xd800 && code < 0xe000;

	return code >= least && code <= 0x10ffff && !control && !surrogate && !misleads(code);
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

/* Bytes from s that are plain ASCII without control characters, in whole words. */
static size_t plain_length(const char *s, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	size_t n = 0;
	uint64_t w;

	for (; len - n >= sizeof(w); n += sizeof(w)) {
		memcpy(&w, s + n, sizeof(w));
		/* the high bit is set for bytes >= 0x80, < 0x20 and 0x7f (borrows only end the loop too early) */
		if ((w | (w - ones * 0x20) | (w + ones)) & high)
			break;
	}
	return n;
}

size_t escape_terminal(const char *text, size_t len, char *buf, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	size_t out = 0;

	if (!size)
		return 0;
	for (size_t i = 0; i < len;) {
		size_t plain = plain_length(text + i, len - i < size - out ? len - i : size - out - 1);
		char raw[4] = "\\x";
		size_t n, room;
		unsigned char c;

		if (plain) {
			memcpy(buf + out, text + i, plain);
			out += plain;
			i += plain;
			continue;
		}
		c = (unsigned char)text[i];
		n = printable_length((const unsigned char *)text + i, len - i);
		room = n ? n : sizeof(raw);
		raw[2] = hex[c >> 4];
		raw[3] = hex[c & 15];
		if (out + room >= size)
			break;
		memcpy(buf + out, n ? text + i : raw, room);
		out += room;
		i += n ? n : 1;
	}
	buf[out] = '\0';
	return out;
}

char *escape_whole(const char *text)
{
	size_t len = strlen(text), size = 4 * len + 1;   /* \xNN */
	char *buf = malloc(size);

	if (buf)
		escape_terminal(text, len, buf, size);
	return buf;
}
