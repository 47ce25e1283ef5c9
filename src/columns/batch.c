/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/batch.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 4096 };

/* ---- copies for batches -------------------------------------------------------- */

struct texts *texts_keep(struct texts *t)
{
	atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
	return t;
}

void texts_release(struct texts *t)
{
	if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
		free(t);
}

struct texts *dictionary_take(struct dictionary *d)
{
	const size_t n = d->words.n, numbers = (n + 1) * sizeof(int32_t);
	struct texts *t = d->taken;
	int32_t *offsets;
	char *bytes;

	if (t)
		return texts_keep(t);
	/* 8 bytes more: no buffer of Arrow's begins at the end of an allocation */
	t = malloc(sizeof(*t) + numbers + d->bytes + 8);
	if (!t)
		return NULL;
	offsets = (int32_t *)(t + 1);
	bytes = (char *)offsets + numbers;
	*t = (struct texts){ .refs = 2, .n = (uint32_t)n, .offsets = offsets, .bytes = bytes };
	offsets[0] = 0;
	for (size_t i = 0; i < n; i++) {
		size_t len;
		const char *text = words_bytes(&d->words, i + 1, &len);

		memcpy(bytes + offsets[i], text, len);
		offsets[i + 1] = offsets[i] + (int32_t)len;
	}
	return d->taken = t;
}

/* ---- the table ----------------------------------------------------------------- */

void dictionary_end(struct dictionary *d)
{
	texts_release(d->taken);
	words_free(&d->words);
	free(d->escaped);
	*d = (struct dictionary){ 0 };
}

void dictionary_rest(struct dictionary *d)
{
	if (d->words.n >= MANY)
		dictionary_end(d);
}

int32_t dictionary_find(const struct dictionary *d, const char *text, size_t len)
{
	return (int32_t)words_find(&d->words, text, len) - 1;
}

static int32_t number_of(struct dictionary *d, const char *text, size_t len)
{
	const size_t n = d->words.n;
	int32_t number;

	if (len > INT32_MAX - d->bytes)
		return dictionary_find(d, text, len);
	d->words.most = INT32_MAX - 1;
	number = (int32_t)words_add(&d->words, text, len) - 1;
	if (d->words.n == n)
		return number;
	d->bytes += len;
	texts_release(d->taken);
	d->taken = NULL;
	return number;
}

/* ---- UTF-8 --------------------------------------------------------------------- */

