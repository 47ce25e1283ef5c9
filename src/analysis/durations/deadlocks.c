/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/deadlocks.h"

#include "analysis/durations/lockholder.h"
#include "analysis/durations/sleepers.h"
#include "base/escape.h"
#include "base/room.h"

#include <stdio.h>
#include <string.h>

/* CIRCLE: threads of a circle at most; LOOKS: waits that are looked at for a table; TIMEOUT: the argument of futex(2) */
enum { CIRCLE = 32, LOOKS = 1000, TIMEOUT = 3 };

/* A thread, and who holds the lock that it waits for. */
struct link {
	pid_t tid, holder;
	uint64_t switches;       /* of its contexts: the same number later means that it has not run */
	struct waitargs call;
};

/* False: it waits for no lock whose holder is known. */
static bool look(pid_t tid, struct link *l)
{
	enum task_state state;
	char letter;

	memset(l, 0, sizeof(*l));   /* two are compared */
	l->tid = tid;
	if (!sleepers_status(tid, &letter, &l->switches) || !task_state_sleeps(letter, &state) ||
	    waitargs_find(tid, &l->call) != WAITARGS_A_CALL || l->call.args[TIMEOUT])
		return false;
	l->holder = lockholder_tid(&l->call);
	return l->holder;
}

/* The threads from that one on, each waiting for the next one, the last for the first; 0: there is no such circle. */
static size_t find_circle(pid_t tid, struct link all[CIRCLE])
{
	pid_t next = tid;
	size_t n = 0;

	do {
		if (n == CIRCLE || !look(next, &all[n]))
			return 0;
		next = all[n++].holder;
	} while (next != tid);
	return n;
}

static bool is_still(const struct link *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct link now;

		if (!look(all[i].tid, &now) || memcmp(&now, &all[i], sizeof(now)))
			return false;
	}
	return true;
}

static bool was_told(const struct deadlocks *d, pid_t tid)
{
	size_t i = 0;

	while (i < d->n && d->told[i] != tid)
		i++;
	return i < d->n;
}

static void put_line(struct deadlocks *d, const struct link *all, size_t n, FILE *f)
{
	for (size_t i = 0; i < n; i++) {
		char name[96], safe[4 * sizeof(name)];

		if (ROOM_FOR_ONE(d->told, d->n))
			d->told[d->n++] = all[i].tid;
		lockholder_name(&all[i].call, all[i].tid, name, sizeof(name));
		escape_terminal(name, strlen(name), safe, sizeof(safe));   /* names of tasks can have any bytes */
		fprintf(f, "%s%s", !i ? "deadlock: " : i + 1 < n ? ", " : " and ", safe);
	}
	fputs(n > 1 ? " wait for each other's locks\n" : " waits for a lock that it holds itself\n", f);
}

void deadlocks_look(struct deadlocks *d, pid_t tid)
{
	struct link all[CIRCLE];
	char *line = NULL, *more;
	size_t n, size = 0;
	FILE *f;

	if (was_told(d, tid) || !(n = find_circle(tid, all)) || !is_still(all, n) || !(f = open_memstream(&line, &size)))
		return;
	put_line(d, all, n, f);
	if (!fclose(f) && (more = realloc(d->lines, d->bytes + size + 1))) {
		memcpy(more + d->bytes, line, size + 1);
		d->lines = more;
		d->bytes += size;
	}
	free(line);
}

void deadlocks_print(struct deadlocks *d, const struct pairs *waits)
{
	size_t looks = LOOKS;

	/* rings are not read meanwhile */
	for (const struct open_pair *o = waits ? groups_first(&waits->all) : NULL; o && looks; o = groups_next(o))
		if (o->is_open) {
			deadlocks_look(d, (pid_t)o->key);
			looks--;
		}
	if (d->lines)
		fputs(d->lines, stdout);
	free(d->lines);
	d->lines = NULL;
	d->bytes = 0;
}

void deadlocks_free(struct deadlocks *d)
{
	free(d->told);
	free(d->lines);
	*d = (struct deadlocks){ 0 };
}
