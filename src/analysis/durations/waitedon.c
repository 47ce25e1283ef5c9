/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitedon.h"

#include "analysis/durations/lockholder.h"
#include "base/units.h"
#include "report/table.h"
#include "stream/names.h"

#include <stdio.h>

enum { MAX_OBJECTS = 1 << 16, MAX_THREADS = 1 << 20, SHOWN = 10 };

/* A task that others waited for. */
struct cause {
	pid_t tid;
	uint64_t ns;
	char name[64];
};

struct sums {
	struct groups threads;   /* their ids */
	struct groups causes;    /* of struct cause */
	uint64_t waits, ns, max;
	uint64_t pending;        /* of waits that timed out, since the last wake-up: it is of who makes the next one */
};

enum span { RUN, INTERVAL, SPANS };

struct waitedon_object {
	struct waiton_key key;
	uint64_t address;
	char text[WORD_SIZE + 32];
	struct sums sums[SPANS];
	struct handoffs handoffs;
	uint64_t on;             /* a number of words.h; 0: there were no waits since the last table */
	waitkinds_set kinds;
	char holder[128];        /* of a lock, now; "": none, or not known */
};

static struct waitedon_object *object_of(struct waitedon *w, const struct waiton_object *o)
{
	const uint32_t n = w->all.n;
	struct waitedon_object *one = groups_get(&w->all, &o->key, sizeof(o->key), sizeof(*one), MAX_OBJECTS);

	if (w->all.n == n)
		return one;
	one->address = o->address;
	memcpy(one->text, o->text, sizeof(one->text));
	return one;
}

/* The task's row, which counts in w->nthreads. NULL: there are too many, or out of memory. */
static void *row_of(struct waitedon *w, struct groups *tasks, pid_t tid, size_t size)
{
	const uint32_t n = tasks->n;
	void *row = groups_get(tasks, &tid, sizeof(tid), size, w->nthreads < MAX_THREADS ? MAX_THREADS : 0);

	w->nthreads += tasks->n - n;
	return row;
}

static struct cause *cause_of(struct waitedon *w, struct sums *one, pid_t tid)
{
	return row_of(w, &one->causes, tid, sizeof(struct cause));
}

static void free_sums(struct waitedon *w, struct sums *one)
{
	w->nthreads -= one->threads.n + one->causes.n;
	groups_free(&one->threads);
	groups_free(&one->causes);
	*one = (struct sums){ 0 };
}

/* ---- waits ------------------------------------------------------------------------------ */

void waitedon_look(struct waiton *on, pid_t tid)
{
	struct waitargs c;
	pid_t holder;

	if (on->recorded || waitargs_find(tid, &c) != WAITARGS_A_CALL || !waiton_may_be_in(on, tid, c.call, c.args[0]))
		return;
	holder = lockholder_tid(&c);
	if (holder && waitargs_is_still(&c))
		waiton_set_holder(on, tid, holder);
}

void waitedon_begin(struct waiton *on, pid_t tid, uint64_t time)
{
	waiton_wait(on, tid, time);
	if (waiton_locks_for_a_time(on, tid))
		waitedon_look(on, tid);
}

struct parts {
	struct waitedon *w;
	struct sums *sums;
};

static void add_part(void *ctx, const struct handoff *because_of, uint64_t ns)
{
	const struct parts *p = ctx;
	struct cause *c = cause_of(p->w, p->sums, because_of->tid);

	if (c)
		c->ns += ns;
}

/* The part of the wait that nobody has woken another one after. */
static uint64_t since_last(const struct waitedon_object *one, const struct waitedon_wait *wait)
{
	const uint64_t end = wait->start + wait->duration, last = handoffs_latest(&one->handoffs);

	return end > last ? end - (last > wait->start ? last : wait->start) : 0;
}

/* The holder that was looked up has not woken another one since. */
static bool blame_known_holder(struct waitedon *w, const struct waiton *on, const struct waitedon_object *one, struct sums *sums,
			       const struct waitedon_wait *wait)
{
	const pid_t holder = waiton_holder(on, wait->tid);
	struct cause *c = holder && handoffs_latest(&one->handoffs) <= wait->start ? cause_of(w, sums, holder) : NULL;

	if (!c)
		return false;
	if (on->names)
		snprintf(c->name, sizeof(c->name), "%s", names_comm(on->names, holder));
	c->ns += wait->duration;
	return true;
}

