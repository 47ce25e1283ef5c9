/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/earlywaits.h"

#include "analysis/durations/waitargs.h"
#include "base/escape.h"
#include "base/procstatus.h"
#include "base/units.h"
#include "table/words.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <string.h>

/* ---- the beginning ---------------------------------------------------------------------- */

struct beginning {
	struct pairs *pairs;
	struct waiton *on;
	uint64_t now;
	pid_t command;
};

static void begin(void *ctx, pid_t tid, enum task_state state)
{
	const struct beginning *b = ctx;
	struct waitargs c;

	if (tid == b->command)
		return;
	pairs_open(b->pairs, (uint64_t)tid, b->now);
	if (waitargs_find(tid, &c) != WAITARGS_A_CALL || !c.pid)
		return;
	waiton_enter(b->on, c.pid, tid, c.call, c.args);
	waiton_wait(b->on, tid, b->now);
}

void earlywaits_begin(struct earlywaits *e, const struct switches *w, struct pairs *pairs, struct waiton *on, uint64_t now,
		      pid_t command)
{
	struct beginning b = { pairs, on, now, command };

	e->since = now;
	sleepers_begin(&e->sleepers, w);
	sleepers_each(&e->sleepers, begin, &b);
}

void earlywaits_free(struct earlywaits *e)
{
	sleepers_free(&e->sleepers);
}

bool earlywaits_has(const struct earlywaits *e, const struct open_pair *o)
{
	return e->since && o->start == e->since;
}

/* ---- those that still wait -------------------------------------------------------------- */

struct visit {
	void (*fn)(void *ctx, pid_t tid);
	void *ctx;
};

static void visit(void *ctx, pid_t tid, enum task_state state)
{
	const struct visit *v = ctx;

	v->fn(v->ctx, tid);
}

void earlywaits_each(struct earlywaits *e, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	struct visit v = { fn, ctx };

	sleepers_each(&e->sleepers, visit, &v);
}

enum { KINDS = 3 };              /* of what they wait on, named in the line */
struct summary {
	struct waiton *on;
	size_t threads, nkinds;
	pid_t pid;                   /* the process of the first one */
	char kinds[KINDS][WORD_SIZE];
	bool others;
};

static void add_kind(struct summary *s, const char *text)
{
	for (size_t i = 0; i < s->nkinds; i++)
		if (!strcmp(s->kinds[i], text))
			return;
	if (s->nkinds == KINDS)
		s->others = true;
	else
		snprintf(s->kinds[s->nkinds++], WORD_SIZE, "%s", text);
}

static void summarize(void *ctx, pid_t tid)
{
	struct summary *s = ctx;
	long pid = procstatus_of(tid, "\nTgid:");
	char text[WORD_SIZE];

	if (!s->threads++)
		s->pid = pid > 0 ? (pid_t)pid : tid;
	add_kind(s, waitargs_now(s->on, tid, text, sizeof(text)));
}

void earlywaits_print(struct earlywaits *e, struct waiton *on)
{
	struct summary s = { .on = on };

	if (e->told)
		return;
	earlywaits_each(e, summarize, &s);
	if (!s.threads)
		return;
	e->told = true;
	printf("%zu thread%s waited since before the run (", s.threads, s.threads == 1 ? " has" : "s have");
	for (size_t i = 0; i < s.nkinds; i++) {
		char safe[4 * WORD_SIZE];

		escape_terminal(s.kinds[i], strlen(s.kinds[i]), safe, sizeof(safe));   /* names of files can have any bytes */
		printf("%s%s", i ? ", " : "", safe);
	}
	printf("%s): `perf-prof dump %d` shows the stacks\n", s.others ? ", ..." : "", pidmap_shown(s.pid));
}

void earlywaits_print_ended(const struct earlywaits *e, bool recorded)
{
	if (e->ended)
		printf("%llu wait%s began before the %s: the time before it is not counted\n", (unsigned long long)e->ended,
		       units_plural(e->ended), recorded ? "recording" : "run");
}
