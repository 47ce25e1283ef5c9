/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/starved.h"

#include "base/escape.h"
#include "base/room.h"
#include "tasks/pidmap.h"

#include <stdio.h>

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

/* Whether it could run. */
static bool is_ready(pid_t tid)
{
	char path[64], line[256], letter = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && !letter && fgets(line, sizeof(line), f))
		if (sscanf(line, "State: %c", &letter) != 1)
			letter = 0;
	if (f)
		fclose(f);
	return letter == 'R';
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
	*s = (struct starved){ 0 };
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
	printf("%s %d still waits for a CPU, since %s: not in the table\n", name, pidmap_shown(tid), since);
}

void starved_print(const struct starved *s, struct states *st)
{
	struct question *q = &st->question;
	const uint64_t now = analysis_now(q->a);
	unsigned long long ran;
	size_t n = 0;
	char since[64];

	for (size_t i = 0; i < s->n && n < LINES; i++)
		if (!pairs_find(&q->pairs, (uint64_t)s->all[i].tid) && is_ready(s->all[i].tid) && read_ran(s->all[i].tid, &ran) &&
		    ran == s->all[i].ran) {
			put(q, s->all[i].tid, now, "before the run");
			n++;
		}
	for (const struct open_pair *o = st->switches.everybody ? NULL : q->pairs.all; o && n < LINES; o = o->hh.next)
		if (o->is_open && states_waits(o) && now > o->start && now - o->start >= NEWS_NS && is_ready((pid_t)o->key)) {
			snprintf(since, sizeof(since), "%.3f ms", (double)(now - o->start) / 1e6);
			put(q, (pid_t)o->key, now, since);
			n++;
		}
}
