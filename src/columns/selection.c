/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/selection.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

struct selecting {
	const struct batch *b;
	const uint32_t *rows;
	size_t n;
};

/* ---- memory ------------------------------------------------------------------------ */

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t values_bytes(enum column_type type, size_t rows)
{
	return aligned(column_width(type) * (rows + (type == COLUMN_BYTES)));
}

static size_t valid_bytes(size_t rows)
{
	return aligned((rows + 7) / 8);
}

size_t batch_size(const struct batch *b)
{
	size_t size = 0;

	for (size_t i = 0; i < b->columns->n; i++) {
		enum column_type type = b->columns->v[i].type;
		const int32_t *ends = b->v[i].values;

		size += values_bytes(type, b->rows) + (b->v[i].valid ? valid_bytes(b->rows) : 0);
		size += type == COLUMN_BYTES ? (size_t)ends[b->rows] : 0;
	}
	return size;
}

/* Values of a column, and a bit for each row where the whole has nulls. */
static int lay_out(const struct selecting *s, struct batch *out, const uint32_t *from)
{
	size_t size = 0;
	char *block;

	for (size_t i = 0; i < out->columns->n; i++)
		size += values_bytes(out->columns->v[i].type, s->n) + (s->b->v[from[i]].valid ? valid_bytes(s->n) : 0);
	block = out->block = block_alloc(size);
	if (!block)
		return -1;
	for (size_t i = 0; i < out->columns->n; i++) {
		out->v[i].values = block;
		block += values_bytes(out->columns->v[i].type, s->n);
		if (!s->b->v[from[i]].valid)
			continue;
		out->v[i].valid = (uint8_t *)block;
		memset(block, 0xff, valid_bytes(s->n));
		block += valid_bytes(s->n);
	}
	return 0;
}

/* ---- columns ----------------------------------------------------------------------- */

#define GATHER(type)                                                                               \
	do {                                                                                       \
		for (size_t i = 0; i < s->n; i++)                                                  \
			((type *)to)[i] = ((const type *)from->values)[s->rows[i]];                \
	} while (0)

static void gather(const struct selecting *s, const struct batch_column *from, void *to, size_t width)
{
	switch (width) {
	case 1: GATHER(uint8_t); break;
	case 2: GATHER(uint16_t); break;
	case 4: GATHER(uint32_t); break;
	default: GATHER(uint64_t); break;
	}
}

static int gather_bytes(const struct selecting *s, const struct batch_column *from, struct batch_column *to)
{
	const int32_t *at = from->values;
	int32_t *ends = (int32_t *)to->values;
	size_t total = 0;

	for (size_t i = 0; i < s->n; i++)
		total += (size_t)(at[s->rows[i] + 1] - at[s->rows[i]]);
	to->bytes = malloc(total + 1);
	if (!to->bytes)
		return -1;
	*ends = 0;
	for (size_t i = 0; i < s->n; i++) {
		int32_t begin = at[s->rows[i]], len = at[s->rows[i] + 1] - begin;

		memcpy(to->bytes + ends[i], from->bytes + begin, (size_t)len);
		ends[i + 1] = ends[i] + len;
	}
	return 0;
}

static void gather_nulls(const struct selecting *s, const struct batch_column *from, struct batch_column *to)
{
	uint8_t *valid = (uint8_t *)to->valid;

	for (size_t i = 0; valid && i < s->n; i++)
		if (!(from->valid[s->rows[i] / 8] >> (s->rows[i] % 8) & 1)) {
			valid[i / 8] &= (uint8_t)~(1u << (i % 8));
			to->nulls++;
		}
	if (!to->nulls)
		to->valid = NULL;
}

struct batch *batch_select(const struct batch *b, const uint32_t *rows, size_t n, struct columns *columns, const uint32_t *from)
{
	struct selecting s = { b, rows, n };
	struct batch *out = batch_new(columns);
	int rc = out ? lay_out(&s, out, from) : -1;

	for (size_t i = 0; !rc && i < columns->n; i++) {
		const struct batch_column *column = &b->v[from[i]];

		if (columns->v[i].type == COLUMN_BYTES)
			rc = gather_bytes(&s, column, &out->v[i]);
		else
			gather(&s, column, (void *)out->v[i].values, column_width(columns->v[i].type));
		gather_nulls(&s, column, &out->v[i]);
		out->v[i].texts = column->texts ? texts_keep(column->texts) : NULL;
	}
	if (rc) {
		batch_release(out);
		return NULL;
	}
	out->rows = n;
	return out;
}
