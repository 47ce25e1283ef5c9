/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/sums.h"

#include "base/nearest.h"
#include "base/room.h"
#include "engine/keys.h"
#include "sums/pairing.h"
#include "table/groups.h"
#include "table/histogram.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 63 };   /* there is a bit for each null */

enum fold { FOLD_COUNT, FOLD_SUM, FOLD_MIN, FOLD_MAX, FOLD_HISTOGRAM };

struct key {
	struct operand operand;
	struct dictionary texts;        /* of a text key: the words of groups are numbers of these */
	struct texts *seen;             /* kept: the texts of the batch before, */
	int32_t *map;                   /* and their numbers in `texts`; -1: not known */
	size_t map_room;
	struct vector *vector;
};

/* What a row does to a sum: the fold for a type of values. */
enum step { STEP_ALL, STEP_TRUE, STEP_SUM, STEP_MIN_S, STEP_MIN_U, STEP_MAX_S, STEP_MAX_U };

struct value {
	enum fold fold;
	enum step step;
	struct operand operand;
	struct buckets buckets;         /* of a histogram */
	const struct value *same;       /* an earlier one, with the same pairs, whose vector this has; or NULL */
	struct vector *vector;
};

/* One value of a group. */
struct cell {
	uint64_t value;
	uint64_t n;                     /* how many values it is of */
};

/* A column of the result. */
enum result_kind { RESULT_TIME, RESULT_EVENT, RESULT_LOST, RESULT_KEY, RESULT_LOW, RESULT_HIGH, RESULT_VALUE };
struct result {
	enum result_kind kind;
	uint32_t of;                    /* the key or value */
};

/* Causes of losses: those of streams, then our own. */
enum { LOST_KEYS = LOSS_NAMES, LOST_PAIRS, LOSSES };
struct loss {
	uint64_t count, times;
};

/* Neighbouring rows that have the same key, which is frequent: they are summed together. */
struct run {
	uint32_t from, to;
	struct cell *cells;             /* of its group: one for each value */
};

struct chunk {
	bool counts[SUMS_CHUNK];        /* the row has a value */
	bool begins[SUMS_CHUNK];        /* its key differs from that of the row before */
	struct vector buckets;          /* of the histogram: where they begin */
	struct run runs[SUMS_CHUNK];
	size_t nruns;
};

struct sums {
	struct row_area area;           /* has the columns of the input */
	struct columns *columns;        /* of the result */
	struct result *results;
	ssize_t time, event, lost;      /* columns of the input; time: -1: there is none */

	struct key *keys;
	struct value *values;
	size_t nkeys, nvalues, max_keys;
	ssize_t histogram;              /* the value that has buckets: the word after the keys; -1: none */
	ssize_t event_key;              /* the key that is the column _event; -1: none */
	struct dictionary loss_texts;   /* of the column _event, unless it is a key */
	struct groups groups;           /* a row: words, which are the keys, the bucket, a bit for each null; then cells */
	size_t nwords;

	bool begun, added;              /* start is set; something to take */
	uint64_t interval, start, end;
	struct loss losses[LOSSES];     /* of this interval */
	uint64_t rows, no_value, lost_keys;
	/* Of the present chunk. */
	struct chunk *chunk;
};

/* Keys and values: from texts to operands. */

struct compiling {
	struct sums *s;
	const struct expr_tree *tree;
	const char *const *events;
	const struct plans *plans;      /* NULL: not known */
	struct expr_error err;
};

enum { MAX_ARGS = 5 };
struct arguments {
	const struct expr_node *call;
	expr_node_ref v[MAX_ARGS];
	size_t n;
};

/* More than MAX_ARGS are one too many for everybody. */
static struct arguments arguments_of(const struct compiling *c, const struct expr_node *call)
{
	struct arguments args = { .call = call };

	for (expr_node_ref at = call->kid[0]; at && args.n < MAX_ARGS; at = expr_at(c->tree, at)->next)
		args.v[args.n++] = at;
	return args;
}

