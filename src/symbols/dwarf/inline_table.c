/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/inline_table.h"

#include "symbols/dwarf/ladder.h"

#include <stdlib.h>
#include <string.h>

struct inline_table {
	uint64_t base;
	size_t nspans, nnodes, nrows, nstrings, size;
	struct ladder span_at, row_at;
	const uint32_t *starts, *nodes_at;
	const struct inline_node *nodes;
	const uint32_t *rows_at;
	const struct inline_row *rows;
	const char *strings;
	uint32_t words[];        /* the whole table */
};

/* ---- from bytes ------------------------------------------------------------- */

static bool are_nodes(const struct inline_table *t)
{
	for (size_t i = 0; i < t->nnodes; i++)
		if ((t->nodes[i].parent && t->nodes[i].parent >= i) || t->nodes[i].name >= t->nstrings ||
		    t->nodes[i].call_file >= t->nstrings)
			return false;
	for (size_t i = 0; i < t->nspans; i++)
		if (t->nodes_at[i] >= t->nnodes)
			return false;
	return true;
}

static bool are_rows(const struct inline_table *t)
{
	for (size_t i = 0; i < t->nrows; i++)
		if (t->rows[i].file >= t->nstrings)
			return false;
	return true;
}

static bool is_sane(const struct inline_table *t)
{
	return t->nnodes && !t->nodes[0].parent && !t->strings[0] && !t->strings[t->nstrings - 1] &&
	       ladder_is(t->starts, t->nspans) && ladder_is(t->rows_at, t->nrows) &&
	       are_nodes(t) && are_rows(t);
}

static uint64_t size_of(const struct inline_head *h)
{
	return (uint64_t)h->nspans * 8 + (uint64_t)h->nnodes * sizeof(struct inline_node) +
	       (uint64_t)h->nrows * (4 + sizeof(struct inline_row)) + h->nstrings;
}

static void point_into(struct inline_table *t, const struct inline_head *h)
{
	t->base = h->base;
	t->nspans = h->nspans;
	t->nnodes = h->nnodes;
	t->nrows = h->nrows;
	t->nstrings = h->nstrings;
	t->starts = t->words;
	t->nodes_at = t->starts + t->nspans;
	t->nodes = (const struct inline_node *)(t->nodes_at + t->nspans);
	t->rows_at = (const uint32_t *)(t->nodes + t->nnodes);
	t->rows = (const struct inline_row *)(t->rows_at + t->nrows);
	t->strings = (const char *)(t->rows + t->nrows);
}

struct inline_table *inline_table_unpack(const void *bytes, size_t size)
{
	struct inline_table *t;
	struct inline_head head;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	size -= sizeof(head);
	if (size_of(&head) != size || !head.nstrings)
		return NULL;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	t->size = size;
	t->span_at = t->row_at = (struct ladder){ 0 };
	memcpy(t->words, (const char *)bytes + sizeof(head), size);
	point_into(t, &head);
	if (is_sane(t) && ladder_build(&t->span_at, t->starts, t->nspans) &&
	    ladder_build(&t->row_at, t->rows_at, t->nrows))
		return t;
	inline_table_free(t);
	return NULL;
}

void inline_table_free(struct inline_table *t)
{
	if (!t)
		return;
	ladder_free(&t->span_at);
	ladder_free(&t->row_at);
	free(t);
}

size_t inline_table_bytes(const struct inline_table *t)
{
	return sizeof(*t) + t->size + ladder_bytes(&t->span_at) + ladder_bytes(&t->row_at);
}

/* ---- lookup ----------------------------------------------------------------- */

static const char *string_at(const struct inline_table *t, uint32_t at)
{
	return at ? t->strings + at : NULL;
}

size_t inline_table_find(const struct inline_table *t, uint64_t addr, struct inline_frame *out,
			 size_t max)
{
	struct inline_frame place = { 0 };
	size_t span, row, n = 0;
	uint32_t node, at;

	if (addr < t->base || addr - t->base > UINT32_MAX)
		return 0;
	at = (uint32_t)(addr - t->base);
	row = ladder_find(&t->row_at, at);
	if (row < t->nrows && t->rows[row].line) {
		place.file = string_at(t, t->rows[row].file);
		place.line = t->rows[row].line;
	}
	span = ladder_find(&t->span_at, at);
	node = span < t->nspans ? t->nodes_at[span] : 0;
	if (!node && place.line && max)
		out[n++] = place;
	for (; node && n < max; node = t->nodes[node].parent) {
		place.name = string_at(t, t->nodes[node].name);
		place.inlined = t->nodes[node].parent;
		out[n++] = place;
		place.file = string_at(t, t->nodes[node].call_file);
		place.line = t->nodes[node].call_line;
	}
	return n;
}
