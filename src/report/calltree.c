/* SPDX-License-Identifier: Apache-2.0 */
#include "report/calltree.h"

#include "report/fit.h"
#include "table/groups.h"

#include <errno.h>
#include <utlist.h>

enum { SHARES = 16, SHARE = 8, LEAST_NAME = 24, MOST_INDENT = 120, MOST_NODES = 1 << 20, NAME_SIZE = 4096 };   /* SHARES, SHARE: columns */

struct node {
	struct {
		struct node *caller;
		uint64_t frame;
	} key;
	uint64_t total, self, number;   /* number: of nodes before it */
	bool recursive;
	struct node *calls, *next;   /* the functions that it calls, as a list */
};

struct tree {
	const struct folded *folded;
	const struct calltree_view *view;
	struct node root;
	struct groups all;           /* of struct node */
	struct node **path;          /* by frame: its row on the path to the present row */
	uint64_t rows, shown, left;  /* left: weight of rows that are not shown */
	FILE *out;
};

/* NULL: out of memory. If there are too many: the caller, which then has the rest of the stack as its own. */
static struct node *call(struct tree *t, struct node *caller, uint32_t frame)
{
	const struct node key = { .key = { caller, frame } };
	const uint32_t n = t->all.n;
	struct node *node = groups_get(&t->all, &key.key, sizeof(key.key), sizeof(*node), MOST_NODES);

	if (t->all.n > n) {
		node->number = n;
		LL_PREPEND(caller->calls, node);
	}
	return node || n < MOST_NODES ? node : caller;
}

/* The row of this function, if it runs already: the rows below it are then no longer on the path. Frames without a name may be
 * of different functions: of them, only one that follows another is the same row. */
static struct node *again(struct tree *t, struct node *node, uint32_t frame)
{
	struct node *first = t->path[frame];

	if (!first || (first != node && folded_frame_kind(t->folded, frame) == FOLDED_UNKNOWN))
		return NULL;
	for (; node != first; node = node->key.caller)
		t->path[node->key.frame] = NULL;
	first->recursive = true;
	return first;
}

/* The stack counts for the rows of its path without recursion, so that a row's calls and its own weight add up to its total. */
static void count(struct tree *t, struct node *node, uint64_t weight)
{
	node->self += weight;
	for (; node != &t->root; node = node->key.caller) {
		t->rows += !node->total && weight;
		node->total += weight;
		t->path[node->key.frame] = NULL;
	}
}

static int add(struct tree *t, const struct folded_stack *stack)
{
	struct node *node = &t->root;

	for (size_t i = 0; i < stack->n; i++) {
		struct node *callee = again(t, node, stack->frames[i]);

		if (!callee) {
			callee = call(t, node, stack->frames[i]);
			if (!callee)
				return -ENOMEM;
			if (callee == node)
				break;
		}
		node = callee;
		t->path[stack->frames[i]] = node;
	}
	count(t, node, stack->weight);
	return 0;
}

static int by_total(const struct node *a, const struct node *b)
{
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->number > b->number ? 1 : -1;
}

static double percent(const struct tree *t, uint64_t weight)
{
	return t->view->whole ? 100.0 * (double)weight / (double)t->view->whole : 0;
}

/* Not part of put_calls(), which has a frame for each level. */
__attribute__((noinline)) static void put_name(const struct tree *t, const struct node *node, size_t indent)
{
	const size_t columns = t->view->columns, before = (t->view->callers ? SHARE : SHARES) + indent;
	const char *name = folded_frame_name(t->folded, (uint32_t)node->key.frame);
	const char *inlined = folded_frame_kind(t->folded, (uint32_t)node->key.frame) == FOLDED_INLINED ? " (inlined)" : "";
	char shown[NAME_SIZE], buf[FIT_MAX];

	snprintf(shown, sizeof(shown), "%.*s%s%s", NAME_SIZE - 32, name, inlined, node->recursive ? " (recursive)" : "");   /* it is escaped */
	if (columns)
		fputs(fit_text(FIT_NAME, shown, columns > before + LEAST_NAME ? columns - before : LEAST_NAME, buf), t->out);
	else
		fputs(shown, t->out);
}

static size_t indent_of(const struct tree *t, size_t depth)
{
	const size_t most = t->view->columns ? t->view->columns / 2 : MOST_INDENT;

	return depth < most ? depth : most;
}

static void put_rest(struct tree *t, uint64_t n, uint64_t weight, size_t indent)
{
	t->left += weight;
	if (n && percent(t, weight) >= t->view->least)
		fprintf(t->out, "%6.2f  %*s... %llu more\n", percent(t, weight), (int)(indent + (t->view->callers ? 0 : SHARE)), "",
			(unsigned long long)n);
}

static void put_calls(struct tree *t, struct node *caller, size_t depth)
{
	const size_t indent = indent_of(t, depth);
	uint64_t n = 0, weight = 0;
	struct node *node;

	LL_SORT(caller->calls, by_total);
	for (node = caller->calls; node && node->total; node = node->next) {
		if (percent(t, node->total) < t->view->least) {
			n++;
			weight += node->total;
			continue;
		}
		t->shown++;
		fprintf(t->out, "%6.2f  ", percent(t, node->total));
		if (!t->view->callers)
			fprintf(t->out, "%6.2f  ", percent(t, node->self));
		fprintf(t->out, "%*s", (int)indent, "");
		put_name(t, node, indent);
		putc('\n', t->out);
		put_calls(t, node, depth + 1);
	}
	put_rest(t, n, weight, indent);
}

static void put_tree(struct tree *t)
{
	fputs(t->view->callers ? "total%  function\n" : "total%   self%  function\n", t->out);
	put_calls(t, &t->root, 0);
	if (folded_overflow(t->folded))
		fprintf(t->out, "%6.2f  [too many stacks]\n", percent(t, folded_overflow(t->folded)));
	if (t->rows > t->shown)
		fprintf(t->out, "... %llu more rows with less than %.3g %%, %.2f %% in all (%s shows all)\n",
			(unsigned long long)(t->rows - t->shown), t->view->least, percent(t, t->left), t->view->all_by);
}

int calltree_print(const struct folded *f, const struct calltree_view *view, FILE *out)
{
	struct tree t = { .folded = f, .view = view, .out = out };
	size_t n;
	struct folded_stack *stacks = folded_stacks(f, &n);
	int rc;

	t.path = calloc(folded_frames(f) + 1, sizeof(*t.path));
	rc = stacks && t.path ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !rc; i++)
		rc = add(&t, &stacks[i]);
	if (!rc)
		put_tree(&t);
	groups_free(&t.all);
	free(t.path);
	free(stacks);
	return rc;
}
