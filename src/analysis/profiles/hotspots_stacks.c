/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest stacks. Stacks with the same functions, at the same lines where these are known, are one, whatever the
 * addresses; the one with the most weight is printed. The function at its beginning is the same at all of its lines, since a
 * loop has many; then it is printed without a line. (One of a script is at a line, as its callers are.) Frames without a name
 * are the same only at one address. --tree: all of them as a call tree.
 */
#include "analysis/profiles/candidates.h"
#include "base/escape.h"
#include "engine/frameline.h"
#include "report/calltree.h"

#include <stdlib.h>
#include <string.h>

/* The profile whose stacks are printed, and how. */
struct stacks {
	const struct analysis *a;
	const struct hotspots *h;
	const struct hotspots_view *view;
	const char *asked;           /* the function of --callers or --callees; NULL: neither */
	struct groups functions;     /* of struct candidate; if asked: all, of which those with that name are chosen */
};

struct stack_sum {
	uint64_t key;                /* a hash of what makes stacks the same; the next number if others have it */
	const struct hotspot *spot;  /* the one with the most weight */
	struct callstack part;
	uint64_t weight;
	bool at_lines;               /* its first frame has different lines */
};

static unsigned int line_of(const struct callstack *stack, uint32_t i)
{
	return i || stack->frames[i]->script ? stack->frames[i]->line : 0;
}

/* What tells it apart from others of its name. A frame without a name may be of any function: its address is all there is. */
static uint64_t place_of(const struct frame *frame)
{
	return frame->symbol ? frame->start : frame->at;
}

static uint64_t hash_of(const struct hotspot *spot, const struct callstack *stack)
{
	const uint64_t own[] = { (uintptr_t)spot->key.comm, spot->key.blocked, (uint64_t)spot->key.pid, (uint64_t)spot->key.tid,
				 (uint64_t)spot->key.cpu, (uintptr_t)spot->key.cgroup };
	uint64_t h = stack->n;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		h = hash_step(h, &own[i]);
	for (uint32_t i = 0; i < stack->n; i++) {
		const uint64_t place = place_of(stack->frames[i]) ^ line_of(stack, i);

		h = hash_step(h, &stack->frames[i]->symbol);
		h = hash_step(h, &stack->frames[i]->dso);
		h = hash_step(h, &place);
	}
	return h;
}

/* Equal texts have equal addresses. */
static bool are_same(const struct hotspot *a, const struct callstack *x, const struct hotspot *b, const struct callstack *y)
{
	if (a->key.comm != b->key.comm || a->key.blocked != b->key.blocked || a->key.pid != b->key.pid ||
	    a->key.tid != b->key.tid || a->key.cpu != b->key.cpu || a->key.cgroup != b->key.cgroup || x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->frames[i]->symbol != y->frames[i]->symbol || x->frames[i]->dso != y->frames[i]->dso ||
		    place_of(x->frames[i]) != place_of(y->frames[i]) || line_of(x, i) != line_of(y, i))
			return false;
	return true;
}

/* False: out of memory. */
static bool add(struct groups *all, const struct hotspot *spot, const struct callstack *part)
{
	uint64_t key = hash_of(spot, part);
	struct stack_sum *sum;

	for (;; key++) {
		sum = groups_get(all, &key, sizeof(key), sizeof(*sum), UINT32_MAX);
		if (!sum)
			return false;
		if (!sum->spot || are_same(sum->spot, &sum->part, spot, part))
			break;
	}
	if (!sum->spot) {
		sum->spot = spot;
		sum->part = *part;
	}
	sum->weight += spot->weight;
	sum->at_lines |= part->frames[0]->line != sum->part.frames[0]->line;
	if (sum->spot == spot || spot->weight > sum->spot->weight) {
		sum->spot = spot;
		sum->part = *part;
	}
	return true;
}

/* Stable, so that stacks of equal weight stay in the order of their first samples. */
static int by_weight(const void *a_, const void *b_)
{
	const struct stack_sum *a = a_, *b = b_;

	return a->weight < b->weight ? 1 : -(a->weight > b->weight);
}