static void blame(struct waitedon *w, const struct waiton *on, struct waitedon_object *one, struct sums *sums,
		  const struct waitedon_wait *wait)
{
	struct cause *c = wait->waker ? cause_of(w, sums, wait->waker->tid) : NULL;

	if (c) {
		snprintf(c->name, sizeof(c->name), "%s", wait->comm);
		c->ns += sums->pending;
		sums->pending = 0;
	}
	if (wait->died)
		blame_known_holder(w, on, one, sums, wait);
	else if (wait->timed_out && !blame_known_holder(w, on, one, sums, wait))
		sums->pending += since_last(one, wait);
	handoffs_divide(&one->handoffs, wait->start, wait->start + wait->duration, add_part, &(struct parts){ w, sums });
}

static bool add_to(struct waitedon *w, const struct waiton *on, struct waitedon_object *one, enum span span,
		   const struct waitedon_wait *wait)
{
	struct sums *sums = &one->sums[span];

	if (!row_of(w, &sums->threads, wait->tid, sizeof(pid_t)))
		return false;
	sums->waits++;
	sums->ns += wait->duration;
	sums->max = wait->duration > sums->max ? wait->duration : sums->max;
	blame(w, on, one, sums, wait);
	return true;
}

static struct waitedon_object *add(struct waitedon *w, const struct waiton *on, const struct waitedon_wait *wait, bool in_run)
{
	struct waitedon_object *one;
	struct waiton_object object;

	if (!waiton_object(on, wait->tid, &object))
		return NULL;
	one = object_of(w, &object);
	if (one && wait->waker)
		handoffs_add(&one->handoffs, wait->waker);
	if (!one || (in_run && !add_to(w, on, one, RUN, wait)) || !add_to(w, on, one, INTERVAL, wait)) {
		w->refused++;
		return NULL;
	}
	one->on = wait->on;
	return one;
}

struct handoffs *waitedon_add(struct waitedon *w, const struct waiton *on, const struct waitedon_wait *wait)
{
	struct waitedon_object *one = add(w, on, wait, true);

	return one ? &one->handoffs : NULL;
}

/* What the holder has not passed on yet is its part of the wait. */
static void blame_holder(struct waitedon *w, struct waitedon_object *one, enum span span, const struct waitedon_wait *wait, pid_t tid)
{
	struct sums *sums = &one->sums[span];
	struct cause *c = cause_of(w, sums, tid);

	if (!c)
		return;
	c->ns += since_last(one, wait) + sums->pending;
	sums->pending = 0;
}

void waitedon_add_unfinished(struct waitedon *w, const struct waiton *on, const struct waitedon_wait *wait, bool at_end)
{
	struct waitedon_object *one = add(w, on, wait, at_end);
	const pid_t tid = wait->tid;
	char holder[sizeof(one->holder)];
	struct waitargs c;
	pid_t held, ended;

	if (!one || on->recorded || waitargs_find(tid, &c) != WAITARGS_A_CALL || !waiton_may_be_in(on, tid, c.call, c.args[0]))
		return;
	held = lockholder_tid(&c);
	ended = held ? 0 : lockholder_ended(&c);
	if (held)
		lockholder_name(&c, held, holder, sizeof(holder));
	else
		waiton_ended_name(on, ended, holder, sizeof(holder));
	if ((!held && !ended) || !waitargs_is_still(&c))
		return;
	memcpy(one->holder, holder, sizeof(holder));
	for (enum span span = at_end ? RUN : INTERVAL; span < SPANS; span++)
		blame_holder(w, one, span, wait, held ? held : ended);
}

void waitedon_learn(struct waitedon *w, const struct waitkinds *kinds)
{
	for (struct waitedon_object *one = groups_first(&w->all); one; one = groups_next(one))
		one->kinds |= one->on ? waitkinds_get(kinds, one->on) : 0;
}

void waitedon_rest(struct waitedon *w)
{
	for (struct waitedon_object *one = groups_first(&w->all); one; one = groups_next(one)) {
		handoffs_rest(&one->handoffs);
		free_sums(w, &one->sums[INTERVAL]);
		one->holder[0] = '\0';
		one->on = 0;
	}
}

/* ---- the table -------------------------------------------------------------------------- */

enum { PID = 2, BECAUSE_OF = 8, SHARE, HELD_BY, COLUMNS };

static const struct cause *most_blamed(const struct sums *one)
{
	const struct cause *most = NULL;

	for (const struct cause *c = groups_first(&one->causes); c; c = groups_next(c))
		if (!most || c->ns > most->ns)
			most = c;
	return most && most->ns ? most : NULL;
}

/* The name of a task that has woken another one in this run; "": it has not. */
static const char *name_of(const struct waitedon_object *one, pid_t tid)
{
	const struct cause *c = groups_find(&one->sums[RUN].causes, &tid, sizeof(tid));

	return c ? c->name : "";
}

