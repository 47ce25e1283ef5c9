/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest stacks. Stacks with the same functions are one, whatever the addresses in these; the one with the most weight
 * is printed. Frames without a name are the same only at one address. --tree: all of them as a call tree.
 */
#include "analysis/profiles/hotspots_private.h"
#include "base/escape.h"
#include "engine/callers.h"
#include "engine/framefold.h"
#include "engine/frameline.h"
#include "report/calltree.h"

#include <stdlib.h>
#include <string.h>

/* The part of a stack that is shown: with --callers, from that function on. */
struct part {
	const struct frame *const *frames;
	uint32_t n;
};

struct stack_sum {
	uint64_t key;                /* a hash of what makes stacks the same; the next number if others have it */
	const struct hotspot *spot;  /* the one with the most weight */
	struct part part;
	uint64_t weight;
	UT_hash_handle hh;
};

/* What tells it apart from others of its name. A frame without a name may be of any function: its address is all there is. */
static uint64_t place_of(const struct frame *frame)
{
	return frame->symbol ? frame->start : frame->at;
}

static uint64_t hash_of(const struct hotspot *spot, const struct part *stack)
{
	const uint64_t own[] = { (uintptr_t)spot->key.comm, spot->key.blocked, (uint64_t)spot->key.pid, (uint64_t)spot->key.cpu,
				 (uintptr_t)spot->key.cgroup };
	uint64_t h = stack->n;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		h = hash_step(h, &own[i]);
	for (uint32_t i = 0; i < stack->n; i++) {
		const uint64_t place = place_of(stack->frames[i]);

		h = hash_step(h, &stack->frames[i]->symbol);
		h = hash_step(h, &stack->frames[i]->dso);
		h = hash_step(h, &place);
	}
	return h;
}

/* Equal texts have equal addresses. */
static bool are_same(const struct hotspot *a, const struct part *x, const struct hotspot *b, const struct part *y)
{
	if (a->key.comm != b->key.comm || a->key.blocked != b->key.blocked || a->key.pid != b->key.pid ||
	    a->key.cpu != b->key.cpu || a->key.cgroup != b->key.cgroup || x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->frames[i]->symbol != y->frames[i]->symbol || x->frames[i]->dso != y->frames[i]->dso ||
		    place_of(x->frames[i]) != place_of(y->frames[i]))
			return false;
	return true;
}

/* False: out of memory. */
static bool add(struct stack_sum **all, const struct hotspot *spot, const struct part *part)
{
	uint64_t key = hash_of(spot, part);
	struct stack_sum *sum = NULL;

	for (;; key++) {
		HASH_FIND(hh, *all, &key, sizeof(key), sum);
		if (!sum || are_same(sum->spot, &sum->part, spot, part))
			break;
	}
	if (!sum) {
		sum = calloc(1, sizeof(*sum));
		if (!sum)
			return false;
		sum->key = key;
		sum->spot = spot;
		sum->part = *part;
		HASH_ADD(hh, *all, key, sizeof(key), sum);
		sum = HASH_KEPT(sum);
	}
	if (!sum)
		return false;
	sum->weight += spot->weight;
	if (sum->spot == spot || spot->weight > sum->spot->weight) {
		sum->spot = spot;
		sum->part = *part;
	}
	return true;
}

/* Stable, so that stacks of equal weight stay in the order of their first samples. */
static int by_weight(const struct stack_sum *a, const struct stack_sum *b)
{
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
	if (a->opts->sort & SORT_CPU && key->cpu != UINT32_MAX)
		printf(", CPU %d", (int)key->cpu);
	if (cgroup)
		printf(", in %s", cgroup);
	free(cgroup);
	putchar('\n');
}

/* n 0: it is not shown. */
static struct part part_of(const struct analysis *a, const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);
	uint32_t n = stack->n;

	if (!a->opts->callers)
		return (struct part){ stack->frames, n < 2 && !a->opts->tree ? 0 : n };
	/* of a recursive function, the first call */
	while (n && (!stack->frames[n - 1]->symbol || !callers_is(a->opts->callers, stack->frames[n - 1]->symbol)))
		n--;
	return n ? (struct part){ stack->frames + n - 1, stack->n - n + 1 } : (struct part){ NULL, 0 };
}

