/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/concat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

struct concat {
	const struct batch_part *parts;
	size_t n, rows;
	struct batch *out;
	struct dictionary texts;        /* of the column in hand */
};

bool batch_is_like(const struct batch *a, const struct batch *b)
{
	return columns_are_like(a->columns, b->columns);
}

/* ---- memory ------------------------------------------------------------------------ */

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t values_bytes(const struct concat *c, size_t column)
{
	enum column_type type = c->out->columns->v[column].type;

	return aligned(column_width(type) * (c->rows + (type == COLUMN_BYTES)));
}

static bool has_nulls(const struct concat *c, size_t column)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->parts[i].batch->v[column].valid)
			return true;
	return false;
}

static int lay_out(struct concat *c)
{
	size_t at = 0, valid = aligned((c->rows + 7) / 8);
	char *block;

	for (size_t i = 0; i < c->out->columns->n; i++)
		at += values_bytes(c, i) + valid * has_nulls(c, i);
	block = c->out->block = block_alloc(at);
	if (!block)
		return -ENOMEM;
	for (size_t i = 0; i < c->out->columns->n; i++) {
		struct batch_column *v = &c->out->v[i];

		v->values = block;
		block += values_bytes(c, i);
		if (!has_nulls(c, i))
			continue;
		v->valid = (uint8_t *)block;
		memset(block, 0xff, valid);
		block += valid;
	}
	return 0;
}

/* ---- columns ----------------------------------------------------------------------- */

static void mark_nulls(struct concat *c, size_t column)
{
	struct batch_column *v = &c->out->v[column];
	uint8_t *valid = (uint8_t *)v->valid;
	size_t row = 0;

	for (size_t p = 0; valid && p < c->n; p++)
		for (size_t i = 0; i < c->parts[p].n; i++, row++)
			if (batch_is_null(c->parts[p].batch, column, c->parts[p].from + i)) {
				valid[row / 8] &= (uint8_t)~(1u << (row % 8));
				v->nulls++;
			}
}

static void copy_fixed(struct concat *c, size_t column)
{
	size_t width = column_width(c->out->columns->v[column].type);
	char *to = (char *)c->out->v[column].values;

	for (size_t p = 0; p < c->n; p++) {
		const struct batch_part *part = &c->parts[p];

		memcpy(to, (const char *)part->batch->v[column].values + part->from * width, part->n * width);
		to += part->n * width;
	}
}

/* Numbers of the part's texts in the new column, as far as its rows have them. */
static int copy_numbers(struct concat *c, const struct batch_part *part, size_t column, int32_t *to)
{
	const struct batch_column *v = &part->batch->v[column];
	const int32_t *from = (const int32_t *)v->values + part->from;
	int32_t *map = malloc((v->texts->n + 1) * sizeof(*map));
	int rc = map ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < v->texts->n; i++)
		map[i] = -1;
	for (size_t i = 0; !rc && i < part->n; i++) {
		size_t len;
		const char *text;

		to[i] = 0;
		if (batch_is_null(part->batch, column, part->from + i))
			continue;
		if (map[from[i]] < 0) {
			text = batch_bytes(part->batch, column, part->from + i, &len);
			map[from[i]] = dictionary_number(&c->texts, text, len);
		}
		to[i] = map[from[i]];
		rc = to[i] < 0 ? -ENOMEM : 0;
	}
	free(map);
	return rc;
}

static bool share_texts(const struct concat *c, size_t column)
{
	for (size_t p = 1; p < c->n; p++)
		if (c->parts[p].batch->v[column].texts != c->parts[0].batch->v[column].texts)
			return false;
	return true;
}

static int copy_texts(struct concat *c, size_t column)
{
	struct batch_column *v = &c->out->v[column];
	int32_t *to = (int32_t *)v->values;
	int rc = 0;

	if (share_texts(c, column)) {
		v->texts = texts_keep(c->parts[0].batch->v[column].texts);
		copy_fixed(c, column);
		return 0;
	}
	for (size_t p = 0; !rc && p < c->n; to += c->parts[p++].n)
		rc = copy_numbers(c, &c->parts[p], column, to);
	v->texts = rc ? NULL : dictionary_take(&c->texts);
	dictionary_end(&c->texts);
	return rc ? rc : v->texts ? 0 : -ENOMEM;
}

static int copy_bytes(struct concat *c, size_t column)
{
	struct batch_column *v = &c->out->v[column];
	int32_t *to = (int32_t *)v->values;
	size_t total = 0;

	for (size_t p = 0; p < c->n; p++) {
		const int32_t *from = (const int32_t *)c->parts[p].batch->v[column].values + c->parts[p].from;

		total += (size_t)(from[c->parts[p].n] - from[0]);
	}
	if (total > INT32_MAX)
		return -EOVERFLOW;
	v->bytes = malloc(total + 1);
	if (!v->bytes)
		return -ENOMEM;
	*to = 0;
	for (size_t p = 0; p < c->n; p++) {
		const struct batch_column *part = &c->parts[p].batch->v[column];
		const int32_t *from = (const int32_t *)part->values + c->parts[p].from;

		memcpy(v->bytes + *to, part->bytes + from[0], (size_t)(from[c->parts[p].n] - from[0]));
		for (size_t i = 0; i < c->parts[p].n; i++, to++)
			to[1] = to[0] + from[i + 1] - from[i];
	}
	return 0;
}

static int copy_column(struct concat *c, size_t column)
{
	mark_nulls(c, column);
	switch (c->out->columns->v[column].type) {
	case COLUMN_TEXT:
		return copy_texts(c, column);
	case COLUMN_BYTES:
		return copy_bytes(c, column);
	default:
		copy_fixed(c, column);
		return 0;
	}
}

int batch_concat(const struct batch_part *parts, size_t n, struct batch **out)
{
	struct concat c = { .parts = parts, .n = n, .out = batch_new(parts[0].batch->columns) };
	int rc;

	for (size_t p = 0; p < n; p++)
		c.rows += parts[p].n;
	rc = c.out ? lay_out(&c) : -ENOMEM;
	for (size_t i = 0; !rc && i < c.out->columns->n; i++)
		rc = copy_column(&c, i);
	if (rc)
		batch_release(c.out);
	else
		c.out->rows = c.rows;
	*out = rc ? NULL : c.out;
	return rc;
}