/* Bytes of the character at text; 0: not UTF-8 (also surrogates, and what is too long or too big). */
static size_t character(const uint8_t *text, size_t len)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} kinds[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };

	for (size_t n = 1; n <= 4; n++) {
		uint32_t c = text[0] & (uint8_t)~kinds[n - 1].mask;

		if ((text[0] & kinds[n - 1].mask) != kinds[n - 1].lead)
			continue;
		if (n > len)
			return 0;
		for (size_t i = 1; i < n; i++) {
			if ((text[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (text[i] & 0x3f);
		}
		return c < kinds[n - 1].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
	}
	return 0;
}

static bool is_utf8(const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n)
		if (!(n = character((const uint8_t *)text + i, len - i)))
			return false;
	return true;
}

enum { ESCAPED = 4 };   /* bytes of \xNN */

/* Into d->escaped. The length, or -1: no memory. */
static ssize_t escape(struct dictionary *d, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t n, out = 0;

	if (d->escaped_room < ESCAPED * len) {
		free(d->escaped);
		d->escaped_room = ESCAPED * len;
		d->escaped = malloc(d->escaped_room);
		if (!d->escaped) {
			d->escaped_room = 0;
			return -1;
		}
	}
	for (size_t i = 0; i < len; i += n ? n : 1) {
		uint8_t byte = (uint8_t)text[i];

		n = character((const uint8_t *)text + i, len - i);
		if (n)
			memcpy(d->escaped + out, text + i, n);
		else
			memcpy(d->escaped + out, (char[]){ '\\', 'x', digits[byte >> 4], digits[byte & 15] }, ESCAPED);
		out += n ? n : ESCAPED;
	}
	return (ssize_t)out;
}

int32_t dictionary_number(struct dictionary *d, const char *text, size_t len)
{
	const int32_t number = dictionary_find(d, text, len);
	ssize_t escaped;

	if (number >= 0)
		return number;
	if (is_utf8(text, len))
		return number_of(d, text, len);
	escaped = escape(d, text, len);
	return escaped < 0 ? -1 : number_of(d, d->escaped, (size_t)escaped);
}

/* ---- blocks ---------------------------------------------------------------------- */

enum { ALIGN = 64, MAX_KEPT = 16 };

struct block {
	struct block_pool *pool;        /* NULL: outside of pools */
	struct block *next;             /* while it is free */
	_Alignas(ALIGN) char bytes[];
};

struct block_pool {
	pthread_mutex_t lock;
	size_t size;
	struct block *free;
	unsigned int nfree, used;
	bool gone;                      /* the last block that comes back frees it */
};

struct block_pool *block_pool_new(size_t size)
{
	struct block_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->size = size;
	return pool;
}

static struct block *new_block(struct block_pool *pool, size_t size)
{
	struct block *b = aligned_alloc(ALIGN, (sizeof(*b) + size + ALIGN - 1) & ~(size_t)(ALIGN - 1));

	if (b)
		b->pool = pool;
	return b;
}

static void destroy(struct block_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void block_pool_free(struct block_pool *pool)
{
	struct block *next;
	bool last;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	for (struct block *b = pool->free; b; b = next) {
		next = b->next;
		free(b);
	}
	pool->free = NULL;
	pool->nfree = 0;
	pool->gone = true;
	last = !pool->used;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		destroy(pool);
}

void *block_take(struct block_pool *pool)
{
	struct block *b;

	pthread_mutex_lock(&pool->lock);
	b = pool->free;
	if (b) {
		pool->free = b->next;
		pool->nfree--;
	} else {
		b = new_block(pool, pool->size);
	}
	pool->used += b != NULL;
	pthread_mutex_unlock(&pool->lock);
	return b ? b->bytes : NULL;
}

void *block_alloc(size_t size)
{
	struct block *b = new_block(NULL, size);

	return b ? b->bytes : NULL;
}

static void give_back(struct block_pool *pool, struct block *b)
{
	bool last;

	pthread_mutex_lock(&pool->lock);
	pool->used--;
	if (!pool->gone && pool->nfree < MAX_KEPT) {
		b->next = pool->free;
		pool->free = b;
		pool->nfree++;
		b = NULL;
	}
	last = pool->gone && !pool->used;
	pthread_mutex_unlock(&pool->lock);
	free(b);
	if (last)
		destroy(pool);
}

void block_free(void *bytes)
{
	struct block *b = bytes ? (struct block *)((char *)bytes - offsetof(struct block, bytes)) : NULL;

	if (b && b->pool)
		give_back(b->pool, b);
	else
		free(b);
}

/* ---- batches --------------------------------------------------------------------- */

struct batch *batch_new(struct columns *columns)
{
	struct batch *b = calloc(1, sizeof(*b) + columns->n * sizeof(*b->v));

	if (!b)
		return NULL;
	b->refs = 1;
	b->columns = columns_keep(columns);
	return b;
}

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Per column: the values, then a bit for each row. */
struct batch *batch_new_rows(struct columns *columns, size_t rows)
{
	struct batch *b = batch_new(columns);
	size_t bits = aligned((rows + 7) / 8), size = 0, at = 0;

	for (size_t i = 0; i < columns->n; i++)
		size += aligned(rows * column_width(columns->v[i].type)) + bits;
	if (b)
		b->block = block_alloc(size);
	if (!b || !b->block) {
		batch_release(b);
		return NULL;
	}
	memset(b->block, 0, size);
	for (size_t i = 0; i < columns->n; i++) {
		b->v[i].values = (char *)b->block + at;
		at += aligned(rows * column_width(columns->v[i].type)) + bits;
	}
	b->rows = rows;
	return b;
}

void *batch_values(struct batch *b, size_t column)
{
	return (char *)b->block + ((const char *)b->v[column].values - (const char *)b->block);
}

void batch_set_null(struct batch *b, size_t column, size_t row)
{
	uint8_t *valid = (uint8_t *)batch_values(b, column) + aligned(b->rows * column_width(b->columns->v[column].type));

	if (!b->v[column].valid)
		memset(valid, 0xff, (b->rows + 7) / 8);
	b->v[column].valid = valid;
	b->v[column].nulls++;
	valid[row / 8] &= (uint8_t)~(1u << (row % 8));
}

struct batch *batch_keep(struct batch *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void batch_release(struct batch *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < b->columns->n; i++) {
		texts_release(b->v[i].texts);
		free(b->v[i].bytes);
	}
	block_free(b->block);
	columns_release(b->columns);
	free(b);
}

const char *batch_bytes(const struct batch *b, size_t column, size_t row, size_t *len)
{
	const struct batch_column *c = &b->v[column];
	const int32_t *numbers = c->values;

	if (b->columns->v[column].type == COLUMN_BYTES) {
		*len = (size_t)(numbers[row + 1] - numbers[row]);
		return c->bytes + numbers[row];
	}
	*len = (size_t)(c->texts->offsets[numbers[row] + 1] - c->texts->offsets[numbers[row]]);
	return c->texts->bytes + c->texts->offsets[numbers[row]];
}

uint64_t batch_number(const struct batch *b, size_t column, size_t row)
{
	const void *v = b->v[column].values;

	switch (b->columns->v[column].type) {
	case COLUMN_U8:
		return ((const uint8_t *)v)[row];
	case COLUMN_U16:
		return ((const uint16_t *)v)[row];
	case COLUMN_U32:
		return ((const uint32_t *)v)[row];
	case COLUMN_S8:
		return (uint64_t)((const int8_t *)v)[row];
	case COLUMN_S16:
		return (uint64_t)((const int16_t *)v)[row];
	case COLUMN_S32:
		return (uint64_t)((const int32_t *)v)[row];
	case COLUMN_TEXT:
	case COLUMN_BYTES:
		return (uint64_t)((const int32_t *)v)[row];
	default:
		return ((const uint64_t *)v)[row];
	}
}
