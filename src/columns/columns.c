/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/columns.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct columns *columns_copy(const struct column *v, size_t n)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	c->v = calloc(n, sizeof(*c->v));
	for (; c->v && c->n < n; c->n++) {
		c->v[c->n] = (struct column){ strdup(v[c->n].name), v[c->n].type };
		if (!c->v[c->n].name)
			break;
	}
	if (c->n == n)
		return c;
	columns_release(c);
	return NULL;
}

bool columns_are_like(const struct columns *a, const struct columns *b)
{
	if (a == b)
		return true;
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].type != b->v[i].type || strcmp(a->v[i].name, b->v[i].name))
			return false;
	return true;
}

struct columns *columns_keep(struct columns *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

void columns_release(struct columns *c)
{
	if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	free(c);
}

size_t column_width(enum column_type type)
{
	static const uint8_t widths[COLUMN_NTYPES] = {
		[COLUMN_U8] = 1, [COLUMN_U16] = 2, [COLUMN_U32] = 4, [COLUMN_U64] = 8,
		[COLUMN_S8] = 1, [COLUMN_S16] = 2, [COLUMN_S32] = 4, [COLUMN_S64] = 8,
		[COLUMN_TIMESTAMP] = 8,
		[COLUMN_F64] = 8,
		[COLUMN_TEXT] = 4, [COLUMN_BYTES] = 4,
	};

	return widths[type];
}

ssize_t columns_find(const struct columns *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return (ssize_t)i;
	return -1;
}