static bool is_word(const struct expr_node *node, enum expr_op op, const char *word)
{
	return node->op == op && strlen(word) == node->len && !memcmp(node->text, word, node->len);
}

/* ---- pair() ------------------------------------------------------------------------- */

static int compile_number(struct compiling *c, struct operand *o, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(c->tree, ref);
	int rc = operand_compile(o, &c->s->area, c->tree, ref, &c->err);

	if (!rc && o->type == EXPR_TEXT)
		return expr_fail(&c->err, node->from, "a number", "%.*s is a text", (int)(node->to - node->from),
				 c->tree->text + node->from);
	return rc;
}

static int find_event(struct compiling *c, expr_node_ref ref, char **name)
{
	const struct expr_node *node = expr_at(c->tree, ref);
	char text[128], all[400] = "";
	struct nearest near;
	size_t used = 0;

	if (node->op != EXPR_STRING)
		return expr_fail(&c->err, node->from, "its name in quotes", "this is not the name of an event");
	snprintf(text, sizeof(text), "%.*s", (int)node->len, node->text);
	nearest_begin(&near, text);
	for (size_t i = 0; c->events[i]; i++) {
		if (is_word(node, EXPR_STRING, c->events[i]))
			return (*name = strdup(c->events[i])) ? 0 : -ENOMEM;
		nearest_offer(&near, c->events[i]);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "", c->events[i]);
	}
	return expr_fail(&c->err, node->from, all, "the session has no event %s%s%s%s", text,
			 nearest_get(&near) ? "; did you mean " : "", nearest_get(&near) ? nearest_get(&near) : "",
			 nearest_get(&near) ? "?" : "");
}

/* Whether a row of an event of that name has the column. */
static bool event_has(const struct plans *plans, const char *event, uint32_t column)
{
	for (size_t e = 0; e < plans->n; e++) {
		const struct row_plan *plan = &plans->v[e];

		for (size_t i = 0; i < plan->nreaders && !strcmp(plan->name, event); i++)
			if (plan->readers[i].column == column)
				return true;
	}
	return false;
}

/* Else no such event would ever have a key, and there would be no pairs. */
static int check_key(struct compiling *c, const struct operand *key, const char *event, expr_node_ref ref)
{
	size_t n = key->kind == OPERAND_COLUMN ? 1 : key->nused;

	for (size_t i = 0; c->plans && i < n; i++) {
		uint32_t column = key->kind == OPERAND_COLUMN ? (uint32_t)key->column : key->used[i];

		if (!event_has(c->plans, event, column))
			return expr_fail(&c->err, expr_at(c->tree, ref)->from,
					 "a key that both events have, or two keys: pair(\"START\", \"END\", KEY OF START, KEY OF END)",
					 "%s has no %s", event, c->s->area.columns->v[column].name);
	}
	return 0;
}

static int compile_pair(struct compiling *c, struct operand *o, const struct expr_node *call)
{
	struct arguments args = arguments_of(c, call);
	struct pairing *p;
	int rc = 0;

	if (args.n < 3 || args.n > 4)
		return expr_fail(&c->err, call->from, "pair(\"START\", \"END\", KEY), or with a fourth, the key of END",
				 "pair() has %zu arguments", args.n);
	if (c->s->time < 0)
		return expr_fail(&c->err, call->from, "fields with _time", "pair() needs the column _time");
	*o = (struct operand){ .kind = OPERAND_PAIR, .type = EXPR_U64, .pairing = calloc(1, sizeof(*p)) };
	p = o->pairing;
	if (!p)
		return -ENOMEM;
	p->open.max = c->s->max_keys;
	p->text = strndup(c->tree->text + call->from, call->to - call->from);
	if (!p->text)
		return -ENOMEM;
	for (size_t k = 0; k < 2 && !rc; k++)
		rc = find_event(c, args.v[k], &p->names[k]);
	for (size_t k = 0; k < 2 && !rc; k++) {
		expr_node_ref key = args.v[k + 2 < args.n ? k + 2 : 2];

		rc = compile_number(c, &p->keys[k], key);
		if (!rc)
			rc = check_key(c, &p->keys[k], p->names[k], key);
	}
	return rc ? rc : pairing_begin(p);
}

