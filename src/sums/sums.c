/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------- */

static int no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

static int make_scratch(struct sums *s, struct fault *f)
{
	s->chunk = calloc(1, sizeof(*s->chunk));
	if (!s->chunk)
		return no_memory(f);
	for (size_t i = 0; i < s->nkeys; i++)
		if (!(s->keys[i].vector = calloc(1, sizeof(struct vector))))
			return no_memory(f);
	for (size_t i = 0; i < s->nvalues; i++) {
		struct value *v = &s->values[i];

		v->vector = v->same ? v->same->vector : calloc(1, sizeof(*v->vector));
		if (!v->vector)
			return no_memory(f);
	}
	return 0;
}

static int check(const struct sums *s, const struct sums_asked *asked, struct fault *f)
{
	if (asked->nkeys > MAX_KEYS)
		return fault_usage(f, "key: %zu keys, at most %d", asked->nkeys, MAX_KEYS);
	if (!asked->nvalues)
		return fault_usage(f, "values: there are none: expected for example \"count()\"");
	if (asked->max_keys < 1 || asked->max_keys > SUMS_MAX_KEYS)
		return fault_usage(f, "max_keys=%zu: expected 1 to %d", asked->max_keys, SUMS_MAX_KEYS);
	if (asked->interval && s->time < 0)
		return fault_usage(f, "interval: the session has no column _time: name it in fields");
	return 0;
}

static int begin(struct sums *s, struct columns *in, const struct sums_asked *asked, const char *const *events, struct fault *f)
{
	int rc = row_area_begin(&s->area, columns_keep(in));
	uint32_t words;

	if (rc)
		return rc == -ENOMEM ? no_memory(f) :
		       fault_usage(f, "the session has %zu columns, too many to sum: name some in fields", in->n);
	s->time = columns_find(in, "_time");
	s->event = columns_find(in, "_event");
	s->lost = columns_find(in, "_lost");
	s->histogram = s->event_key = -1;
	s->interval = asked->interval;
	s->max_keys = asked->max_keys;
	if (check(s, asked, f))
		return -1;
	s->keys = calloc(asked->nkeys + 1, sizeof(*s->keys));
	s->values = calloc(asked->nvalues, sizeof(*s->values));
	if (!s->keys || !s->values || dictionary_begin(&s->loss_texts))
		return no_memory(f);
	s->nkeys = asked->nkeys;
	s->nvalues = asked->nvalues;
	if (sums_compile(s, asked, events, f) || result_make(s, asked, f) || make_scratch(s, f))
		return -1;
	words = (uint32_t)s->nkeys + (s->histogram >= 0) + 1;
	return groups_begin(&s->groups, words, (uint32_t)s->nvalues, (uint32_t)s->max_keys) ? no_memory(f) : 0;
}

struct sums *sums_new(const struct sums_asked *asked, struct columns *in, const char *const *events, struct fault *f)
{
	struct sums *s = calloc(1, sizeof(*s));

	if (!s) {
		no_memory(f);
		return NULL;
	}
	if (!begin(s, in, asked, events, f))
		return s;
	sums_free(s);
	return NULL;
}

void sums_free(struct sums *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nkeys; i++) {
		operand_free(&s->keys[i].operand);
		dictionary_end(&s->keys[i].texts);
		texts_release(s->keys[i].seen);
		free(s->keys[i].map);
		free(s->keys[i].vector);
	}
	for (size_t i = 0; i < s->nvalues; i++) {
		if (s->values[i].same)
			continue;
		pairing_free(s->values[i].operand.pairing);
		operand_free(&s->values[i].operand);
		free(s->values[i].vector);
	}
	free(s->keys);
	free(s->values);
	dictionary_end(&s->loss_texts);
	groups_end(&s->groups);
	free(s->chunk);
	free(s->results);
	columns_release(s->columns);
	columns_release(s->area.columns);
	row_area_end(&s->area);
	free(s);
}

struct columns *sums_columns(struct sums *s)
{
	return s->columns;
}

/* ---- a chunk of rows: values ---------------------------------------------------------- */

