/* SPDX-License-Identifier: Apache-2.0 */
/* Sums as a batch. */
#include "sums/private.h"

#include "base/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------ */

static int add_column(struct sums *s, char *name, enum column_type type, enum result_kind kind, size_t of, struct fault *f)
{
	struct columns *c = s->columns;

	if (name && columns_find(c, name) >= 0) {
		fault_usage(f, "two columns of the result have the name %s: name them by a dict", name);
		free(name);
		return -1;
	}
	if (!name || !ROOM_FOR_ONE(c->v, c->n)) {
		free(name);
		return fault_set(f, EXIT_FAILED, "out of memory");
	}
	s->results[c->n] = (struct result){ kind, (uint32_t)of };
	c->v[c->n++] = (struct column){ name, type };
	return 0;
}

static enum column_type number_type(const struct operand *o)
{
	return o->type == EXPR_S64 ? COLUMN_S64 : COLUMN_U64;
}

static enum column_type key_type(const struct sums *s, const struct key *key)
{
	return key->operand.kind == OPERAND_COLUMN ? s->area.columns->v[key->operand.column].type : number_type(&key->operand);
}

static char *with_end(const char *name, const char *end)
{
	char *both;

	return asprintf(&both, "%s%s", name, end) < 0 ? NULL : both;
}

static int add_value(struct sums *s, const char *name, size_t at, struct fault *f)
{
	const struct value *v = &s->values[at];
	bool counts = v->fold == FOLD_COUNT || v->fold == FOLD_HISTOGRAM;

	if (v->fold == FOLD_HISTOGRAM &&
	    (add_column(s, with_end(name, "_low"), number_type(&v->operand), RESULT_LOW, at, f) ||
	     add_column(s, with_end(name, "_high"), number_type(&v->operand), RESULT_HIGH, at, f)))
		return -1;
	return add_column(s, strdup(name), counts ? COLUMN_U64 : number_type(&v->operand), RESULT_VALUE, at, f);
}

int result_make(struct sums *s, const struct sums_asked *asked, struct fault *f)
{
	s->columns = calloc(1, sizeof(*s->columns));
	s->results = calloc(asked->nkeys + asked->nvalues + 5, sizeof(*s->results));   /* three before, two of a histogram */
	if (!s->columns || !s->results)
		return fault_set(f, EXIT_FAILED, "out of memory");
	s->columns->refs = 1;
	if ((s->time >= 0 && add_column(s, strdup("_time"), COLUMN_U64, RESULT_TIME, 0, f)) ||
	    add_column(s, strdup("_event"), COLUMN_TEXT, RESULT_EVENT, 0, f) ||
	    add_column(s, strdup("_lost"), COLUMN_U64, RESULT_LOST, 0, f))
		return -1;
	for (size_t i = 0; i < asked->nkeys; i++)
		if ((ssize_t)i != s->event_key &&
		    add_column(s, strdup(asked->keys[i].name), key_type(s, &s->keys[i]), RESULT_KEY, i, f))
			return -1;
	for (size_t i = 0; i < asked->nvalues; i++)
		if (add_value(s, asked->values[i].name, i, f))
			return -1;
	return 0;
}

/* ---- rows --------------------------------------------------------------------------- */

/* A column that is being filled. */
struct filling {
	char *values;
	uint8_t *valid;                 /* zeroed */
	size_t width, n;                /* n: values that are set */
};

static void set(struct filling *out, size_t row, uint64_t value)
{
	switch (out->width) {
	case 1: ((uint8_t *)out->values)[row] = (uint8_t)value; break;
	case 2: ((uint16_t *)out->values)[row] = (uint16_t)value; break;
	case 4: ((uint32_t *)out->values)[row] = (uint32_t)value; break;
	default: ((uint64_t *)out->values)[row] = value;
	}
	out->valid[row / 8] |= (uint8_t)(1u << (row % 8));
	out->n++;
}

static void set_key(const struct sums *s, struct filling *out, size_t key)
{
	for (uint32_t g = 0; g < s->groups.n; g++) {
		const uint64_t *words = groups_key(&s->groups, g);

		if (!(words[s->groups.words - 1] >> key & 1))
			set(out, g, words[key]);
	}
}

static void set_bounds(const struct sums *s, struct filling *out, size_t value, bool is_high)
{
	for (uint32_t g = 0; g < s->groups.n; g++) {
		uint64_t low, high;

		bucket_of(&s->values[value].buckets, groups_key(&s->groups, g)[s->nkeys], &low, &high);
		set(out, g, is_high ? high : low);
	}
}

static void set_value(const struct sums *s, struct filling *out, size_t value)
{
	enum fold fold = s->values[value].fold;

	for (uint32_t g = 0; g < s->groups.n; g++) {
		const struct cell *c = groups_cell(&s->groups, g, (uint32_t)value);

		if (c->n || fold == FOLD_COUNT || fold == FOLD_HISTOGRAM)
			set(out, g, c->value);
	}
}

static void set_losses(const struct sums *s, struct filling *out, enum result_kind kind, const int32_t *names)
{
	size_t row = s->groups.n;

	for (size_t i = 0; i < LOSSES; i++) {
		if (!s->losses[i].times)
			continue;
		if (kind == RESULT_EVENT)
			set(out, row, (uint64_t)names[i]);
		else if (kind == RESULT_LOST)
			set(out, row, s->losses[i].count);
		row++;
	}
}