/* ---- values ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum fold fold;
	size_t least, most;             /* arguments */
	const char *use;
} folds[] = {
	{ "count", FOLD_COUNT, 0, 1, "count(), or count(EXPRESSION) of events for which it is true" },
	{ "sum", FOLD_SUM, 1, 1, "sum(EXPRESSION)" },
	{ "min", FOLD_MIN, 1, 1, "min(EXPRESSION)" },
	{ "max", FOLD_MAX, 1, 1, "max(EXPRESSION)" },
	{ "histogram", FOLD_HISTOGRAM, 1, 3,
	  "histogram(EXPRESSION), with \"log2\", or with \"linear\" or \"loglinear\" and a number" },
};
enum { NFOLDS = sizeof(folds) / sizeof(*folds) };

static const struct {
	const char *name;
	enum bucket_kind kind;
	uint64_t step;                  /* 0: an argument */
} bucket_words[] = {
	{ "log2", BUCKETS_LOG2, 1 }, { "linear", BUCKETS_LINEAR, 0 }, { "loglinear", BUCKETS_LOGLINEAR, 0 },
};

static int no_fold(struct compiling *c, const struct expr_node *node)
{
	struct nearest near;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", node->op == EXPR_CALL ? (int)node->len : 0, node->text);
	nearest_begin(&near, name);
	for (size_t i = 0; i < NFOLDS; i++)
		nearest_offer(&near, folds[i].name);
	return expr_fail(&c->err, node->from, "count(), sum(), min(), max() or histogram()",
			 "this is not a value of many events%s%s%s",
			 nearest_get(&near) ? "; did you mean " : "", nearest_get(&near) ? nearest_get(&near) : "",
			 nearest_get(&near) ? "()?" : "");
}

static int compile_step(struct compiling *c, struct buckets *b, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(c->tree, ref);
	uint64_t step = node->op == EXPR_NUMBER ? node->number.u : 0;

	if (!step || step > INT64_MAX)
		return expr_fail(&c->err, node->from, "a number above 0", "this is not the size of a bucket");
	if (b->kind == BUCKETS_LOGLINEAR && (step & (step - 1) || step > 1024))
		return expr_fail(&c->err, node->from, "1, 2, 4, 8, ... 1024", "this is no number of buckets");
	b->step = step;
	return 0;
}

static int compile_buckets(struct compiling *c, struct value *v, const struct arguments *args)
{
	size_t i = 0, nwords = sizeof(bucket_words) / sizeof(*bucket_words);

	v->buckets = (struct buckets){ BUCKETS_LOG2, v->operand.type == EXPR_S64, 1 };
	if (args->n == 1)
		return 0;
	while (i < nwords && !is_word(expr_at(c->tree, args->v[1]), EXPR_STRING, bucket_words[i].name))
		i++;
	if (i == nwords)
		return expr_fail(&c->err, expr_at(c->tree, args->v[1])->from,
				 "\"log2\", \"linear\" or \"loglinear\", in quotes", "this is not a kind of histogram");
	v->buckets.kind = bucket_words[i].kind;
	if ((args->n == 3) == (bucket_words[i].step != 0))
		return expr_fail(&c->err, args->call->from,
				 bucket_words[i].step ? "histogram(EXPRESSION, \"log2\")"
						      : "histogram(EXPRESSION, KIND, NUMBER)",
				 "wrong number of arguments for \"%s\"", bucket_words[i].name);
	return args->n == 3 ? compile_step(c, &v->buckets, args->v[2]) : 0;
}

static const struct value *find_same(const struct compiling *c, const struct value *end, const struct expr_node *call)
{
	for (const struct value *v = c->s->values; v < end; v++)
		if (v->operand.pairing && !v->same && strlen(v->operand.pairing->text) == call->to - call->from &&
		    !memcmp(v->operand.pairing->text, c->tree->text + call->from, call->to - call->from))
			return v;
	return NULL;
}