/* Which rows have a value at all: others make no group. */
static void note_values(struct sums *s, const struct value *v, size_t n)
{
	bool *counts = s->chunk->counts, *has = v->vector->has;
	size_t missing = 0;

	if (v->vector->whole) {
		memset(counts, 1, n * sizeof(*counts));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		counts[i] |= has[i];
		missing += !has[i];
	}
	if (v->operand.kind != OPERAND_PAIR)
		s->no_value += missing;
}

/* Only rows with a value of the histogram are in a bucket. */
static void eval_buckets(struct sums *s, size_t n)
{
	const struct value *v = &s->values[s->histogram];
	struct vector *low = &s->chunk->buckets;
	uint64_t high;

	low->whole = v->vector->whole;
	for (size_t i = 0; i < n; i++) {
		bool has = vector_has(v->vector, i);

		s->chunk->counts[i] = low->has[i] = has;
		low->v[i] = 0;
		if (has)
			bucket_of(&v->buckets, v->vector->v[i], &low->v[i], &high);
	}
}

static void eval_values(struct sums *s, const struct batch *b, size_t from, size_t n)
{
	memset(s->chunk->counts, 0, n * sizeof(*s->chunk->counts));
	for (size_t k = 0; k < s->nvalues; k++) {
		struct value *v = &s->values[k];

		if (v->same)
			continue;
		if (v->operand.kind == OPERAND_PAIR)
			pairing_eval(v->operand.pairing, &s->area, b, from, n, (size_t)s->time, (size_t)s->event, v->vector,
				     &s->no_value);
		else
			operand_eval(&v->operand, &s->area, b, from, n, v->vector);
		note_values(s, v, n);
	}
	if (s->histogram >= 0)
		eval_buckets(s, n);
}

/* ---- keys ---------------------------------------------------------------------------- */

/* Room for a number of each text, none of them known. */
static bool begin_map(struct key *key, struct texts *texts)
{
	if (key->seen == texts)
		return true;
	texts_release(key->seen);
	key->seen = NULL;
	if (texts->n > key->map_room) {
		free(key->map);
		key->map_room = 0;
		key->map = malloc(2 * (size_t)texts->n * sizeof(*key->map));
		if (!key->map)
			return false;
		key->map_room = 2 * (size_t)texts->n;
	}
	key->seen = texts_keep(texts);
	for (uint32_t i = 0; i < texts->n; i++)
		key->map[i] = -1;
	return true;
}

/* -1: the text is new, and there are as many as there may be keys. */
static int32_t map_text(const struct sums *s, struct key *key, uint32_t number)
{
	const struct texts *t = key->seen;
	const char *text = t->bytes + t->offsets[number];
	size_t len = (size_t)(t->offsets[number + 1] - t->offsets[number]);

	key->map[number] = key->texts.n < s->max_keys ? dictionary_number(&key->texts, text, len)
						      : dictionary_find(&key->texts, text, len);
	return key->map[number];
}

/* From numbers of the batch's texts to ours. */
static void map_texts(struct sums *s, struct key *key, const struct batch *b, size_t n)
{
	bool room = begin_map(key, b->v[key->operand.column].texts);
	struct vector *v = key->vector;

	for (size_t i = 0; i < n; i++) {
		int32_t number = -1;

		if (!s->chunk->counts[i] || !vector_has(v, i))
			continue;
		if (room)
			number = key->map[v->v[i]] >= 0 ? key->map[v->v[i]] : map_text(s, key, (uint32_t)v->v[i]);
		if (number < 0) {
			s->chunk->counts[i] = false;
			s->losses[LOST_KEYS].count++;
		}
		v->v[i] = (uint64_t)number;
	}
}

static void eval_keys(struct sums *s, const struct batch *b, size_t from, size_t n)
{
	for (size_t k = 0; k < s->nkeys; k++) {
		struct key *key = &s->keys[k];

		operand_eval(&key->operand, &s->area, b, from, n, key->vector);
		if (key->operand.type == EXPR_TEXT)
			map_texts(s, key, b, n);
	}
}

/* ---- runs of rows with one key ------------------------------------------------------- */