static void fill_column(const struct sums *s, struct filling *out, const struct result *r, size_t rows, const int32_t *names)
{
	switch (r->kind) {
	case RESULT_TIME:
		for (size_t row = 0; s->begun && row < rows; row++)
			set(out, row, s->start);
		break;
	case RESULT_EVENT:
		if (s->event_key >= 0)
			set_key(s, out, (size_t)s->event_key);
		break;
	case RESULT_LOST:
		break;
	case RESULT_KEY:
		set_key(s, out, r->of);
		break;
	case RESULT_LOW:
	case RESULT_HIGH:
		set_bounds(s, out, r->of, r->kind == RESULT_HIGH);
		break;
	case RESULT_VALUE:
		set_value(s, out, r->of);
		break;
	}
	set_losses(s, out, r->kind, names);
}

/* ---- the batch ---------------------------------------------------------------------- */

enum { ALIGN = 64 };

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t bytes_of(const struct columns *c, size_t column, size_t rows)
{
	return aligned(rows * column_width(c->v[column].type)) + aligned((rows + 7) / 8);
}

static size_t block_size(const struct columns *c, size_t rows)
{
	size_t size = 0;

	for (size_t i = 0; i < c->n; i++)
		size += bytes_of(c, i, rows);
	return size;
}

static struct dictionary *texts_for(struct sums *s, const struct result *r)
{
	ssize_t key = r->kind == RESULT_EVENT ? s->event_key : (ssize_t)r->of;

	return key >= 0 ? &s->keys[key].texts : &s->loss_texts;
}

static int fill_batch(struct sums *s, struct batch *out, const int32_t *names)
{
	size_t at = 0, size = block_size(s->columns, out->rows);
	char *block = out->block = block_alloc(size);

	if (!block)
		return -1;
	memset(block, 0, size);
	for (size_t i = 0; i < s->columns->n; i++) {
		size_t width = column_width(s->columns->v[i].type);
		struct filling f = { block + at, (uint8_t *)block + at + aligned(out->rows * width), width, 0 };

		fill_column(s, &f, &s->results[i], out->rows, names);
		out->v[i].values = f.values;
		out->v[i].valid = f.n < out->rows ? f.valid : NULL;
		out->v[i].nulls = out->rows - f.n;
		at += bytes_of(s->columns, i, out->rows);
		if (s->columns->v[i].type == COLUMN_TEXT && !(out->v[i].texts = dictionary_take(texts_for(s, &s->results[i]))))
			return -1;
	}
	return 0;
}

/* Their numbers in the column _event. -1: no memory. */
static int name_losses(struct sums *s, int32_t *names)
{
	static const char *const own[] = { [LOST_KEYS - LOSS_NAMES] = "lost:keys", [LOST_PAIRS - LOSS_NAMES] = "lost:pairs" };
	struct dictionary *d = s->event_key >= 0 ? &s->keys[s->event_key].texts : &s->loss_texts;

	for (size_t i = 0; i < LOSSES; i++) {
		const char *name = i < LOSS_NAMES ? loss_names[i] : own[i - LOSS_NAMES];

		names[i] = s->losses[i].times ? dictionary_number(d, name, strlen(name)) : 0;
		if (names[i] < 0)
			return -1;
	}
	return 0;
}

static size_t count_losses(struct sums *s)
{
	size_t n = 0;

	for (size_t k = 0; k < s->nvalues; k++) {
		struct pairing *p = s->values[k].operand.pairing;

		if (!p || s->values[k].same)
			continue;
		s->losses[LOST_PAIRS].count += p->refused;
		s->losses[LOST_PAIRS].times += p->refused;
		p->dropped += p->refused;
		p->refused = 0;
	}
	for (size_t i = 0; i < LOSSES; i++)
		n += s->losses[i].times > 0;
	return n;
}

/* Texts of earlier intervals take no places of new keys. */
static void forget_texts(struct sums *s, struct dictionary *d)
{
	struct dictionary empty = { 0 };

	if (d->n <= s->max_keys / 2) {
		dictionary_rest(d);
	} else if (!dictionary_begin(&empty)) {
		dictionary_end(d);
		*d = empty;
	}
}

static void begin_again(struct sums *s)
{
	groups_clear(&s->groups);
	memset(s->losses, 0, sizeof(s->losses));
	s->added = false;
	for (size_t k = 0; k < s->nkeys; k++) {
		struct key *key = &s->keys[k];
		uint32_t n = key->texts.n;

		if (key->operand.type != EXPR_TEXT)
			continue;
		forget_texts(s, &key->texts);
		if (key->texts.n == n)
			continue;
		texts_release(key->seen);
		key->seen = NULL;
	}
}

struct batch *sums_take(struct sums *s)
{
	size_t rows = s->added ? s->groups.n + count_losses(s) : 0;
	struct batch *out = rows ? batch_new(s->columns) : NULL;
	int32_t names[LOSSES];

	if (!rows)
		s->added = false;
	if (!out)
		return NULL;
	out->rows = rows;
	if (name_losses(s, names) || fill_batch(s, out, names)) {
		batch_release(out);
		return NULL;
	}
	begin_again(s);
	return out;
}
