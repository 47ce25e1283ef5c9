/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/code.h"

#include "base/hash.h"
#include "pystack/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------ */

/*
 * 3.9: pairs of bytes: how much further the next entry's instructions begin, and its line, both from the entry before.
 * 3.10: pairs: how many bytes of instructions the entry has, and its line from the one before; -128: no line.
 * 3.11: entries whose first byte has the highest bit set, then a kind (4 bits), and the number of instructions of two
 * bytes - 1 (3 bits). The kind says what follows: a line from the one before, and columns, which are skipped here.
 */

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

enum { SEEN = 128, MAX_LINES = 1 << 20, MAX_CODES = CODES_MOST, MAX_BYTES = 256 << 20, MAX_STEPS = 64 << 20 };

/* What is compared to know that the object is the same: addresses, and what is there. */
struct mark {
	uint64_t type, name, file, lines, first_line;
};

/* The start of an object, from its length on; another one may be there later. */
struct seen {
	size_t n;                        /* 0: it could not be read */
	char bytes[SEEN];
};

enum { SEEN_FILE, SEEN_NAME, SEEN_LINES, SEENS };

struct entry {
	struct code code;
	uint64_t addr;
	struct mark mark;
	uint64_t round;                  /* when it was last read */
	struct seen seen[SEENS];
	uint8_t *lines;
	size_t nlines;
	uint64_t last_place;             /* of the newest answer */
	int last_line;
	UT_hash_handle hh;
};

struct codes {
	const struct memory *memory;
	const struct offsets *offsets;
	uint64_t type;
	struct entry *all;
	uint64_t round, ids;
	size_t bytes;
	size_t steps;                    /* bytes of tables of lines that were searched in this round */
};

struct codes *codes_new(const struct memory *m, const struct offsets *l, uint64_t type)
{
	struct codes *c = calloc(1, sizeof(*c));

	if (c)
		*c = (struct codes){ .memory = m, .offsets = l, .type = type };
	return c;
}

static size_t bytes_of(const struct entry *e)
{
	return sizeof(*e) + e->nlines + strlen(e->code.name) + strlen(e->code.file);
}

static void clear(struct codes *c, struct entry *e)
{
	if (e->code.id)
		c->bytes -= bytes_of(e);
	free((char *)(uintptr_t)e->code.name);
	free((char *)(uintptr_t)e->code.file);
	free(e->lines);
	e->code = (struct code){ 0 };
	e->lines = NULL;
	e->nlines = 0;
	for (size_t i = 0; i < SEENS; i++)
		e->seen[i].n = 0;
	e->last_place = e->last_line = 0;
}

/* Forgets the code that was not seen since that round. */
static void forget_before(struct codes *c, uint64_t round)
{
	struct entry *e, *next;

	HASH_ITER(hh, c->all, e, next)
		if (e->round < round) {
			HASH_DEL(c->all, e);
			clear(c, e);
			free(e);
		}
}

void codes_free(struct codes *c)
{
	if (c)
		forget_before(c, UINT64_MAX);
	free(c);
}

static bool is_full(const struct codes *c, size_t part)
{
	return HASH_COUNT(c->all) >= MAX_CODES / part || c->bytes >= MAX_BYTES / part;
}

/* A program that generates code has ever new functions. Those of the round that ends are kept if that makes enough room. */
void codes_round(struct codes *c)
{
	if (is_full(c, 2))
		forget_before(c, c->round);
	if (is_full(c, 2))
		forget_before(c, UINT64_MAX);
	c->steps = 0;
	c->round++;
}

/* ---- reading --------------------------------------------------------------------------- */

static uint64_t place_of(const struct codes *c, const struct mark *mark, size_t which)
{
	const struct offsets *l = c->offsets;

	return which == SEEN_LINES ? mark->lines + l->bytes.length : (which == SEEN_NAME ? mark->name : mark->file) + l->text.length;
}

