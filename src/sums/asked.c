/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values: from texts to operands. */
#include "sums/private.h"

#include "base/nearest.h"
#include "engine/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	p->max = c->s->max_keys;
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
	struct key *key = &c->s->keys[at];
	int rc = operand_compile(&key->operand, &c->s->area, c->tree, c->tree->root, &c->err);

	if (rc || key->operand.type != EXPR_TEXT)
		return rc;
	return dictionary_begin(&key->texts);
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

int sums_compile(struct sums *s, const struct sums_asked *asked, const char *const *events, struct fault *f)
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