static void compare(bool *begins, const struct vector *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		begins[i] |= v->v[i] != v->v[i - 1];
	for (size_t i = 1; !v->whole && i < n; i++)
		begins[i] |= v->has[i] != v->has[i - 1];
}

static void find_begins(struct sums *s, size_t n)
{
	const bool *counts = s->chunk->counts;
	bool *begins = s->chunk->begins;

	begins[0] = true;
	for (size_t i = 1; i < n; i++)
		begins[i] = counts[i] != counts[i - 1];
	for (size_t k = 0; k < s->nkeys; k++)
		compare(begins, s->keys[k].vector, n);
	if (s->histogram >= 0)
		compare(begins, &s->chunk->buckets, n);
}

static void fill_key(const struct sums *s, size_t i, uint64_t *words)
{
	uint64_t nulls = 0;

	for (size_t k = 0; k < s->nkeys; k++) {
		bool has = vector_has(s->keys[k].vector, i);

		words[k] = has ? s->keys[k].vector->v[i] : 0;
		nulls |= (uint64_t)!has << k;
	}
	if (s->histogram >= 0)
		words[s->nkeys] = s->chunk->buckets.v[i];
	words[s->groups.words - 1] = nulls;
}

static size_t run_end(const bool *begins, size_t i, size_t n)
{
	while (++i < n && !begins[i])
		;
	return i;
}

static void find_runs(struct sums *s, size_t n)
{
	struct chunk *c = s->chunk;
	uint64_t words[MAX_KEYS + 2];

	c->nruns = 0;
	find_begins(s, n);
	for (size_t i = 0, to; i < n; i = to) {
		uint32_t group;

		to = run_end(c->begins, i, n);
		if (!c->counts[i])
			continue;
		fill_key(s, i, words);
		group = groups_find(&s->groups, words);
		if (group == NO_GROUP)
			s->losses[LOST_KEYS].count += to - i;
		else
			c->runs[c->nruns++] = (struct run){ (uint32_t)i, (uint32_t)to, group };
	}
}

/* ---- sums ----------------------------------------------------------------------------- */

#define EACH(whole, what)                                                                 \
	for (size_t i = r->from; i < r->to; i++)                                                   \
		if ((whole) || v->has[i]) {                                                        \
			what;                                                                      \
			n++;                                                                       \
		}
/* Of one run, into its cell. */
#define RUN(what)                                                                                  \
	do {                                                                                       \
		if (v->whole) {                                                                    \
			EACH(true, what)                                                    \
		} else {                                                                           \
			EACH(false, what)                                                   \
		}                                                                                  \
	} while (0)
#define KEEP(type, op) value = !n || (type)v->v[i] op (type)value ? v->v[i] : value

static void fold_run(const struct value *of, const struct run *r, struct cell *cell)
{
	const struct vector *v = of->vector;
	uint64_t value = cell->value, n = cell->n;

	switch (of->step) {
	case STEP_ALL:
		if (v->whole)
			value += r->to - r->from;
		else
			RUN(value++);
		break;
	case STEP_TRUE: RUN(value += v->v[i] != 0); break;
	case STEP_SUM: RUN(value += v->v[i]); break;
	case STEP_MIN_S: RUN(KEEP(int64_t, <)); break;
	case STEP_MIN_U: RUN(KEEP(uint64_t, <)); break;
	case STEP_MAX_S: RUN(KEEP(int64_t, >)); break;
	case STEP_MAX_U: RUN(KEEP(uint64_t, >)); break;
	}
	*cell = (struct cell){ value, n };
}

static void add_rows(struct sums *s, const struct batch *b, size_t from, size_t n)
{
	uint64_t refused = s->losses[LOST_KEYS].count;

	eval_values(s, b, from, n);
	eval_keys(s, b, from, n);
	find_runs(s, n);
	for (size_t k = 0; k < s->nvalues; k++)
		for (const struct run *r = s->chunk->runs, *end = r + s->chunk->nruns; r < end; r++)
			fold_run(&s->values[k], r, groups_cell(&s->groups, r->group, (uint32_t)k));
	refused = s->losses[LOST_KEYS].count - refused;
	s->losses[LOST_KEYS].times += refused;
	s->lost_keys += refused;
	s->rows += n;
	s->added = true;
}