/* e: the entry for that address, or NULL. *same: the memory of its name, file and lines is unchanged. */
static bool read_mark(const struct codes *c, uint64_t addr, const struct entry *e, struct mark *mark, bool *same)
{
	const struct offsets *l = c->offsets;
	char head[OFFSETS_CODE], now[SEENS][SEEN];
	struct memory_piece pieces[1 + SEENS] = { { addr, head, l->code.size } };
	const struct seen *seen[SEENS];
	size_t n = 0;
	int got;

	for (size_t i = 0; e && i < SEENS; i++)
		if (e->seen[i].n) {
			pieces[1 + n] = (struct memory_piece){ place_of(c, &e->mark, i), now[n], e->seen[i].n };
			seen[n++] = &e->seen[i];
		}
	got = c->memory->read(c->memory, pieces, 1 + n);
	if (got < 1)
		return false;
	*same = (size_t)got == 1 + n;
	for (size_t i = 0; *same && i < n; i++)
		*same = !memcmp(now[i], seen[i]->bytes, seen[i]->n);
	*mark = (struct mark){
		.type = memory_field(head, l->type, 8), .name = memory_field(head, l->code.name, 8),
		.file = memory_field(head, l->code.file, 8), .lines = memory_field(head, l->code.lines, 8),
		.first_line = memory_field(head, l->code.first_line, 4),
	};
	return mark->type == c->type;
}

/* A table that cannot be read leaves the function without lines. */
static void read_lines(const struct codes *c, struct entry *e)
{
	char head[OFFSETS_TEXT];
	uint64_t n;

	if (memory_get(c->memory, e->mark.lines, head, c->offsets->bytes.length + 8))
		return;
	n = memory_field(head, c->offsets->bytes.length, 8);
	if (!n || n > MAX_LINES || c->bytes + n > MAX_BYTES)
		return;
	e->lines = malloc(n);
	if (e->lines && !memory_get(c->memory, e->mark.lines + c->offsets->bytes.bytes, e->lines, n))
		e->nlines = (size_t)n;
}

/* Keeps the start of an object, to notice another one there. Does not read past its end. (The start of a text has its hash,
 * which CPython may add later: the code is then read again, once.) */
static void see(const struct codes *c, struct entry *e, size_t which)
{
	const struct offsets *l = c->offsets;
	const uint64_t head = which == SEEN_LINES ? l->bytes.bytes - l->bytes.length : l->text.ascii - l->text.length;
	const uint64_t at = place_of(c, &e->mark, which);
	struct seen *seen = &e->seen[which];
	uint64_t length, n;

	if (memory_word(c->memory, at, &length))
		return;
	n = head + (length < SEEN ? length : SEEN);
	n = n < SEEN ? n : SEEN;
	if (!memory_get(c->memory, at, seen->bytes, n))
		seen->n = (size_t)n;
}

/* False: it is no readable code object. */
static bool fill(struct codes *c, struct entry *e)
{
	for (size_t i = 0; i < SEENS; i++)       /* first: what changes meanwhile is noticed in the next round */
		see(c, e, i);
	e->code.name = text_at(c->memory, c->offsets, e->mark.name);
	e->code.file = text_at(c->memory, c->offsets, e->mark.file);
	if (!e->code.name || !e->code.file) {
		clear(c, e);
		return false;
	}
	e->code.first_line = (int)(int32_t)e->mark.first_line;
	read_lines(c, e);
	e->code.id = ++c->ids;
	c->bytes += bytes_of(e);
	return true;
}

static struct entry *add(struct codes *c, uint64_t addr)
{
	struct entry *e = !is_full(c, 1) ? calloc(1, sizeof(*e)) : NULL;

	if (!e)
		return NULL;
	e->addr = addr;
	e->round = c->round - 1;
	HASH_ADD(hh, c->all, addr, sizeof(e->addr), e);
	return HASH_KEPT(e);
}

const struct code *codes_at(struct codes *c, uint64_t addr)
{
	struct entry *e = NULL;
	struct mark mark;
	bool same;

	HASH_FIND(hh, c->all, &addr, sizeof(addr), e);
	if (e && e->round == c->round)
		return e->code.name ? &e->code : NULL;
	if (!read_mark(c, addr, e, &mark, &same))
		return NULL;
	if (!e)
		e = add(c, addr);
	if (!e)
		return NULL;
	e->round = c->round;
	if (e->code.name && same && !memcmp(&mark, &e->mark, sizeof(mark)))
		return &e->code;
	clear(c, e);
	e->mark = mark;
	return fill(c, e) ? &e->code : NULL;
}

int codes_line(struct codes *c, const struct code *code, uint64_t place)
{
	const struct offsets *l = c->offsets;
	struct entry *e = (struct entry *)(uintptr_t)code;
	int64_t offset = l->frame_unit ? (int64_t)(int32_t)place * l->frame_unit :
					 (int64_t)(place - (e->addr + l->code.instructions));

	if (e->last_place != place || !e->last_line) {
		c->steps += e->nlines;
		e->last_place = place;
		e->last_line = c->steps > MAX_STEPS ? 0 : lines_find(l->lines, e->lines, e->nlines, code->first_line, offset);
	}
	return e->last_line;
}