static void put_head(const struct analysis *a, const struct hotspots *h, const struct stack_sum *sum)
{
	const struct hotspot_key *key = &sum->spot->key;
	char comm[64], *cgroup = a->opts->sort & SORT_CGROUP ? escape_whole(key->cgroup) : NULL;

	escape_terminal(key->comm, strlen(key->comm), comm, sizeof(comm));
	printf("%6.2f%%  %s%s", hotspots_percent(sum->weight, h->weight), comm, key->blocked ? ", blocked" : "");
	if (a->opts->sort & SORT_PID && pidmap_has_number((pid_t)key->pid))
		printf(", process %d", (int)key->pid);
	if (a->opts->sort & SORT_TID && pidmap_has_number((pid_t)key->tid))
		printf(", thread %d", (int)key->tid);
	if (a->opts->sort & SORT_CPU && key->cpu != UINT32_MAX)
		printf(", CPU %d", (int)key->cpu);
	if (cgroup)
		printf(", in %s", cgroup);
	free(cgroup);
	putchar('\n');
}

/* The frame of the function that was asked for; of a recursive one, that of the first call. n: there is none. */
static uint32_t find_asked(const struct stacks *s, const struct callstack *stack)
{
	for (uint32_t i = stack->n; i--;)
		if (candidates_chosen(&s->functions, stack->frames[i]->symbol))
			return i;
	return stack->n;
}

/* The part of its stack that is shown: with --callers, from that function on; with --callees, up to it. n 0: it is not shown. */
static struct callstack part_of(const struct stacks *s, const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);
	const uint32_t n = stack->n, at = s->asked ? find_asked(s, stack) : 0;

	if (!s->asked)
		return (struct callstack){ n < 2 && !s->a->opts->tree ? 0 : n, stack->frames, NULL, stack->cut };
	if (at == n)
		return (struct callstack){ 0 };
	return s->a->opts->callees ? (struct callstack){ at + 1, stack->frames, NULL, false } :
				     (struct callstack){ n - at, stack->frames + at, NULL, stack->cut };
}

/* ---- --callers, --callees -------------------------------------------------------------- */

enum { NAMES_SHOWN = 4 };

static int by_function_weight(const void *a_, const void *b_)
{
	const struct candidate *a = a_, *b = b_;

	return a->weight < b->weight ? 1 : -(a->weight > b->weight);
}

static const struct frame *asked_frame(const struct stacks *s, const struct callstack *part)
{
	return part->frames[s->a->opts->callees ? part->n - 1 : 0];
}

/* The functions that have the name, the heaviest first; the others follow, with weight 0. Returns their sum. */
static uint64_t choose_functions(struct stacks *s)
{
	uint64_t sum = 0;

	s->functions = candidates_of(s->h, s->asked);
	candidates_choose(&s->functions, s->asked);
	for (struct candidate *c = groups_first(&s->functions); c; c = groups_next(c))
		c->weight = 0;
	for (const struct hotspot *spot = groups_first(&s->h->all); spot; spot = groups_next(spot)) {
		const struct callstack part = part_of(s, spot);

		if (part.n)
			candidates_chosen(&s->functions, asked_frame(s, &part)->symbol)->weight += spot->weight;
		sum += part.n ? spot->weight : 0;
	}
	groups_sort(&s->functions, by_function_weight);
	return sum;
}

/* Several functions may have the name. */
static void put_functions(const struct stacks *s, size_t n)
{
	size_t shown = 0;

	printf("%zu functions have this name: ", n);
	for (const struct candidate *c = groups_first(&s->functions); c && shown < n && shown < NAMES_SHOWN; c = groups_next(c)) {
		fputs(shown++ ? ", " : "", stdout);
		hotspots_put(s->a, FIT_NAME, c->symbol);
		printf(" %.2f %%", hotspots_percent(c->weight, s->h->weight));
	}
	if (shown < n)
		printf(" and %zu more", n - shown);
	putchar('\n');
}

static void put_asked(struct stacks *s, struct analysis_opts *o)
{
	const uint64_t sum = choose_functions(s);
	size_t n = 0;

	for (const struct candidate *c = groups_first(&s->functions); c && c->weight; c = groups_next(c))
		n++;
	o->called |= n > 0;
	if (!n)
		candidates_suggest(&s->functions, s->asked, o->callers_near, sizeof(o->callers_near));
	fputs(o->callees ? "\ncallees of " : "\ncallers of ", stdout);
	hotspots_put(s->a, FIT_NAME, n == 1 ? ((const struct candidate *)groups_first(&s->functions))->symbol : s->asked);
	printf(", %.2f %%\n", hotspots_percent(sum, s->h->weight));
	if (n > 1)
		put_functions(s, n);
}

