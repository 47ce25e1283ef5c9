/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"

#include <stdint.h>
#include <string.h>

/* Ranges of Unicode 15: East_Asian_Width W and F, and the combining marks in common use.
 * wcwidth(3) would depend on the locale, which is not set. */
static const struct {
	uint32_t from, to;
	unsigned int columns;
} ranges[] = {
	{ 0x0300, 0x036f, 0 }, { 0x0483, 0x0489, 0 }, { 0x0591, 0x05bd, 0 }, { 0x0610, 0x061a, 0 },
	{ 0x064b, 0x065f, 0 }, { 0x1100, 0x115f, 2 }, { 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 },
	{ 0x200b, 0x200f, 0 }, { 0x20d0, 0x20ff, 0 }, { 0x231a, 0x231b, 2 }, { 0x2e80, 0x303e, 2 },
	{ 0x3041, 0x33ff, 2 }, { 0x3400, 0x4dbf, 2 }, { 0x4e00, 0xa4cf, 2 }, { 0xa960, 0xa97f, 2 },
	{ 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 }, { 0xfe20, 0xfe2f, 0 },
	{ 0xfe30, 0xfe6f, 2 }, { 0xff01, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

static unsigned int columns_of_code(uint32_t code)
{
	if (code < ranges[0].from)
		return 1;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (ranges[i].from <= code && code <= ranges[i].to)
			return ranges[i].columns;
	return 1;
}

/* The code point at *text, which advances; of invalid UTF-8, the byte. */
static uint32_t take_code(const unsigned char **text)
{
	const unsigned char *s = *text;
	unsigned int more = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 0;
	uint32_t code = more ? *s & (0x3fu >> more) : *s;

	(*text)++;
	for (unsigned int i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return *s;
		code = code << 6 | (s[i] & 0x3f);
	}
	*text += more;
	return code;
}

size_t columns_of_part(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + len;
	size_t n = 0;

	while (s < end)
		n += columns_of_code(take_code(&s));
	return n;
}

size_t columns_of(const char *text)
{
	return columns_of_part(text, strlen(text));
}

size_t columns_fit(const char *text, size_t columns)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 0;

	while (*s) {
		const unsigned char *at = s;

		n += columns_of_code(take_code(&s));
		if (n > columns)
			return (size_t)((const char *)at - text);
	}
	return (size_t)((const char *)s - text);
}