/* The text of a holder that has woken nobody is all that is known of it: it has no other name. */
static void put_cause(const struct waitedon_object *one, enum span span, struct table *t)
{
	const struct cause *c = most_blamed(&one->sums[span]);
	const char *name = c ? name_of(one, c->tid) : "";

	if (*name)
		table_printf(t, "%s (%d)", name, pidmap_shown(c->tid));
	else
		table_text(t, c ? one->holder : NULL);
	if (c)
		table_number(t, 100 * (double)c->ns / (double)one->sums[span].ns);
	else
		table_none(t);
}

static void put(const struct waitedon_object *one, enum span span, struct table *t)
{
	const struct sums *sums = &one->sums[span];
	char kind[WAITKIND_SIZE];

	table_row(t);
	table_text(t, one->text);
	table_text(t, waitkind_text(one->kinds, kind, sizeof(kind)));
	if (one->key.pid)
		table_task(t, one->key.pid);
	else
		table_none(t);
	if (one->address)
		table_unsigned(t, one->address);
	else
		table_none(t);
	table_unsigned(t, sums->threads.n);
	table_unsigned(t, sums->waits);
	table_unsigned(t, sums->ns);
	table_unsigned(t, sums->max);
	put_cause(one, span, t);
	table_text(t, *one->holder ? one->holder : NULL);
}

/* Text has the process only if there are several, and tasks only if one is known. */
static void choose(const struct waitedon *w, enum span span, struct table_column columns[COLUMNS])
{
	pid_t pid = 0;

	columns[PID].where = columns[HELD_BY].where = columns[BECAUSE_OF].where = columns[SHARE].where = TABLE_ONLY_JSON;
	for (const struct waitedon_object *one = groups_first(&w->all); one; one = groups_next(one)) {
		if (!one->sums[span].waits)
			continue;
		if (*one->holder)
			columns[HELD_BY].where = TABLE_EVERYWHERE;
		if (most_blamed(&one->sums[span]))
			columns[BECAUSE_OF].where = columns[SHARE].where = TABLE_EVERYWHERE;
		if (pid && one->key.pid && one->key.pid != pid)
			columns[PID].where = TABLE_EVERYWHERE;
		pid = one->key.pid ? one->key.pid : pid;
	}
}

static void print(struct waitedon *w, struct analysis *a, enum span span)
{
	struct table_column columns[COLUMNS] = {
		{ "what", TABLE_TEXT, .most = 96 }, { "kind", TABLE_TEXT }, [PID] = { "pid", TABLE_INTEGER },
		{ "address", TABLE_HEX, .where = TABLE_ONLY_JSON }, { "threads", TABLE_INTEGER }, { "waits", TABLE_INTEGER },
		{ "total", TABLE_DURATION, .unit = "ms" }, { "max", TABLE_DURATION, .unit = "ms" },
		[BECAUSE_OF] = { "because_of", TABLE_TEXT, .title = "because of" },
		[SHARE] = { "because_of_share", TABLE_PERCENT, .title = "share%" },
		[HELD_BY] = { "held_by", TABLE_TEXT, .title = "held by" },
	};
	const struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = SHOWN };
	size_t n = 0;
	struct table t;

	choose(w, span, columns);
	table_init(&t, span == RUN ? "waited on" : "waited on in interval", columns, COLUMNS);
	for (const struct waitedon_object *one = groups_first(&w->all); one; one = groups_next(one))
		if (one->sums[span].waits) {
			put(one, span, &t);
			n++;
		}
	table_sort(&t, "total", true);
	table_caption(&t, "what was waited on, in %s", span == RUN ? "the whole run" : "this interval");
	if (n && !a->opts->json)
		putchar('\n');
	if (n)
		analysis_put_table(a, &t, &style);
	table_free(&t);
}

void waitedon_print_interval(struct waitedon *w, struct analysis *a)
{
	print(w, a, INTERVAL);
}

void waitedon_print_run(struct waitedon *w, struct analysis *a)
{
	print(w, a, RUN);
	if (w->refused)
		fprintf(stderr, "perf-prof: %s: %llu wait%s missing from the table of what was waited on: too many objects\n",
			a->ops->name, (unsigned long long)w->refused, w->refused == 1 ? " is" : "s are");
}

void waitedon_free(struct waitedon *w)
{
	for (struct waitedon_object *one = groups_first(&w->all); one; one = groups_next(one)) {
		for (enum span span = RUN; span < SPANS; span++)
			free_sums(w, &one->sums[span]);
		handoffs_free(&one->handoffs);
	}
	groups_free(&w->all);
	*w = (struct waitedon){ 0 };
}