/* ---- intervals and losses ------------------------------------------------------------ */

static inline bool is_loss(const struct sums *s, const struct batch *b, size_t row)
{
	return b->v[s->lost].nulls < b->rows && !batch_is_null(b, (size_t)s->lost, row);
}

static inline uint64_t time_of(const struct sums *s, const struct batch *b, size_t row)
{
	return ((const uint64_t *)b->v[s->time].values)[row];   /* of a null: 0, which is in the present interval */
}

static void add_loss(struct sums *s, const struct batch *b, size_t row)
{
	uint64_t cause = batch_number(b, (size_t)s->event, row), count = batch_number(b, (size_t)s->lost, row);

	if (cause < LOSS_NAMES) {   /* names of losses come first among the events */
		s->losses[cause].count += count;
		s->losses[cause].times++;
		s->added = true;
	}
	for (size_t k = 0; count && k < s->nvalues; k++)
		if (s->values[k].operand.pairing)
			pairing_drop(s->values[k].operand.pairing);
}

static void set_start(struct sums *s, uint64_t start)
{
	s->start = start;
	if (!s->interval || __builtin_add_overflow(start, s->interval, &s->end))
		s->end = UINT64_MAX;
	s->begun = true;
}

/* True: the row is of a later interval, and the present one has something. */
static bool is_later(struct sums *s, const struct batch *b, size_t row)
{
	uint64_t time;

	if (s->time < 0 || batch_is_null(b, (size_t)s->time, row))
		return false;
	time = time_of(s, b, row);
	if (s->begun && time < s->end)
		return false;
	if (s->begun && s->end == UINT64_MAX)
		return false;
	if (s->begun && s->added)
		return true;
	set_start(s, s->begun ? s->start + (time - s->start) / s->interval * s->interval : time);
	return false;
}

/* Nearly always all of them, which the sign of a difference tells, or else each time. */
static size_t before_end(const struct sums *s, const struct batch *b, size_t from, size_t n)
{
	const uint64_t *times = (const uint64_t *)b->v[s->time].values + from, last = s->end - 1;
	uint64_t signs = 0;
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		signs |= (last - times[k]) | times[k];
	if (!(signs >> 63) && !(last >> 63))
		return n;
	while (i < n && times[i] < s->end)
		i++;
	return i;
}

/* Rows from there on that are events of the present interval, at most a chunk. */
static size_t run_length(const struct sums *s, const struct batch *b, size_t from)
{
	size_t n = b->rows - from < SUMS_CHUNK ? b->rows - from : SUMS_CHUNK, i = n;

	if (b->v[s->lost].nulls < b->rows)
		for (i = 0; i < n && batch_is_null(b, (size_t)s->lost, from + i); i++)
			;
	n = i;
	return s->interval ? before_end(s, b, from, n) : n;
}

bool sums_add(struct sums *s, const struct batch *b, size_t *row)
{
	while (*row < b->rows) {
		size_t n;

		if (is_loss(s, b, *row)) {
			add_loss(s, b, (*row)++);
			continue;
		}
		if (is_later(s, b, *row))
			return true;
		n = run_length(s, b, *row);
		n = n ? n : 1;   /* a time of UINT64_MAX is never below the end */
		add_rows(s, b, *row, n);
		*row += n;
	}
	return false;
}

bool sums_is_empty(const struct sums *s)
{
	return !s->added;
}

void sums_stats(const struct sums *s, struct sums_stats *stats)
{
	*stats = (struct sums_stats){
		.rows = s->rows, .keys = s->groups.n, .no_value = s->no_value, .lost_keys = s->lost_keys,
	};
	for (size_t k = 0; k < s->nvalues; k++) {
		const struct pairing *p = s->values[k].operand.pairing;

		if (!p || s->values[k].same)
			continue;
		stats->open_pairs += p->n;
		stats->dropped_pairs += p->dropped;
	}
}
