/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top_rows.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

/* The bytes that are hashed: the type of the key, then the number or the text. */
struct top_key {
	char bytes[1 + TOP_TEXT];
	unsigned int len;
};

static void key_bytes(const struct expr_value *key, struct top_key *k)
{
	const void *from = key->type == EXPR_TEXT ? key->text : (const void *)&key->u;
	uint32_t len = key->type == EXPR_TEXT ? key->len : sizeof(key->u);

	len = len < TOP_TEXT ? len : TOP_TEXT - 1;
	k->bytes[0] = key->type == EXPR_TEXT ? 't' : 'n';
	memcpy(k->bytes + 1, from, len);
	k->len = 1 + len;
}

/* Row, sums and key are one allocation. */
static struct top_row *new_row(struct top_rows *all, const struct expr_value *key, const struct top_key *k)
{
	size_t text = sizeof(struct top_row) + all->ncolumns * sizeof(int64_t);
	struct top_row *row = calloc(1, text + 1 + TOP_TEXT);

	if (!row)
		return NULL;
	row->sums = (int64_t *)(row + 1);
	memcpy((char *)row + text, k->bytes, k->len);
	row->key = *key;
	if (key->type == EXPR_TEXT) {
		row->key.text = (char *)row + text + 1;
		row->key.len = k->len - 1;
	}
	row->task = -1;
	HASH_ADD_KEYPTR(hh, all->rows, (char *)row + text, k->len, row);
	return HASH_KEPT(row);
}

struct top_row *top_rows_get(struct top_rows *all, const struct top_part *part, const struct expr_value *key)
{
	struct top_row *row;
	struct top_key k;

	key_bytes(key, &k);
	HASH_FIND(hh, all->rows, k.bytes, k.len, row);
	if (!row && HASH_COUNT(all->rows) < TOP_MAX_ROWS)
		row = new_row(all, key, &k);
	if (!row) {
		all->refused++;
		return NULL;
	}
	if (!row->events)
		row->part = part;
	return row;
}

void top_row_name(struct top_row *row, const char *text, size_t len)
{
	if (!ROOM_FOR(row->name, row->name_room, 0, len + 1))
		return;
	memcpy(row->name, text, len);
	row->name[len] = '\0';
}

static int64_t as_signed(const struct expr_value *value)
{
	return value->type == EXPR_U64 && value->s < 0 ? INT64_MAX : value->s;
}

void top_row_add(struct top_row *row, size_t column, const struct expr_value *value, bool is_unsigned)
{
	int64_t *sum = &row->sums[column], more = as_signed(value);
	uint64_t u;

	if (is_unsigned) {
		if (__builtin_add_overflow((uint64_t)*sum, value->u, &u))
			u = UINT64_MAX;
		*sum = (int64_t)u;
	} else if (__builtin_add_overflow(*sum, more, sum)) {
		*sum = more < 0 ? INT64_MIN : INT64_MAX;
	}
}

static void drop(struct top_rows *all, struct top_row *row)
{
	HASH_DEL(all->rows, row);
	free(row->name);
	free(row);
}

void top_rows_next(struct top_rows *all)
{
	struct top_row *row, *next;

	HASH_ITER(hh, all->rows, row, next) {
		if (!row->events) {
			drop(all, row);
			continue;
		}
		row->events = 0;
		memset(row->sums, 0, all->ncolumns * sizeof(*row->sums));
	}
}

void top_rows_free(struct top_rows *all)
{
	struct top_row *row, *next;

	HASH_ITER(hh, all->rows, row, next)
		drop(all, row);
}
