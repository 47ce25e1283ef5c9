/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitedon.h"

#include "analysis/durations/lockholder.h"
#include "base/hash.h"
#include "base/units.h"
#include "report/table.h"

#include <stdio.h>

enum { MAX_OBJECTS = 1 << 16, MAX_THREADS = 1 << 20, SHOWN = 10 };

struct thread {
	pid_t tid;
	UT_hash_handle hh;
};

struct waitedon_object {
	struct waiton_object key;
	struct thread *threads;
	uint64_t waits, ns, max;
	char holder[128];        /* of a lock, now; "": none, or not known */
	UT_hash_handle hh;
};

static struct waitedon_object *object_of(struct waitedon *w, const struct waiton_object *key)
{
	struct waitedon_object *one;

	HASH_FIND(hh, w->all, key, sizeof(*key), one);
	if (one || HASH_COUNT(w->all) >= MAX_OBJECTS || !(one = calloc(1, sizeof(*one))))
		return one;
	one->key = *key;
	HASH_ADD(hh, w->all, key, sizeof(one->key), one);
	return HASH_KEPT(one);
}

static bool add_thread(struct waitedon *w, struct waitedon_object *one, pid_t tid)
{
	struct thread *t;

	HASH_FIND(hh, one->threads, &tid, sizeof(tid), t);
	if (t)
		return true;
	if (w->nthreads >= MAX_THREADS || !(t = calloc(1, sizeof(*t))))
		return false;
	t->tid = tid;
	HASH_ADD(hh, one->threads, tid, sizeof(t->tid), t);
	t = HASH_KEPT(t);
	w->nthreads += t != NULL;
	return t;
}

static struct waitedon_object *add(struct waitedon *w, const struct waiton *on, pid_t tid, uint64_t ns)
{
	struct waitedon_object *one;
	struct waiton_object key;

	if (!waiton_object(on, tid, &key))
		return NULL;
	one = object_of(w, &key);
	if (!one || !add_thread(w, one, tid)) {
		w->refused++;
		return NULL;
	}
	one->waits++;
	one->ns += ns;
	one->max = ns > one->max ? ns : one->max;
	return one;
}

void waitedon_add(struct waitedon *w, const struct waiton *on, pid_t tid, uint64_t ns)
{
	add(w, on, tid, ns);
}

void waitedon_add_unfinished(struct waitedon *w, const struct waiton *on, pid_t tid, uint64_t ns)
{
	struct waitedon_object *one = add(w, on, tid, ns);
	char holder[sizeof(one->holder)];
	struct waitargs c;
	pid_t held;

	if (!one || on->recorded || waitargs_find(tid, &c) != WAITARGS_A_CALL || !waiton_may_be_in(on, tid, c.call, c.args[0]) ||
	    !(held = lockholder_tid(&c)))
		return;
	lockholder_name(&c, held, holder, sizeof(holder));
	if (waitargs_is_still(&c))
		memcpy(one->holder, holder, sizeof(holder));
}

/* ---- the table -------------------------------------------------------------------------- */

enum { PID = 1, HELD_BY = 6, COLUMNS };

static void put(const struct waitedon_object *one, struct table *t)
{
	table_row(t);
	table_text(t, one->key.name);
	if (one->key.pid)
		table_task(t, one->key.pid);
	else
		table_none(t);
	table_unsigned(t, HASH_COUNT(one->threads));
	table_unsigned(t, one->waits);
	table_unsigned(t, one->ns);
	table_unsigned(t, one->max);
	table_text(t, *one->holder ? one->holder : NULL);
}

/* Text has the process only if there are several, and the holder only if one is known. */
static void choose(const struct waitedon *w, struct table_column columns[COLUMNS])
{
	pid_t pid = 0;

	columns[PID].where = columns[HELD_BY].where = TABLE_ONLY_JSON;
	for (const struct waitedon_object *one = w->all; one; one = one->hh.next) {
		if (*one->holder)
			columns[HELD_BY].where = TABLE_EVERYWHERE;
		if (pid && one->key.pid && one->key.pid != pid)
			columns[PID].where = TABLE_EVERYWHERE;
		pid = one->key.pid ? one->key.pid : pid;
	}
}

void waitedon_print(struct waitedon *w, struct analysis *a)
{
	struct table_column columns[COLUMNS] = {
		{ "what", TABLE_TEXT }, [PID] = { "pid", TABLE_INTEGER }, { "threads", TABLE_INTEGER }, { "waits", TABLE_INTEGER },
		{ "total", TABLE_DURATION, .unit = "ms" }, { "max", TABLE_DURATION, .unit = "ms" },
		[HELD_BY] = { "held_by", TABLE_TEXT, .title = "held by" },
	};
	const struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = SHOWN };
	struct table t;

	if (w->all) {
		choose(w, columns);
		table_init(&t, "waited on", columns, COLUMNS);
		for (const struct waitedon_object *one = w->all; one; one = one->hh.next)
			put(one, &t);
		table_sort(&t, "total", true);
		table_caption(&t, "what was waited on, in the whole run");
		if (!a->opts->json)
			putchar('\n');
		analysis_put_table(a, &t, &style);
		table_free(&t);
	}
	if (w->refused)
		fprintf(stderr, "perf-prof: %s: %llu wait%s missing from the table of what was waited on: too many objects\n",
			a->ops->name, (unsigned long long)w->refused, w->refused == 1 ? " is" : "s are");
}

void waitedon_free(struct waitedon *w)
{
	for (struct waitedon_object *one = w->all; one; one = one->hh.next)
		HASH_FREE(one->threads);
	HASH_FREE(w->all);
	*w = (struct waitedon){ 0 };
}
