/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/inlines.h"

#include "symbols/inlines_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MISSES = 256 };

struct unit {
	struct parser_bytes bytes;
	struct unit_head head;
	const struct unit_range *ranges;
	const struct unit_call *calls;
	const struct unit_line *lines;
	const char *texts;
};

/* An address range of all units, for the search. */
struct where {
	uint64_t from, to;
	uint32_t unit;
};

struct inlines {
	struct parser *parser;
	int fd;
	bool none;               /* there is no DWARF, or it killed its parser */
	struct unit *units;
	size_t nunits;
	struct where *where;     /* sorted */
	size_t nwhere;
	uint64_t misses[MISSES]; /* addresses of no unit, by hash */
	size_t bytes;
};

struct inlines *inlines_new(struct parser *p, int fd)
{
	struct inlines *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->parser = p;
	in->fd = fd;
	in->bytes = sizeof(*in);
	return in;
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->nunits; i++)
		parser_bytes_free(&in->units[i].bytes);
	free(in->units);
	free(in->where);
	free(in);
}

size_t inlines_bytes(const struct inlines *in)
{
	return in ? in->bytes : 0;
}

/* ---- what comes from the parser -------------------------------------------------------- */

static bool sane_calls(const struct unit *u)
{
	for (uint32_t i = 0; i < u->head.ncalls; i++) {
		const struct unit_call *c = &u->calls[i];

		if (c->from >= c->to || (i && c->from < c[-1].from) || c->name >= u->head.text_size ||
		    c->file >= u->head.text_size || (c->parent != UNIT_NONE && c->parent >= i))
			return false;
	}
	return true;
}

static bool sane_ranges(const struct unit *u)
{
	for (uint32_t i = 0; i < u->head.nranges; i++)
		if (u->ranges[i].from >= u->ranges[i].to || (i && u->ranges[i].from < u->ranges[i - 1].to))
			return false;
	return u->head.nranges;
}

static bool sane_lines(const struct unit *u)
{
	for (uint32_t i = 0; i < u->head.nlines; i++)
		if (u->lines[i].file >= u->head.text_size || (i && u->lines[i].addr < u->lines[i - 1].addr))
			return false;
	return true;
}

/* Whether the bytes are what they say: they come from a process that read a stranger's file. */
static bool open_unit(struct unit *u)
{
	uint64_t need = sizeof(u->head);
	const char *p = u->bytes.data;

	if (u->bytes.size < need)
		return false;
	memcpy(&u->head, p, sizeof(u->head));
	need += u->head.nranges * (uint64_t)sizeof(*u->ranges) + u->head.ncalls * (uint64_t)sizeof(*u->calls) +
		u->head.nlines * (uint64_t)sizeof(*u->lines) + u->head.text_size;
	if (need != u->bytes.size || !u->head.text_size || p[u->bytes.size - 1])
		return false;
	p += sizeof(u->head);
	u->ranges = (const void *)p;
	p += u->head.nranges * sizeof(*u->ranges);
	u->calls = (const void *)p;
	p += u->head.ncalls * sizeof(*u->calls);
	u->lines = (const void *)p;
	u->texts = p + u->head.nlines * sizeof(*u->lines);
	return sane_ranges(u) && sane_calls(u) && sane_lines(u);
}

static int by_from(const void *a_, const void *b_)
{
	const struct where *a = a_, *b = b_;

	return a->from < b->from ? -1 : a->from > b->from;
}

static int add_unit(struct inlines *in, const struct unit *u)
{
	struct unit *units = realloc(in->units, (in->nunits + 1) * sizeof(*units));
	struct where *where = realloc(in->where, (in->nwhere + u->head.nranges) * sizeof(*where));

	if (units)
		in->units = units;
	if (where)
		in->where = where;
	if (!units || !where)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->head.nranges; i++)
		where[in->nwhere++] = (struct where){ u->ranges[i].from, u->ranges[i].to,
						      (uint32_t)in->nunits };
	qsort(where, in->nwhere, sizeof(*where), by_from);
	units[in->nunits++] = *u;
	in->bytes += u->bytes.size + sizeof(*u) + u->head.nranges * sizeof(*where);
	return 0;
}

static int load(struct inlines *in, uint64_t vaddr)
{
	struct unit_question bytes = { vaddr };
	struct parser_question q = { .kind = PARSER_INLINES, .fds = { in->fd }, .nfds = 1,
				     .bytes = &bytes, .size = sizeof(bytes) };
	struct unit u = { .bytes = { 0 } };
	int rc = parser_ask(in->parser, &q, &u.bytes);

	if (!rc)
		rc = open_unit(&u) ? add_unit(in, &u) : -EPROTO;
	if (rc)
		parser_bytes_free(&u.bytes);
	if (rc == -ENOENT)
		in->misses[vaddr % MISSES] = vaddr;
	else if (rc)
		in->none = true;
	return rc;
}

/* ---- looking up ------------------------------------------------------------------------ */

static const struct unit *unit_at(const struct inlines *in, uint64_t vaddr)
{
	size_t lo = 0, hi = in->nwhere;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (in->where[mid].from <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < in->where[lo - 1].to ? &in->units[in->where[lo - 1].unit] : NULL;
}

static const struct unit_call *innermost(const struct unit *u, uint64_t vaddr)
{
	uint32_t lo = 0, hi = u->head.ncalls, i;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->calls[mid].from <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (i = lo - 1; lo && i != UNIT_NONE; i = u->calls[i].parent)
		if (vaddr < u->calls[i].to)
			return &u->calls[i];
	return NULL;
}

static const struct unit_line *line_at(const struct unit *u, uint64_t vaddr)
{
	uint32_t lo = 0, hi = u->head.nlines;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->lines[mid].addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->lines[lo - 1].line ? &u->lines[lo - 1] : NULL;
}

static const char *text(const struct unit *u, uint32_t at)
{
	return at ? u->texts + at : NULL;
}

static size_t chain(const struct unit *u, uint64_t vaddr, struct inline_frame *out, size_t max)
{
	const struct unit_call *c = innermost(u, vaddr);
	const struct unit_line *l = line_at(u, vaddr);
	uint32_t file = l ? l->file : 0, line = l ? l->line : 0;
	size_t n = 0;

	if (!c && l && max) {
		out[n++] = (struct inline_frame){ NULL, text(u, file), line, false };
		return n;
	}
	while (c && n < max) {
		out[n++] = (struct inline_frame){ text(u, c->name), text(u, file), line,
						  c->parent != UNIT_NONE };
		file = c->file;
		line = c->line;
		c = c->parent == UNIT_NONE ? NULL : &u->calls[c->parent];
	}
	return n;
}

size_t inlines_find(struct inlines *in, uint64_t vaddr, struct inline_frame *out, size_t max)
{
	const struct unit *u;

	if (!in || in->none)
		return 0;
	u = unit_at(in, vaddr);
	if (!u && vaddr && in->misses[vaddr % MISSES] != vaddr && !load(in, vaddr))
		u = unit_at(in, vaddr);
	if (!u && in->misses[vaddr % MISSES] != vaddr)
		in->misses[vaddr % MISSES] = vaddr;   /* not asked again and again */
	return u ? chain(u, vaddr, out, max) : 0;
}
