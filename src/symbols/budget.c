/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/budget.h"

#include "base/caller.h"
#include "base/now.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static const uint64_t own_file = 60000 * MS, file = 5000 * MS, owner = 10000 * MS, all = 30000 * MS;
static const uint64_t after_stop = 500 * MS, own_after_stop = 10000 * MS;
enum { SHARE = 20 };     /* strangers' files: their limits grow by 1/SHARE of the time of the run */

void budget_init(struct budget *b, uint64_t (*stopped)(void *ctx), void *ctx)
{
	*b = (struct budget){ .stopped = stopped, .ctx = ctx };
	if (!caller_ran_sudo(&b->caller))
		b->caller = 0;
}

static bool is_own(const struct budget *b, uid_t uid)
{
	return !uid || uid == getuid() || uid == geteuid() || uid == b->caller;
}

static struct budget_owner *find_owner(struct budget *b, uid_t uid)
{
	unsigned int i = 0;

	while (i < b->nowners && b->owners[i].uid != uid)
		i++;
	if (i == BUDGET_OWNERS)
		return &b->owners[BUDGET_OWNERS - 1];
	if (i == b->nowners)
		b->owners[b->nowners++] = (struct budget_owner){ uid, 0 };
	return &b->owners[i];
}

static bool is_late(const struct budget *b, uint64_t time, uint64_t bound)
{
	uint64_t stopped = b->stopped ? b->stopped(b->ctx) : 0;

	return stopped && time > stopped + bound;
}

/* Whether the limit is reached after another `ns`. */
static bool is_used_up(struct budget *b, uint64_t ns, uint64_t time)
{
	const uint64_t more = (time - b->began) / SHARE;

	if (is_own(b, b->owner))
		return *b->file + ns >= own_file || is_late(b, time, own_after_stop);
	return *b->file + ns >= file + more || find_owner(b, b->owner)->ns + ns >= owner + more ||
	       b->strangers + ns >= all + more || is_late(b, time, after_stop);
}

bool budget_is_over(void *budget)
{
	struct budget *b = budget;
	uint64_t time = now_ns(CLOCK_MONOTONIC);

	return b->file && (b->ended || is_used_up(b, time - b->since, time));
}

bool budget_begin(struct budget *b, uid_t uid, uint64_t *ns)
{
	b->owner = uid;
	b->file = ns;
	b->since = now_ns(CLOCK_MONOTONIC);
	b->began = b->began ? b->began : b->since;
	if (!b->ended && !is_used_up(b, 0, b->since))
		return true;
	b->file = NULL;
	return false;
}

void budget_end(struct budget *b)
{
	uint64_t ns = b->file ? now_ns(CLOCK_MONOTONIC) - b->since : 0;

	if (!b->file)
		return;
	*b->file += ns;
	b->file = NULL;
	if (is_own(b, b->owner))
		return;
	find_owner(b, b->owner)->ns += ns;
	b->strangers += ns;
}