static int compile_operand(struct compiling *c, struct value *v, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(c->tree, ref);
	int rc;

	if (!is_word(node, EXPR_CALL, "pair")) {
		rc = compile_number(c, &v->operand, ref);
		if (rc == -EINVAL && strstr(c->err.message, "no function pair()"))
			return expr_fail(&c->err, c->err.at, "pair() alone, as in sum(pair(...)), and calculate with the results, which are in ns",
					 "pair() cannot be a part of an expression");
		return rc;
	}
	v->same = find_same(c, v, node);
	if (!v->same)
		return compile_pair(c, &v->operand, node);
	v->operand = v->same->operand;
	return 0;
}

static enum step step_of(const struct value *v)
{
	static const enum step steps[][2] = {
		[FOLD_SUM] = { STEP_SUM, STEP_SUM }, [FOLD_MIN] = { STEP_MIN_U, STEP_MIN_S },
		[FOLD_MAX] = { STEP_MAX_U, STEP_MAX_S }, [FOLD_HISTOGRAM] = { STEP_ALL, STEP_ALL },
	};

	if (v->fold == FOLD_COUNT)
		return v->operand.kind == OPERAND_NONE || v->operand.kind == OPERAND_PAIR ? STEP_ALL : STEP_TRUE;
	return steps[v->fold][v->operand.type == EXPR_S64];
}

static int compile_value(struct compiling *c, size_t at)
{
	const struct expr_node *call = expr_at(c->tree, c->tree->root);
	struct value *v = &c->s->values[at];
	struct arguments args;
	size_t i = 0;
	int rc;

	while (i < NFOLDS && !is_word(call, EXPR_CALL, folds[i].name))
		i++;
	if (i == NFOLDS)
		return no_fold(c, call);
	args = arguments_of(c, call);
	if (args.n < folds[i].least || args.n > folds[i].most)
		return expr_fail(&c->err, call->from, folds[i].use, "%s() has %zu arguments", folds[i].name, args.n);
	v->fold = folds[i].fold;
	rc = args.n ? compile_operand(c, v, args.v[0]) : 0;
	v->step = step_of(v);
	if (rc || v->fold != FOLD_HISTOGRAM)
		return rc;
	if (c->s->histogram >= 0)
		return expr_fail(&c->err, call->from, "one histogram", "there is a histogram already");
	c->s->histogram = (ssize_t)at;
	return compile_buckets(c, v, &args);
}

/* ---- keys --------------------------------------------------------------------------- */

static int compile_key(struct compiling *c, size_t at)
{
	return operand_compile(&c->s->keys[at].operand, &c->s->area, c->tree, c->tree->root, &c->err);
}

/* A column whose name is no name in an expression, such as EVENT.NAME: in quotes, it is one. */
static char *text_of(const struct sums *s, const char *text, bool *quoted)
{
	char *copy;

	*quoted = columns_find(s->area.columns, text) >= 0 && strpbrk(text, ".:") && !strpbrk(text, "\"\\");
	return asprintf(&copy, *quoted ? "\"%s\"" : "%s", text) < 0 ? NULL : copy;
}