static void put_title(const struct analysis *a, const struct hotspots *h, uint64_t weight)
{
	char name[256];

	if (!a->opts->callers) {
		printf("\n%s\n", a->opts->tree ? "call tree" : "hottest stacks");
		return;
	}
	escape_terminal(a->opts->callers, strlen(a->opts->callers), name, sizeof(name));
	if (weight)
		printf("\ncallers of %s, %.2f %%\n", name, hotspots_percent(weight, h->weight));
	else
		printf("\n--callers %s: no stack has that function\n", name);
}

static void print_part(const struct analysis *a, const struct part *part)
{
	const size_t columns = analysis_terminal(a->opts).columns;

	for (uint32_t i = 0; i < part->n; i++)
		frameline_print(part->frames[i], columns, stdout);
}

/* ---- --tree --------------------------------------------------------------------------- */

/* From the task to the sampled function; with --callers, from that function to the task. */
static void plant(const struct hotspot *spot, const struct part *part, bool callers, struct folded *tree)
{
	uint32_t frames[HOTSPOTS_FRAMES + 2];
	size_t n = 0;

	if (spot->key.blocked && !callers)
		frames[n++] = folded_frame(tree, "[blocked]", FOLDED_BLOCKED);
	for (uint32_t i = 0; i < part->n && i < HOTSPOTS_FRAMES; i++)
		frames[n++] = framefold(tree, part->frames[i]);
	frames[n++] = folded_frame(tree, spot->key.comm, FOLDED_TASK);
	folded_add(tree, frames, n, callers ? FOLDED_ROOT_FIRST : FOLDED_LEAF_FIRST, spot->weight);
}

#define LEAST_SHARE 0.005

static int print_tree(const struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	struct calltree_view shown = {
		.whole = h->weight, .least = a->opts->least, .columns = analysis_terminal(a->opts).columns, .callers = a->opts->callers,
	};
	struct folded *tree = folded_new();
	int rc;

	for (const struct hotspot *spot = h->all; spot && tree; spot = spot->hh.next) {
		const struct part part = part_of(a, spot);

		if (part.n)
			plant(spot, &part, a->opts->callers, tree);
	}
	/* a function with few samples has callers, too */
	if (tree && !shown.least)
		shown.least = (shown.callers ? hotspots_percent(folded_total(tree), h->weight) : 100) * LEAST_SHARE;
	if (tree && (folded_total(tree) || shown.callers))
		put_title(a, h, folded_total(tree));
	rc = !tree || (folded_total(tree) && calltree_print(tree, &shown, stdout)) ? -1 : 0;
	folded_free(tree);
	return rc;
}

/* ---- the hottest stacks ---------------------------------------------------------------- */

enum { CALLERS_SHOWN = 10 };

static int print_stacks(const struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	const uint64_t most = a->opts->stacks ? a->opts->stacks : a->opts->callers ? CALLERS_SHOWN : view->stacks;
	struct stack_sum *all = NULL;
	uint64_t weight = 0, n = 0;
	bool good = true;

	for (const struct hotspot *spot = h->all; spot && good; spot = spot->hh.next) {
		const struct part part = part_of(a, spot);

		weight += part.n ? spot->weight : 0;
		good = !part.n || add(&all, spot, &part);
	}
	HASH_SORT(all, by_weight);
	if (a->opts->callers)
		put_title(a, h, weight);
	for (const struct stack_sum *sum = all; sum && n < most; sum = sum->hh.next) {
		if (hotspots_percent(sum->weight, h->weight) < a->opts->least)
			break;
		if (!n++ && !a->opts->callers)
			put_title(a, h, weight);
		put_head(a, h, sum);
		print_part(a, &sum->part);
	}
	HASH_FREE(all);
	return good ? 0 : -1;
}

void hotspots_print_stacks(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	const char *option = a->opts->tree ? "--tree" : a->opts->callers ? "--callers" : NULL;

	if (option && !view->stacks && !view->fits)
		printf("\n%s shows nothing: the samples have no call chains; record with -g\n", option);
	if (view->stacks && (a->opts->tree ? print_tree : print_stacks)(a, h, view))
		fprintf(stderr, "perf-prof: %s: out of memory for the stacks\n", view->name);
}
