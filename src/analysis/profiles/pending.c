/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/pending.h"

#include "base/hash.h"

struct pending_key {
	int64_t pid, tid;
};

/* A thread. */
struct pending {
	struct pending_key key;
	uint64_t turns;
	size_t n;                /* stacks since `turns`, of which the last PENDING_MOST are kept */
	struct callstack *stacks[PENDING_MOST];
	UT_hash_handle hh;
};

static struct pending *find(struct pending *all, pid_t pid, pid_t tid)
{
	const struct pending_key key = { pid, tid };
	struct pending *t = NULL;

	HASH_FIND(hh, all, &key, sizeof(key), t);
	return t;
}

static struct pending *add_thread(struct pending **all, pid_t pid, pid_t tid)
{
	struct pending *t;

	if (HASH_COUNT(*all) >= PENDING_THREADS)
		pending_free(all);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->key = (struct pending_key){ pid, tid };
	HASH_ADD(hh, *all, key, sizeof(t->key), t);
	return HASH_KEPT(t);
}

void pending_add(struct pending **all, pid_t pid, pid_t tid, uint64_t turns, struct callstack *stack)
{
	struct pending *t = find(*all, pid, tid);

	if (!t)
		t = add_thread(all, pid, tid);
	if (!t)
		return;
	if (t->turns != turns)
		t->n = 0;
	t->turns = turns;
	t->stacks[t->n++ % PENDING_MOST] = stack;
}

uint64_t pending_share(struct pending *all, pid_t pid, pid_t tid, uint64_t turns, uint64_t ns,
		       void (*take)(void *ctx, struct callstack *stack, uint64_t ns), void *ctx)
{
	struct pending *t = find(all, pid, tid);
	size_t n = t && t->turns == turns ? t->n : 0;
	uint64_t part;

	n = n < PENDING_MOST ? n : PENDING_MOST;
	part = ns / (n + 1);
	for (size_t i = 0; i < n; i++)
		take(ctx, t->stacks[i], part);
	if (t)
		t->n = 0;
	return ns - n * part;
}

void pending_free(struct pending **all)
{
	HASH_FREE(*all);
}
