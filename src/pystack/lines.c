/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 3.9: pairs of bytes: how much further the next entry's instructions begin, and its line, both from the entry before.
 * 3.10: pairs: how many bytes of instructions the entry has, and its line from the one before; -128: no line.
 * 3.11: entries whose first byte has the highest bit set, then a kind (4 bits), and the number of instructions of two
 * bytes - 1 (3 bits). The kind says what follows: a line from the one before, and columns, which are skipped here.
 */
#include "pystack/lines.h"

enum { NO_LINE = -128 };
enum { KIND_ONE_LINE = 10, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };
enum { VARINT_BITS = 6, VARINT_MOST = 30 };

static int shown(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (int)line : 0;
}

static int find_deltas(const uint8_t *table, size_t size, int64_t line, int64_t offset)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return shown(line);
}

static int find_ranges(const uint8_t *table, size_t size, int64_t line, int64_t offset)
{
	int64_t end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		line += delta == NO_LINE ? 0 : delta;
		if (offset < end)
			return delta == NO_LINE ? 0 : shown(line);
	}
	return 0;
}

/* Six bits in each byte, lowest first; the seventh says that more follow. */
static bool take_varint(const uint8_t *table, size_t size, size_t *i, uint64_t *v)
{
	unsigned int shift = 0;

	*v = 0;
	while (*i < size && shift <= VARINT_MOST) {
		uint8_t byte = table[(*i)++];

		*v |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			return true;
		shift += VARINT_BITS;
	}
	return false;
}

/* The lowest bit is the sign. */
static bool take_signed(const uint8_t *table, size_t size, size_t *i, int64_t *v)
{
	uint64_t word;

	if (!take_varint(table, size, i, &word))
		return false;
	*v = word & 1 ? -(int64_t)(word >> 1) : (int64_t)(word >> 1);
	return true;
}

/* The line of an entry, from the one before. Columns need not be read: the next entry is the next byte with its highest
 * bit set. */
static bool take_delta(const uint8_t *table, size_t size, size_t *i, int kind, int64_t *delta)
{
	*delta = 0;
	if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
		return take_signed(table, size, i, delta);
	if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS)
		*delta = kind - KIND_ONE_LINE;
	return true;
}

static int find_locations(const uint8_t *table, size_t size, int64_t line, int64_t offset)
{
	int64_t end = 0, delta;

	for (size_t i = 0; i < size;) {
		int kind = table[i] >> 3 & 15;

		end += 2 * ((table[i] & 7) + 1);
		i++;
		if (!take_delta(table, size, &i, kind, &delta))
			return 0;
		line += delta;
		if (offset < end)
			return kind == KIND_NONE ? 0 : shown(line);
		while (i < size && !(table[i] & 128))
			i++;
	}
	return 0;
}

int lines_find(enum line_form form, const uint8_t *table, size_t size, int first, int64_t offset)
{
	if (offset < 0)
		return shown(first);
	switch (form) {
	case LINES_DELTAS:
		return find_deltas(table, size, first, offset);
	case LINES_RANGES:
		return find_ranges(table, size, first, offset);
	case LINES_LOCATIONS:
		return find_locations(table, size, first, offset);
	}
	return 0;
}
