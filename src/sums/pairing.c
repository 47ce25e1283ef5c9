/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/pairing.h"

#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 8, AREA = 65536, MAX_COLUMNS = 4096 };

/* ---- columns as fields ------------------------------------------------------------- */

static const enum expr_field_kind kinds[COLUMN_NTYPES] = {
	[COLUMN_U8] = EXPR_FIELD_UINT, [COLUMN_U16] = EXPR_FIELD_UINT, [COLUMN_U32] = EXPR_FIELD_UINT,
	[COLUMN_U64] = EXPR_FIELD_UINT, [COLUMN_S8] = EXPR_FIELD_SINT, [COLUMN_S16] = EXPR_FIELD_SINT,
	[COLUMN_S32] = EXPR_FIELD_SINT, [COLUMN_S64] = EXPR_FIELD_SINT, [COLUMN_TIMESTAMP] = EXPR_FIELD_SINT,
	[COLUMN_TEXT] = EXPR_FIELD_DATA_LOC, [COLUMN_BYTES] = EXPR_FIELD_BYTES,
};

/* Where a column's value begins: slots are written as numbers of 64 bits. */
static uint16_t place_of(size_t column, size_t width)
{
	return (uint16_t)(column * SLOT + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? SLOT - width : 0));
}

int row_area_begin(struct row_area *area, struct columns *columns)
{
	struct expr_field *fields;
	size_t n = 0;

	*area = (struct row_area){ .columns = columns };
	if (columns->n > MAX_COLUMNS)
		return -E2BIG;
	fields = calloc(columns->n + 1, sizeof(*fields));
	area->bytes = calloc(1, AREA);
	area->schema.fields = fields;
	if (!fields || !area->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < columns->n; i++) {
		const struct column *c = &columns->v[i];
		size_t width = column_width(c->type);

		if (strcmp(c->name, "_lost"))   /* null in all rows that are summed */
			fields[n++] = (struct expr_field){
				c->name, kinds[c->type], 0, false, place_of(i, width), (uint16_t)width,
			};
	}
	area->schema.nfields = n;
	return 0;
}

void row_area_end(struct row_area *area)
{
	free((struct expr_field *)area->schema.fields);
	free(area->bytes);
	*area = (struct row_area){ 0 };
}

/* ---- making ------------------------------------------------------------------------- */

static ssize_t column_of(const struct columns *columns, const struct expr_node *node)
{
	if (node->op != EXPR_NAME && node->op != EXPR_STRING)
		return -1;
	for (size_t i = 0; i < columns->n; i++)
		if (strlen(columns->v[i].name) == node->len && !memcmp(columns->v[i].name, node->text, node->len) &&
		    columns->v[i].type != COLUMN_BYTES && strcmp(columns->v[i].name, "_lost"))
			return (ssize_t)i;
	return -1;
}

static int find_used(struct operand *o, const struct columns *columns)
{
	for (size_t i = 0; i < columns->n; i++) {
		if (!expr_reads(o->expr, 0, place_of(i, column_width(columns->v[i].type))))
			continue;
		if (!ROOM_FOR_ONE(o->used, o->nused))
			return -ENOMEM;
		o->used[o->nused++] = (uint32_t)i;
	}
	o->inputs = calloc(o->nused + 1, sizeof(*o->inputs));
	return o->inputs ? 0 : -ENOMEM;
}

int operand_compile(struct operand *o, const struct row_area *area, const struct expr_tree *tree, expr_node_ref ref,
		    struct expr_error *err)
{
	ssize_t column = column_of(area->columns, expr_at(tree, ref));
	int rc;

	if (column >= 0) {
		enum column_type type = area->columns->v[column].type;

		*o = (struct operand){
			.kind = OPERAND_COLUMN, .column = (size_t)column,
			.type = type == COLUMN_TEXT ? EXPR_TEXT : type == COLUMN_U64 ? EXPR_U64 : EXPR_S64,
		};
		return 0;
	}
	*o = (struct operand){ .kind = OPERAND_EXPR };
	rc = expr_compile(&o->expr, tree, ref, &area->schema, err);
	if (rc)
		return rc;
	o->type = expr_type(o->expr);
	if (o->type == EXPR_TEXT)
		return expr_fail(err, expr_at(tree, ref)->from, "a number, or the name of a column", "this is a text");
	return find_used(o, area->columns);
}

void operand_free(struct operand *o)
{
	expr_free(o->expr);
	free(o->used);
	free(o->inputs);
	*o = (struct operand){ 0 };
}

/* ---- columns ------------------------------------------------------------------------ */

#define LOAD(type, wide)                                                                           \
	do {                                                                                       \
		const type *p_ = (const type *)values + from;                                      \
		for (size_t i = 0; i < n; i++)                                                     \
			out->v[i] = (uint64_t)(wide)p_[i];                                         \
	} while (0)

static void load_values(enum column_type type, const void *values, size_t from, size_t n, struct vector *out)
{
	switch (type) {
	case COLUMN_U8: LOAD(uint8_t, uint64_t); break;
	case COLUMN_U16: LOAD(uint16_t, uint64_t); break;
	case COLUMN_U32: LOAD(uint32_t, uint64_t); break;
	case COLUMN_S8: LOAD(int8_t, int64_t); break;
	case COLUMN_S16: LOAD(int16_t, int64_t); break;
	case COLUMN_S32: case COLUMN_TEXT: LOAD(int32_t, int64_t); break;
	default: LOAD(uint64_t, uint64_t); break;
	}
}

