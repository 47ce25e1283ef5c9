/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/starved.h"

#include "analysis/durations/sleepers.h"
#include "base/escape.h"
#include "base/now.h"
#include "base/room.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NEWS_NS: shorter waits are no news. */
enum { LINES = 10, NEWS_NS = 10000000 };

struct starved_thread {
	pid_t tid;
	unsigned long long ran;      /* ns on a CPU, before the run */
};

/* False: the thread does not exist, or the kernel does not tell (CONFIG_SCHED_INFO). */
static bool read_ran(pid_t tid, unsigned long long *ran)
{
	char path[64];
	FILE *f;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	f = fopen(path, "re");
	found = f && fscanf(f, "%llu", ran) == 1;
	if (f)
		fclose(f);
	return found;
}

/* How long a thread may run before the kernel accounts for it: some ticks, or a second where there is none (nohz_full). */
static uint64_t unaccounted_ns(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/nohz_full", "re");
	int first = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return first >= '0' && first <= '9' ? 1100000000 : 100000000;
}

/* Whether it could run. */
static bool is_ready(pid_t tid)
{
	uint64_t switches;
	char letter;

	return sleepers_status(tid, &letter, &switches) && letter == 'R';
}

static void add(void *ctx, pid_t tid)
{
	struct starved *s = ctx;

	if (!ROOM_FOR_ONE(s->all, s->n))
		return;
	s->all[s->n].tid = tid;
	s->n += is_ready(tid) && read_ran(tid, &s->all[s->n].ran);
}

void starved_begin(struct starved *s, const struct switches *w)
{
	*s = (struct starved){ .since = now_ns(CLOCK_MONOTONIC) };
	if (!w->recorded && !w->everybody)
		switches_each(w, add, s);
}

void starved_free(struct starved *s)
{
	free(s->all);
	*s = (struct starved){ 0 };
}

static void put(struct question *q, pid_t tid, uint64_t now, const char *since)
{
	const char *comm = analysis_comm(q->a, tid, now);
	char name[64];

	escape_terminal(comm, strlen(comm), name, sizeof(name));
	printf("%s %d still waits for a CPU, %s: not in the table\n", name, pidmap_shown(tid), since);
}

/* Whether it is ready, and has not run since then. */
static bool waits(const struct starved_thread *t)
{
	unsigned long long ran;

	return is_ready(t->tid) && read_ran(t->tid, &ran) && ran == t->ran;
}

/* Those that were seen to begin their wait. The event of its end may be missing: what runs now is left out. */
static void print_late(struct states *st, uint64_t now)
{
	struct question *q = &st->question;
	struct starved_thread late[LINES];
	uint64_t waited[LINES];
	char since[64];
	size_t n = 0;

	for (const struct open_pair *o = q->pairs.all; o && n < LINES; o = o->hh.next) {
		late[n].tid = (pid_t)o->key;
		waited[n] = now > o->start ? now - o->start : 0;
		n += o->is_open && states_waits(o) && waited[n] >= NEWS_NS && is_ready(late[n].tid) && read_ran(late[n].tid, &late[n].ran);
	}
	if (n)
		usleep((useconds_t)(unaccounted_ns() / 1000));
	for (size_t i = 0; i < n; i++) {
		snprintf(since, sizeof(since), "for %.3f ms", (double)waited[i] / 1e6);
		if (waits(&late[i]))
			put(q, late[i].tid, now, since);
	}
}

void starved_print(const struct starved *s, struct states *st)
{
	struct question *q = &st->question;
	const uint64_t now = analysis_now(q->a);
	const bool accounted = now_ns(CLOCK_MONOTONIC) - s->since > unaccounted_ns();
	size_t n = 0;

	for (size_t i = 0; accounted && i < s->n && n < LINES; i++)
		if (!pairs_find(&q->pairs, (uint64_t)s->all[i].tid) && waits(&s->all[i])) {
			put(q, s->all[i].tid, now, "since before the run");
			n++;
		}
	if (!st->switches.recorded && !st->switches.everybody)
		print_late(st, now);
}