static int compile_word(struct compiling c, const struct sums_word *word, size_t at, bool is_key, struct fault *f)
{
	struct expr_tree tree = { 0 };
	bool quoted;
	char *text = text_of(c.s, word->text, &quoted);
	int rc = text ? expr_tree_parse(&tree, text, &c.err) : -ENOMEM;

	c.tree = &tree;
	if (!rc)
		rc = is_key ? compile_key(&c, at) : compile_value(&c, at);
	expr_tree_free(&tree);
	free(text);
	if (rc == -EINVAL)
		return key_fault(f, is_key ? "key=" : "values=", word->text, word->name, c.err.at - (quoted && c.err.at),
				 c.err.message, c.err.expected);
	return rc ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

/* asked.c: compiles what is asked for. 0, or -1 with f. */
static int sums_compile(struct sums *s, const struct sums_asked *asked, const char *const *events, struct fault *f)
{
	struct compiling c = { .s = s, .events = events, .plans = asked->plans };

	for (size_t i = 0; i < asked->nkeys; i++) {
		if (compile_word(c, &asked->keys[i], i, true, f))
			return -1;
		if (s->keys[i].operand.kind == OPERAND_COLUMN && (ssize_t)s->keys[i].operand.column == s->event &&
		    !strcmp(asked->keys[i].name, "_event"))
			s->event_key = (ssize_t)i;
	}
	for (size_t i = 0; i < asked->nvalues; i++)
		if (compile_word(c, &asked->values[i], i, false, f))
			return -1;
	return 0;
}

/* Sums as a batch. */

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

/* result.c: the columns of the result. 0, or -1 with f. */
static int result_make(struct sums *s, const struct sums_asked *asked, struct fault *f)
{
	s->columns = calloc(1, sizeof(*s->columns));
	s->results = calloc(asked->nkeys + asked->nvalues + 5, sizeof(*s->results));   /* three before, two of a histogram */
	if (!s->columns || !s->results)
		return fault_set(f, EXIT_FAILED, "out of memory");
	s->columns->refs = 1;
	s->columns->names_losses = s->event_key < 0;
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
	struct batch *batch;
	size_t column, width;
	void *values;
};

static void set(struct filling *out, size_t row, bool has, uint64_t value)
{
	if (!has)
		batch_set_null(out->batch, out->column, row);
	else if (out->width == 1)
		((uint8_t *)out->values)[row] = (uint8_t)value;
	else if (out->width == 2)
		((uint16_t *)out->values)[row] = (uint16_t)value;
	else if (out->width == 4)
		((uint32_t *)out->values)[row] = (uint32_t)value;
	else
		((uint64_t *)out->values)[row] = value;
}

static struct cell *cells_of(const struct sums *s, uint64_t *words)
{
	return (struct cell *)(words + s->nwords);
}

static void set_key(const struct sums *s, struct filling *out, size_t key)
{
	const uint64_t *words;
	size_t row = 0;

	for (words = groups_first(&s->groups); words; words = groups_next(words))
		set(out, row++, !(words[s->nwords - 1] >> key & 1), words[key]);
}

static void set_bounds(const struct sums *s, struct filling *out, size_t value, bool is_high)
{
	const uint64_t *words;
	uint64_t low, high;
	size_t row = 0;

	for (words = groups_first(&s->groups); words; words = groups_next(words)) {
		bucket_of(&s->values[value].buckets, words[s->nkeys], &low, &high);
		set(out, row++, true, is_high ? high : low);
	}
}

static void set_value(const struct sums *s, struct filling *out, size_t value)
{
	enum fold fold = s->values[value].fold;
	uint64_t *words;
	size_t row = 0;

	for (words = groups_first(&s->groups); words; words = groups_next(words)) {
		const struct cell *c = cells_of(s, words) + value;

		set(out, row++, c->n || fold == FOLD_COUNT || fold == FOLD_HISTOGRAM, c->value);
	}
}

static void set_losses(const struct sums *s, struct filling *out, enum result_kind kind, const int32_t *names)
{
	size_t row = s->groups.n;

	for (size_t i = 0; i < LOSSES; i++)
		if (s->losses[i].times)
			set(out, row++, kind == RESULT_EVENT || kind == RESULT_LOST, kind == RESULT_EVENT ? (uint64_t)names[i] : s->losses[i].count);
}

/* One value in the first rows. */
static void set_all(struct filling *out, size_t rows, bool has, uint64_t value)
{
	for (size_t row = 0; row < rows; row++)
		set(out, row, has, value);
}

static void fill_column(const struct sums *s, struct filling *out, const struct result *r, const int32_t *names)
{
	switch (r->kind) {
	case RESULT_TIME:
		set_all(out, out->batch->rows, s->begun, s->start);
		return;
	case RESULT_EVENT:
		if (s->event_key >= 0)
			set_key(s, out, (size_t)s->event_key);
		else
			set_all(out, s->groups.n, false, 0);
		break;
	case RESULT_LOST:
		set_all(out, s->groups.n, false, 0);
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

static struct dictionary *texts_for(struct sums *s, const struct result *r)
{
	ssize_t key = r->kind == RESULT_EVENT ? s->event_key : (ssize_t)r->of;

	return key >= 0 ? &s->keys[key].texts : &s->loss_texts;
}

static int fill_batch(struct sums *s, struct batch *out, const int32_t *names)
{
	for (size_t i = 0; i < s->columns->n; i++) {
		struct filling f = { out, i, column_width(s->columns->v[i].type), batch_values(out, i) };

		fill_column(s, &f, &s->results[i], names);
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
		s->losses[LOST_PAIRS].count += p->open.refused;
		s->losses[LOST_PAIRS].times += p->open.refused;
		p->dropped += p->open.refused;
		p->open.refused = 0;
	}
	for (size_t i = 0; i < LOSSES; i++)
		n += s->losses[i].times > 0;
	return n;
}

/* Texts of earlier intervals take no places of new keys. */
static void forget_texts(struct sums *s, struct dictionary *d)
{
	if (d->words.n <= s->max_keys / 2)
		dictionary_rest(d);
	else
		dictionary_end(d);
}

static void begin_again(struct sums *s)
{
	groups_clear(&s->groups);
	memset(s->losses, 0, sizeof(s->losses));
	s->added = false;
	for (size_t k = 0; k < s->nkeys; k++) {
		struct key *key = &s->keys[k];
		size_t n = key->texts.words.n;

		if (key->operand.type != EXPR_TEXT)
			continue;
		forget_texts(s, &key->texts);
		if (key->texts.words.n == n)
			continue;
		texts_release(key->seen);
		key->seen = NULL;
	}
}

struct batch *sums_take(struct sums *s)
{
	size_t rows = s->added ? s->groups.n + count_losses(s) : 0;
	struct batch *out = rows ? batch_new_rows(s->columns, rows) : NULL;
	int32_t names[LOSSES];

	if (!rows)
		s->added = false;
	if (!out)
		return NULL;
	if (name_losses(s, names) || fill_batch(s, out, names)) {
		batch_release(out);
		return NULL;
	}
	begin_again(s);
	return out;
}

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
	if (!s->keys || !s->values)
		return no_memory(f);
	s->nkeys = asked->nkeys;
	s->nvalues = asked->nvalues;
	if (sums_compile(s, asked, events, f) || result_make(s, asked, f) || make_scratch(s, f))
		return -1;
	s->nwords = s->nkeys + (s->histogram >= 0) + 1;
	return 0;
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
	groups_free(&s->groups);
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

	key->map[number] = key->texts.words.n < s->max_keys ? dictionary_number(&key->texts, text, len)
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
	words[s->nwords - 1] = nulls;
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
	const size_t size = s->nwords * sizeof(uint64_t) + s->nvalues * sizeof(struct cell);
	uint64_t words[MAX_KEYS + 2];

	c->nruns = 0;
	find_begins(s, n);
	for (size_t i = 0, to; i < n; i = to) {
		uint64_t *group;

		to = run_end(c->begins, i, n);
		if (!c->counts[i])
			continue;
		fill_key(s, i, words);
		group = groups_get(&s->groups, words, s->nwords * sizeof(*words), size, s->max_keys);
		if (group)
			c->runs[c->nruns++] = (struct run){ (uint32_t)i, (uint32_t)to, cells_of(s, group) };
		else
			s->losses[LOST_KEYS].count += to - i;
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
			fold_run(&s->values[k], r, &r->cells[k]);
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
		stats->open_pairs += p->open.nopen;
		stats->dropped_pairs += p->dropped;
	}
}