static void load_column(const struct batch *b, size_t column, size_t from, size_t n, struct vector *out)
{
	load_values(b->columns->v[column].type, b->v[column].values, from, n, out);
	out->whole = !b->v[column].valid;
	for (size_t i = 0; !out->whole && i < n; i++)
		out->has[i] = !batch_is_null(b, column, from + i);
}

/* ---- expressions -------------------------------------------------------------------- */

/* Texts lie behind the slots. False: a null, or a text that does not fit. */
static bool fill_text(const struct row_area *area, const struct batch *b, size_t column, size_t row, size_t *end)
{
	size_t len;
	const char *text = batch_bytes(b, column, row, &len);
	uint32_t word;

	if (len > AREA - *end)
		return false;
	word = (uint32_t)(*end | len << 16);
	memcpy(area->bytes + *end, text, len);
	memcpy(area->bytes + column * SLOT + place_of(0, sizeof(word)), &word, sizeof(word));
	*end += len;
	return true;
}

/* One row, from the values of the chunk that begins at `from`. */
static bool fill(const struct operand *o, const struct row_area *area, const struct batch *b, size_t from, size_t i)
{
	size_t end = area->columns->n * SLOT;

	for (size_t k = 0; k < o->nused; k++) {
		size_t column = o->used[k];

		if (!vector_has(&o->inputs[k], i))
			return false;
		if (b->columns->v[column].type != COLUMN_TEXT)
			memcpy(area->bytes + column * SLOT, &o->inputs[k].v[i], SLOT);
		else if (!fill_text(area, b, column, from + i, &end))
			return false;
	}
	return true;
}

static void compute(const struct operand *o, const struct row_area *area, const struct batch *b, size_t from, size_t n,
		    struct vector *out)
{
	struct expr_run run = { .area[0] = { area->bytes, AREA } };
	struct expr_value value;

	for (size_t k = 0; k < o->nused; k++)
		load_column(b, o->used[k], from, n, &o->inputs[k]);
	for (size_t i = 0; i < n; i++) {
		out->has[i] = fill(o, area, b, from, i) && !expr_eval(o->expr, &run, &value);
		out->v[i] = out->has[i] ? value.u : 0;
	}
	out->whole = false;
}

void operand_eval(const struct operand *o, const struct row_area *area, const struct batch *b, size_t from, size_t n,
		  struct vector *out)
{
	out->whole = o->kind == OPERAND_NONE;
	if (o->kind == OPERAND_COLUMN)
		load_column(b, o->column, from, n, out);
	else if (o->kind == OPERAND_EXPR)
		compute(o, area, b, from, n, out);
}

enum { BEGIN, END };

int pairing_begin(struct pairing *p)
{
	for (int i = 0; i < 2; i++)
		p->vectors[i] = calloc(1, sizeof(*p->vectors[i]));
	return p->vectors[BEGIN] && p->vectors[END] ? 0 : -ENOMEM;
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	for (int i = 0; i < 2; i++) {
		free(p->names[i]);
		operand_free(&p->keys[i]);
		free(p->vectors[i]);
	}
	texts_release(p->events);
	free(p->text);
	pairs_free(&p->open);
	free(p);
}

/* A pair that ended before it began has no value: events that are not in order. */
static bool end(struct pairing *p, uint64_t key, uint64_t time, uint64_t *duration, uint64_t *no_value)
{
	struct pair_end e;

	if (!pairs_end(&p->open, time, key, &e))
		return false;
	*duration = e.duration;
	*no_value += time < e.start;
	return time >= e.start;
}

void pairing_drop(struct pairing *p)
{
	p->dropped += p->open.nopen;
	pairs_drop(&p->open);
}

/* ---- rows --------------------------------------------------------------------------- */

static void find_events(struct pairing *p, struct texts *texts)
{
	if (p->events == texts)
		return;
	texts_release(p->events);
	p->events = texts_keep(texts);
	for (int k = 0; k < 2; k++) {
		size_t len = strlen(p->names[k]);

		p->numbers[k] = -1;
		for (uint32_t i = 0; i < texts->n && p->numbers[k] < 0; i++)
			if ((size_t)(texts->offsets[i + 1] - texts->offsets[i]) == len &&
			    !memcmp(texts->bytes + texts->offsets[i], p->names[k], len))
				p->numbers[k] = (int32_t)i;
	}
}

void pairing_eval(struct pairing *p, const struct row_area *area, const struct batch *b, size_t from, size_t n, size_t time,
		  size_t event, struct vector *out, uint64_t *no_value)
{
	const uint64_t *times = (const uint64_t *)b->v[time].values + from;
	const int32_t *events = (const int32_t *)b->v[event].values + from;

	find_events(p, b->v[event].texts);
	for (int k = 0; k < 2; k++)
		operand_eval(&p->keys[k], area, b, from, n, p->vectors[k]);
	out->whole = false;
	for (size_t i = 0; i < n; i++) {
		bool is[2] = { events[i] == p->numbers[BEGIN], events[i] == p->numbers[END] };

		out->has[i] = false;
		for (int k = 0; k < 2; k++)
			if (is[k] && (!vector_has(p->vectors[k], i) || batch_is_null(b, time, from + i))) {
				++*no_value;
				is[k] = false;
			}
		if (is[END])
			out->has[i] = end(p, p->vectors[END]->v[i], times[i], &out->v[i], no_value);
		if (is[BEGIN])
			pairs_start(&p->open, times[i], p->vectors[BEGIN]->v[i], 0);
	}
}