/* ---- --tree --------------------------------------------------------------------------- */

#define LEAST_SHARE 0.005

/* Stacks without their outermost callers begin anywhere: they are below one row, so that the tree of the others stays one.
 * --below leaves out these callers, missing or not; the tree of callees has none. */
static unsigned int roots_of(const struct analysis_opts *o)
{
	return o->callees ? 0 : o->below.n ? HOTSPOT_TASK : HOTSPOT_TASK | HOTSPOT_CUT;
}

static int print_tree(const struct stacks *s)
{
	const bool callers = s->a->opts->callers;
	struct calltree_view shown = {
		.whole = s->h->weight, .least = s->a->opts->least, .columns = analysis_terminal(s->a->opts).columns, .callers = callers,
		.all_by = "--than 0",
	};
	struct folded *tree = folded_new();
	int rc;

	for (const struct hotspot *spot = groups_first(&s->h->all); spot && tree; spot = groups_next(spot)) {
		const struct callstack part = part_of(s, spot);

		if (part.n)
			hotspot_fold(spot, part, callers ? FOLDED_ROOT_FIRST : FOLDED_LEAF_FIRST, roots_of(s->a->opts), tree);
	}
	/* a function with few samples has callers, too */
	if (tree && !shown.least)
		shown.least = (s->asked ? hotspots_percent(folded_total(tree), s->h->weight) : 100) * LEAST_SHARE;
	if (tree && folded_total(tree) && !s->asked)
		puts("\ncall tree");
	rc = !tree || (folded_total(tree) && calltree_print(tree, &shown, stdout)) ? -1 : 0;
	folded_free(tree);
	return rc;
}

/* ---- the hottest stacks ---------------------------------------------------------------- */

enum { CALLERS_SHOWN = 10 };

static void print_part(const struct analysis *a, const struct stack_sum *sum)
{
	const size_t columns = analysis_terminal(a->opts).columns;
	struct frame first = *sum->part.frames[0];

	first.line = sum->at_lines ? 0 : first.line;
	frameline_print(sum->part.frames[0] == callstacks_broken() ? callstacks_broken() : &first, columns, stdout);
	for (uint32_t i = 1; i < sum->part.n; i++)
		frameline_print(sum->part.frames[i], columns, stdout);
}

/* 0: none. */
static uint64_t most_stacks(const struct stacks *s)
{
	const struct analysis_opts *o = s->a->opts;

	if (o->stacks)
		return o->stacks == HOTSPOTS_NO_STACKS ? 0 : o->stacks;
	return o->callers ? CALLERS_SHOWN : s->view->stacks;
}

static int print_stacks(const struct stacks *s)
{
	const struct analysis_opts *o = s->a->opts;
	const uint64_t most = most_stacks(s);
	struct groups all = { 0 };
	uint64_t n = 0;
	bool good = true;

	for (const struct hotspot *spot = groups_first(&s->h->all); spot && good; spot = groups_next(spot)) {
		const struct callstack part = part_of(s, spot);

		good = !part.n || add(&all, spot, &part);
	}
	groups_sort(&all, by_weight);
	for (const struct stack_sum *sum = groups_first(&all); sum && n < most; sum = groups_next(sum)) {
		if (hotspots_percent(sum->weight, s->h->weight) < o->least)
			break;
		if (!n++ && !o->callers)
			puts("\nhottest stacks");
		put_head(s->a, s->h, sum);
		print_part(s->a, sum);
	}
	groups_free(&all);
	return good ? 0 : -1;
}

void hotspots_print_stacks(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	const char *option = hotspots_stacks_option(a->opts);
	struct stacks s = { a, h, view, a->opts->callers ? a->opts->callers : a->opts->callees, { 0 } };

	if (option && !view->stacks && !view->fits)
		printf("\n%s shows nothing: the samples have no call chains; record with -g\n", option);
	if (!view->stacks) {
		a->opts->chainless |= !view->fits;
		return;
	}
	if (s.asked)
		put_asked(&s, a->opts);
	if ((a->opts->tree ? print_tree : print_stacks)(&s))
		fprintf(stderr, "perf-prof: %s: out of memory for the stacks\n", view->name);
	groups_free(&s.functions);
}
