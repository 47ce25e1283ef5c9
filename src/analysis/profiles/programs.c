/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is in BEFORE only is the same as one that is in AFTER only if most of the names in the stacks of one of the two,
 * of functions and locks, are also in those of the other. Names that a third program has, too, do not count: all programs have
 * those of the kernel and of the C library.
 */
#include "analysis/profiles/programs.h"

#include "base/room.h"
#include "report/unnamed.h"
#include "table/groups.h"

#include <stdio.h>

enum { MAX_NAMES = 1 << 20, MIN_PERCENT = 1 };

struct program {
	uint64_t weight[SHARES_SIDES];
	size_t own;                  /* names that no third program has */
	bool paired;
	char name[];
};

/* A name in the stacks of a program. */
struct held {
	struct program *program;
	const char *name;
	char key[];                  /* program, NUL, name */
};

struct pair {
	struct program *before, *after;
	size_t names;
};

struct programs {
	struct groups all, held;     /* of struct program, of struct held */
	uint64_t weight[SHARES_SIDES];
	struct pair pairs[SHARES_MOVES];
	size_t npairs;
};

struct programs *programs_new(void)
{
	return calloc(1, sizeof(struct programs));
}

void programs_free(struct programs *p)
{
	if (!p)
		return;
	groups_free(&p->all);
	groups_free(&p->held);
	free(p);
}

/* ---- stacks ---------------------------------------------------------------------------- */

/* "futex cache (/build/srv)": the path, without what follows it; NULL: there is none. */
static const char *path_in(const char *name)
{
	const char *path = strstr(name, " (/");

	return path && name[strlen(name) - 1] == ')' ? path + 2 : NULL;
}

/* The file's name in a path, as far as it is the same in all versions: "libz.so" of "/usr/lib/libz.so.1)". */
static const char *file_in(const char *path, size_t *len)
{
	const char *slash = strrchr(path, '/'), *so = strstr(slash, ".so.");

	*len = so ? (size_t)(so + 3 - (slash + 1)) : strlen(slash + 1) - 1;
	return slash + 1;
}

char *programs_without_folder(const char *name)
{
	const char *path = path_in(name), *file;
	char *text;
	size_t len;

	if (!path)
		return NULL;
	file = file_in(path, &len);
	return asprintf(&text, "%.*s%.*s)", (int)(path - name), name, (int)len, file) < 0 ? NULL : text;
}

/* NULL: out of memory. */
static struct program *program_of(struct programs *p, const char *name, size_t len)
{
	return groups_text(&p->all, name, len, offsetof(struct program, name), MAX_NAMES);
}

static void hold(struct programs *p, struct program *program, const char *name, size_t len)
{
	const size_t head = program ? strlen(program->name) + 1 : 0;
	char *key = program ? malloc(head + len) : NULL;
	struct held *held;

	if (!key)
		return;
	memcpy(key, program->name, head);
	memcpy(key + head, name, len);
	held = groups_text(&p->held, key, head + len, offsetof(struct held, key), MAX_NAMES);
	if (held) {
		held->program = program;
		held->name = held->key + head;
	}
	free(key);
}

/* A lock is also of the program or library in whose file it is. */
static void take_lock(struct programs *p, enum share_side side, const char *name, const char *path, uint64_t weight)
{
	size_t len;
	const char *file = file_in(path, &len);
	struct program *program = program_of(p, file, len);

	hold(p, program, name, (size_t)(path - 2 - name));
	if (program)
		program->weight[side] += weight;
}

/* What follows are functions of the other task. */
static bool is_other_task(const char *name)
{
	return !strncmp(name, "[woken by ", 10) || !strncmp(name, "[because of ", 12);
}

void programs_take(struct programs *p, enum share_side side, const struct folded *f, const struct folded_stack *stack)
{
	const size_t task = stack->n > 1 && path_in(folded_frame_name(f, stack->frames[0]));
	const char *root = stack->n ? folded_frame_name(f, stack->frames[task]) : "";
	struct program *program = program_of(p, root, strlen(root));

	p->weight[side] += stack->weight;
	if (program)
		program->weight[side] += stack->weight;
	for (size_t i = 0; i < stack->n; i++) {
		const char *name = folded_frame_name(f, stack->frames[i]), *path = path_in(name);

		if (is_other_task(name))
			return;
		if (path)
			take_lock(p, side, name, path, stack->weight);
		else if (i > task && *name != '[' && !is_unnamed(name, "") && shares_is_telling(name))
			hold(p, program, name, strlen(name));
	}
}

/* ---- pairs ----------------------------------------------------------------------------- */

static int by_name(const void *a_, const void *b_)
{
	const struct held *a = *(struct held *const *)a_, *b = *(struct held *const *)b_;
	const int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->program->name, b->program->name);
}

/* Tasks that ran only for a moment are not taken for renamed programs. */
static bool is_alone(const struct programs *p, const struct program *one, enum share_side side)
{
	return !one->weight[!side] && (double)one->weight[side] * 100 >= (double)p->weight[side] * MIN_PERCENT;
}

static struct pair *pair_of(struct programs *p, struct program *before, struct program *after)
{
	size_t i = 0;

