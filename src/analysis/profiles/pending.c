/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/pending.h"

struct pending_key {
	int64_t pid, tid;
};

/* A thread. */
struct pending {
	struct pending_key key;
	uint64_t turns;
	size_t n;                /* stacks since `turns`, of which the last PENDING_MOST are kept */
	struct callstack *stacks[PENDING_MOST];
};

void pending_add(struct groups *all, pid_t pid, pid_t tid, uint64_t turns, struct callstack *stack)
{
	const struct pending_key key = { pid, tid };
	struct pending *t = groups_recent(all, &key, sizeof(key), sizeof(*t), PENDING_THREADS);

	if (!t)
		return;
	if (t->turns != turns)
		t->n = 0;
	t->turns = turns;
	t->stacks[t->n++ % PENDING_MOST] = stack;
}

uint64_t pending_share(const struct groups *all, pid_t pid, pid_t tid, uint64_t turns, uint64_t ns,
		       void (*take)(void *ctx, struct callstack *stack, uint64_t ns), void *ctx)
{
	const struct pending_key key = { pid, tid };
	struct pending *t = groups_find(all, &key, sizeof(key));
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
