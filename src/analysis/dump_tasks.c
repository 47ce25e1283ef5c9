/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dump_tasks.h"

#include "base/hash.h"
#include "base/room.h"

#define NOWHERE SIZE_MAX

struct dump_script dump_script_of(const struct pystack_frame *frame)
{
	return (struct dump_script){ .call = frame->call, .frame = {
		.symbol = frame->code->name, .file = frame->code->file, .line = (unsigned int)frame->line, .script = true,
	} };
}

static void free_task(struct dump_task *t)
{
	free(t->name);
	free(t->scripts);
	free(t->awaiters);
}

bool dump_tasks_add(struct dump_tasks *all, const struct pystack_task *task)
{
	struct dump_task t = {
		.tid = task->tid, .id = task->id, .state = task->state, .torn = task->torn, .cut = task->cut,
		.awaiters_cut = task->awaiters_cut, .name = strdup(task->name), .scripts = calloc(task->n + 1, sizeof(*t.scripts)),
		.awaiters = calloc(task->nawaiters + 1, sizeof(*t.awaiters)),
	};

	if (!t.name || !t.scripts || !t.awaiters || !ROOM_FOR(all->v, all->room, all->n, 1)) {
		free_task(&t);
		return false;
	}
	for (; t.nscripts < task->n; t.nscripts++)
		t.scripts[t.nscripts] = dump_script_of(&task->frames[t.nscripts]);
	for (; t.nawaiters < task->nawaiters; t.nawaiters++)
		t.awaiters[t.nawaiters] = task->awaiters[t.nawaiters];
	all->v[all->n++] = t;
	return true;
}

void dump_tasks_free(struct dump_tasks *all)
{
	for (size_t i = 0; i < all->n; i++)
		free_task(&all->v[i]);
	free(all->v);
	*all = (struct dump_tasks){ 0 };
}

/* ---- the tree -------------------------------------------------------------------------- */

/* Where a task is in the list, and its relatives are. */
struct node {
	uint64_t id;
	size_t at, parent, child, last, next;   /* child, last: the first and the last of them; next: of the same parent */
	size_t to;                              /* where it is in the tree's order */
	bool placed;
	UT_hash_handle hh;
};

static struct node *node_of(struct node *by_id, uint64_t id)
{
	struct node *n = NULL;

	HASH_FIND(hh, by_id, &id, sizeof(id), n);
	return n;
}

/* Leaves out awaiters that are not in the list: they have ended meanwhile. */
static void keep_known(struct dump_task *t, struct node *by_id)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nawaiters; i++)
		if (t->awaiters[i] != t->id && node_of(by_id, t->awaiters[i]))
			t->awaiters[n++] = t->awaiters[i];
	t->nawaiters = n;
}

static void find_parent(const struct dump_tasks *all, struct node *nodes, struct node *by_id, size_t i)
{
	struct node *n = &nodes[i], *parent = all->v[i].nawaiters ? node_of(by_id, all->v[i].awaiters[0]) : NULL;

	if (!parent || all->v[parent->at].tid != all->v[i].tid)
		return;
	n->parent = parent->at;
	if (parent->child == NOWHERE)
		parent->child = i;
	else
		nodes[parent->last].next = i;
	parent->last = i;
}

/* The first one from there on that has no place yet. */
static size_t unplaced(const struct node *nodes, size_t i)
{
	while (i != NOWHERE && nodes[i].placed)
		i = nodes[i].next;
	return i;
}

static void put(const struct dump_tasks *all, struct node *n, unsigned int depth, struct dump_tasks *out)
{
	n->placed = true;
	n->to = out->n;
	out->v[out->n] = all->v[n->at];
	out->v[out->n++].depth = depth;
}

/* The task and those below it; a task that waits for itself through others is placed once. */
static void place(const struct dump_tasks *all, struct node *nodes, size_t first, struct dump_tasks *out)
{
	size_t i = first, next;
	unsigned int depth = 0;

	put(all, &nodes[first], 0, out);
	for (;;) {
		next = unplaced(nodes, nodes[i].child);
		if (next != NOWHERE) {
			nodes[i].child = nodes[next].next;   /* those before have a place */
			i = next;
			put(all, &nodes[i], ++depth, out);
		} else if (i != first) {
			i = nodes[i].parent;
			depth--;
		} else {
			return;
		}
	}
}

static void place_all(const struct dump_tasks *all, struct node *nodes, struct dump_tasks *out)
{
	for (size_t i = 0; i < all->n; i++)
		if (nodes[i].parent == NOWHERE)
			place(all, nodes, i, out);
	for (size_t i = 0; i < all->n; i++)
		if (!nodes[i].placed)
			place(all, nodes, i, out);
}

/* Ids of awaiters become places. */
static void locate_awaiters(struct dump_tasks *all, struct node *by_id)
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->v[i].nawaiters; k++)
			all->v[i].awaiters[k] = node_of(by_id, all->v[i].awaiters[k])->to;
}

/* False: out of memory. */
static bool index_nodes(const struct dump_tasks *all, struct node *nodes, struct node **by_id)
{
	for (size_t i = 0; i < all->n; i++) {
		nodes[i] = (struct node){ .id = all->v[i].id, .at = i, .parent = NOWHERE, .child = NOWHERE, .last = NOWHERE,
					  .next = NOWHERE };
		if (node_of(*by_id, nodes[i].id))
			continue;        /* a list that lies */
		HASH_ADD(hh, *by_id, id, sizeof(nodes[i].id), &nodes[i]);
		if (HASH_LOST(&nodes[i]))
			return false;
	}
	return true;
}

bool dump_tasks_sort(struct dump_tasks *all)
{
	struct dump_tasks out = { .v = calloc(all->n + 1, sizeof(*out.v)), .room = all->n + 1, .incomplete = all->incomplete };
	struct node *nodes = calloc(all->n + 1, sizeof(*nodes)), *by_id = NULL;
	bool good = out.v && nodes && index_nodes(all, nodes, &by_id);

	for (size_t i = 0; good && i < all->n; i++) {
		keep_known(&all->v[i], by_id);
		find_parent(all, nodes, by_id, i);
	}
	if (good) {
		place_all(all, nodes, &out);
		locate_awaiters(&out, by_id);
		free(all->v);
		*all = out;
	} else {
		free(out.v);
	}
	HASH_CLEAR(hh, by_id);
	free(nodes);
	return good;
}