	while (i < p->npairs && (p->pairs[i].before != before || p->pairs[i].after != after))
		i++;
	if (i == SHARES_MOVES)
		return NULL;
	if (i == p->npairs)
		p->pairs[p->npairs++] = (struct pair){ before, after, 0 };
	return &p->pairs[i];
}

/* The programs that have a name. */
static void count_name(struct programs *p, struct held *const *held, size_t n)
{
	struct program *a = held[0]->program, *b = held[n - 1]->program;
	struct pair *pair = NULL;

	if (n == 2 && is_alone(p, a, SHARES_BEFORE) && is_alone(p, b, SHARES_AFTER))
		pair = pair_of(p, a, b);
	else if (n == 2 && is_alone(p, b, SHARES_BEFORE) && is_alone(p, a, SHARES_AFTER))
		pair = pair_of(p, b, a);
	if (n > 1 && !pair)
		return;
	for (size_t i = 0; i < n; i++)
		held[i]->program->own++;
	if (pair)
		pair->names++;
}

/* Without memory, there are no pairs. */
static void count_names(struct programs *p)
{
	struct held **sorted = calloc(p->held.n + 1, sizeof(*sorted));
	size_t n = 0;

	for (struct held *h = groups_first(&p->held); sorted && h; h = groups_next(h))
		sorted[n++] = h;
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && !strcmp(sorted[end]->name, sorted[i]->name))
			end++;
		count_name(p, &sorted[i], end - i);
	}
	free(sorted);
}

static bool is_one_program(const struct pair *pair)
{
	return 2 * pair->names > pair->before->own || 2 * pair->names > pair->after->own;
}

/* Those with the most names; each program is in one pair. */
static size_t choose_pairs(struct programs *p, struct shares_move chosen[SHARES_MOVES])
{
	for (size_t n = 0;; n++) {
		const struct pair *most = NULL;

		for (size_t i = 0; i < p->npairs; i++) {
			const struct pair *one = &p->pairs[i];

			if (!one->before->paired && !one->after->paired && is_one_program(one) && (!most || one->names > most->names))
				most = one;
		}
		if (!most)
			return n;
		most->before->paired = most->after->paired = true;
		chosen[n] = (struct shares_move){ .from = most->before->name, .to = most->after->name };
	}
}

/* ---- names ----------------------------------------------------------------------------- */

/* A name with the one that a program has in AFTER. */
struct text {
	char *text;
	struct share *share;
	struct shares_move *pair;    /* NULL: it has no program that was renamed */
};

struct texts {
	struct shares_move *pairs;
	size_t npairs;
	bool before;                 /* of BEFORE, else of AFTER */
	struct text *all;
	size_t n, room;
};

/* Where a program's name is as a word of its own; NULL: nowhere. */
static char *word_in(char *text, const char *program)
{
	const size_t len = strlen(program);

	for (char *p = strstr(text, program); p && len; p = strstr(p + 1, program))
		if ((p == text || strchr(" (/", p[-1])) && strchr(" )]", p[len]))   /* or its end */
			return p;
	return NULL;
}

static void rename_program(struct text *t, struct shares_move *pair, bool before)
{
	char *at = word_in(t->text, before ? pair->from : pair->to), *text;

	if (!at)
		return;
	t->pair = pair;
	if (!before || asprintf(&text, "%.*s%s%s", (int)(at - t->text), t->text, pair->to, at + strlen(pair->from)) < 0)
		return;
	free(t->text);
	t->text = text;
}

/* Without memory, the name stays as it is. */
static void add_text(void *ctx, struct share *share)
{
	struct texts *all = ctx;
	struct text t = { strdup(share->function), share, NULL };

	for (size_t i = 0; t.text && i < all->npairs && !t.pair; i++)
		rename_program(&t, &all->pairs[i], all->before);
	if (t.pair && ROOM_FOR(all->all, all->room, all->n, 1))
		all->all[all->n++] = t;
	else
		free(t.text);
}

static int by_text(const void *a_, const void *b_)
{
	const struct text *a = a_, *b = b_;

	return strcmp(a->text, b->text);
}

static void join(const struct texts *before, struct texts *after)
{
	if (after->n)
		qsort(after->all, after->n, sizeof(*after->all), by_text);
	for (size_t i = 0; i < before->n && after->n; i++) {
		const struct text *one = &before->all[i];
		const struct text *now = bsearch(one, after->all, after->n, sizeof(*after->all), by_text);

		if (!now)
			continue;
		shares_join(now->share, one->share);
		one->pair->functions++;
	}
}

static void free_texts(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->all[i].text);
	free(t->all);
}

/* Pairs whose names are in no row are not reported. */
static size_t keep_used(struct shares_move *pairs, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (pairs[i].functions)
			pairs[kept++] = pairs[i];
	return kept;
}

size_t programs_match(struct programs *p, struct shares *s, struct shares_move pairs[SHARES_MOVES])
{
	struct texts before = { .pairs = pairs, .before = true }, after = { .pairs = pairs };
	size_t n;

	count_names(p);
	n = before.npairs = after.npairs = choose_pairs(p, pairs);
	shares_each_alone(s, SHARES_BEFORE, add_text, &before);
	shares_each_alone(s, SHARES_AFTER, add_text, &after);
	join(&before, &after);
	free_texts(&before);
	free_texts(&after);
	return keep_used(pairs, n);
}
