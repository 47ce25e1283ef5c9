/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callerrors.h"

#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/openflags.h"
#include "base/escape.h"
#include "base/note.h"
#include "base/units.h"
#include "engine/callnames.h"
#include "engine/framefold.h"
#include "report/json.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAMED = 3, MAX_COMMS = 1 << 14, COMM_SIZE = 16 };

struct commcount {
	char comm[COMM_SIZE];
	uint64_t calls;
};

void commcounts_add(struct commcounts *c, const char *comm)
{
	struct commcount *one;
	char key[COMM_SIZE] = "";

	snprintf(key, sizeof(key), "%s", comm ? comm : "");
	one = groups_get(&c->all, key, sizeof(key), sizeof(*one), MAX_COMMS);
	c->total++;
	if (one)
		one->calls++;
}

static int counts_more_calls(const void *a_, const void *b_)
{
	const struct commcount *a = a_, *b = b_;

	return a->calls == b->calls ? strcmp(a->comm, b->comm) : a->calls < b->calls ? 1 : -1;
}

/* The three names with the most calls, fit for a terminal; of the rest the sum. Returns buf. */
static char *commcounts_text(struct commcounts *c, char *buf, size_t size)
{
	uint64_t rest = c->total;
	size_t used = 0, n = 0;
	char safe[4 * COMM_SIZE];

	buf[0] = '\0';
	groups_sort(&c->all, counts_more_calls);
	for (const struct commcount *one = groups_first(&c->all); one && n < NAMED && used < size; one = groups_next(one), n++) {
		escape_terminal(*one->comm ? one->comm : "?", *one->comm ? strlen(one->comm) : 1, safe, sizeof(safe));
		used += (size_t)snprintf(buf + used, size - used, "%s%s %llu", n ? ", " : "", safe, (unsigned long long)one->calls);
		rest -= one->calls;
	}
	if (rest && used < size)
		snprintf(buf + used, size - used, "%sothers %llu", n ? ", " : "", (unsigned long long)rest);
	return buf;
}

/* [{"NAME": "stat_prog", "calls": 10}, ...]: all names, that with the most calls first. NULL: out of memory. */
static struct json_object *commcounts_json(struct commcounts *c, const char *name)
{
	json_object *all = json_object_new_array();
	bool good = all;

	groups_sort(&c->all, counts_more_calls);
	for (const struct commcount *one = groups_first(&c->all); one && good; one = groups_next(one)) {
		json_object *row = json_object_new_object();

		good = json_append(all, row) && json_put_text(row, name, one->comm) && json_put_unsigned(row, "calls", one->calls);
	}
	return json_whole(all, good);
}

static void commcounts_free(struct commcounts *c)
{
	groups_free(&c->all);
	*c = (struct commcounts){ .total = 0 };
}

/* Texts are at most CALLPATH_SIZE long, so 10,000 of them are 10 MB. */
enum { CALLERROR_TEXT = 2048 };   /* bytes with the final NUL */
enum { MAX_TEXTS = 10000, MAX_STACKS = 1 << 16, ROWS_SHOWN = 100, STACKS_SHOWN = 10 };

/* ---- counting --------------------------------------------------------------------------- */

struct stack_key {
	uint64_t comm;               /* of the row, or of the process: a number of the words */
	uint64_t task;               /* of the row; 0: threads share stacks */
	uint64_t call, error;
	struct callstack *stack;
};

struct callerror_stack {
	struct stack_key key;
	uint64_t calls;
	uint64_t path;               /* of the first call: a number of the words */
	bool others;                 /* other calls had other paths */
};

/* The rows' tasks, if the user has chosen them. Otherwise threads share stacks: they run the same functions. */
static struct stack_key stack_key(struct callerrors *e, struct question *q, const struct happening *h, const char *name, uint64_t task)
{
	const bool as_rows = q->by || q->per_instance;
	const char *comm = as_rows ? name : analysis_comm(q->a, h->pid > 0 ? h->pid : h->tid);

	return (struct stack_key){ words_number(&e->words, comm), as_rows && q->grouping.by != BY_COMM ? task : 0,
				   h->end.value, (uint64_t)h->error, NULL };
}

static void add_stack(struct callerrors *e, const struct stack_key *key, uint64_t path)
{
	struct callerror_stack *one = groups_get(&e->stacks, key, sizeof(*key), sizeof(*one), MAX_STACKS);

	e->counted++;
	if (!one) {
		e->refused++;
		return;
	}
	if (!one->calls)
		one->path = path;
	one->calls++;
	one->others |= one->path != path;
}

/* The part of a row's key behind its call: the lower half is the error, and where the second path begins; the upper half for what
 * it opens. */
enum { ERROR_BITS = 16 };
_Static_assert(CALLPATH_SIZE < 1 << ERROR_BITS, "where a path begins");

static uint64_t error_and_flags(int error, const struct callerror *one)
{
	return (uint64_t)one->flags << 32 | (uint64_t)one->second << ERROR_BITS | (uint16_t)error;
}

static int error_of(const struct distribution *d)
{
	return (uint16_t)d->key[2];
}

/* 0: it has one path; or it is [others]. */
static size_t second_of(const struct distribution *d)
{
	return d->key[3] == WORDS_OTHERS ? 0 : (uint16_t)(d->key[2] >> ERROR_BITS);
}

void callerrors_add(struct callerrors *e, struct question *q, const struct happening *h, const struct callerror *one)
{
	const char *name = h->comm;
	uint64_t key[DISTRIBUTION_KEYS] = { 0, h->end.value, error_and_flags(h->error, one) };
	struct distribution *d;
	bool fresh;

	e->words.most = MAX_TEXTS;
	e->opens |= one->flags != 0;
	e->two |= one->second != 0;
	if (e->paths)
		key[3] = words_add(&e->words, one->path, strlen(one->path));
	key[0] = grouping_key(&q->grouping, q->a, h->tid, &name);
	d = distributions_get(&e->rows, key, &fresh);
	if (d) {
		snprintf(d->name, sizeof(d->name), "%s", name);
		histogram_add(&d->durations, h->end.duration);
	}
	if (one->stack) {
		struct stack_key of = stack_key(e, q, h, name, key[0]);

		of.stack = one->stack;
		add_stack(e, &of, key[3]);
	}
}

void callerrors_add_unseen(struct callerrors *e, const struct happening *h)
{
	char call[64];

	call_name((int64_t)h->end.value, call, sizeof(call));
	call[strcspn(call, "(")] = '\0';
	commcounts_add(&e->unseen, h->comm);
	commcounts_add(&e->unseen_calls, call);
}

void callerrors_free(struct callerrors *e)
{
	distributions_clear(&e->rows);
	words_free(&e->words);
	groups_free(&e->stacks);
	commcounts_free(&e->unseen);
	commcounts_free(&e->unseen_calls);
	commcounts_free(&e->nowhere);
	*e = (struct callerrors){ .paths = e->paths, .all = e->all, .told = e->told, .has_flags = e->has_flags,
				   .two = e->two };
}

/* ---- the table -------------------------------------------------------------------------- */

struct printed {
	struct callerrors *e;
	const char *why;
};

/* 0: the call did not fail. */
static void put_error_name(struct table *t, uint64_t error)
{
	char name[32];

	if (error)
		table_text(t, error_name((int)error, name, sizeof(name)));
	else
		table_none(t);
}

static void put_error(void *ctx, const struct distribution *d, struct table *t)
{
	const struct printed *p = ctx;
	const uint32_t flags = (uint32_t)(d->key[2] >> 32);
	char call[64], text[OPENFLAGS_TEXT];

	grouping_put(d, t);
	table_text(t, call_name((int64_t)d->key[1], call, sizeof(call)));
	put_error_name(t, (uint64_t)error_of(d));
	if (p->e->has_flags && flags)
		table_text(t, openflags_text(flags, text, sizeof(text)));
	else if (p->e->has_flags)
		table_none(t);
}

/* The text is "FIRST, SECOND". */
static void put_both(struct table *t, const char *text, size_t second)
{
	char first[CALLPATH_SIZE];

	if (!second) {
		table_none(t);
		table_none(t);
		return;
	}
	table_text(t, callpaths_first(text, second, first));
	table_text(t, text + second);
}

static void put_path(void *ctx, const struct distribution *d, struct table *t)
{
	const struct printed *p = ctx;
	const char *text = words_text(&p->e->words, d->key[3]);

	if (*text)
		table_text(t, text);
	else
		table_none(t);
	if (p->e->two)
		put_both(t, text, second_of(d));
}

static void put_no_paths(void *ctx, struct table *t)
{
	const struct printed *p = ctx;

	if (*p->why)
		table_extra(t, "no_paths", json_text(p->why, strlen(p->why)));
	if (p->e->unseen.total) {
		table_extra(t, "unseen_paths", json_object_new_uint64(p->e->unseen.total));
		table_extra(t, "unseen_tasks", commcounts_json(&p->e->unseen, "comm"));
		table_extra(t, "unseen_calls", commcounts_json(&p->e->unseen_calls, "call"));
	}
	if (p->e->nowhere.total)
		table_extra(t, "unknown_folders", json_object_new_uint64(p->e->nowhere.total));
}

static void print_rows(struct printed *p, struct question *q, uint64_t from)
{
	static const enum shown shown[] = { SHOW_CALLS, SHOW_TOTAL, SHOW_MAX };
	const struct table_column paths[] = {
		{ "path", TABLE_TEXT, .fit = FIT_PATH, .where = *p->why ? TABLE_ONLY_JSON : TABLE_EVERYWHERE },
		{ "path1", TABLE_TEXT, .where = TABLE_ONLY_JSON }, { "path2", TABLE_TEXT, .where = TABLE_ONLY_JSON },
	};
	const struct csv_form form = { ',', q->csv_safe };
	struct table_column columns[GROUPING_COLUMNS + 3];
	struct distribution_view view = {
		.name = p->e->all ? "paths" : "errors", .columns = columns, .ncolumns = GROUPING_COLUMNS + 2 + p->e->has_flags,
		.shown = shown,
		.nshown = sizeof(shown) / sizeof(*shown), .ctx = p, .put = put_error, .csv = q->csv ? &form : NULL,
		.titles = !q->has_titles,
	};

	grouping_columns(&q->grouping, columns);
	columns[GROUPING_COLUMNS] = (struct table_column){ "call", TABLE_TEXT };
	columns[GROUPING_COLUMNS + 1] = (struct table_column){ "error", TABLE_TEXT };
	columns[GROUPING_COLUMNS + 2] = (struct table_column){
		"flags", TABLE_TEXT, .where = p->e->opens || q->csv ? TABLE_EVERYWHERE : TABLE_ONLY_JSON,
	};
	if (p->e->paths) {
		view.last = paths;
		view.nlast = p->e->two ? sizeof(paths) / sizeof(*paths) : 1;
		view.put_last = put_path;
		view.more = put_no_paths;
		view.order = "calls";
		view.max_rows = q->common.full ? 0 : ROWS_SHOWN;
		view.all_by = "--full";
	}
	if (q->grouping.by == BY_COMM)   /* since some rows were added, perhaps */
		grouping_merge(&p->e->rows);
	distributions_print(q->a, &p->e->rows, &view, from, q->from, NULL);
	q->has_titles = true;
}

/* ---- stacks ----------------------------------------------------------------------------- */

static int more_calls(const void *a_, const void *b_)
{
	const struct callerror_stack *a = a_, *b = b_;

	return (a->calls < b->calls) - (a->calls > b->calls);
}

static void print_stack(struct callerrors *e, struct analysis *a, const struct callerror_stack *one)
{
	char call[64], error[32] = "", task[32] = "", what[CALLERROR_TEXT], safe[4 * CALLERROR_TEXT];
	const char *path = words_text(&e->words, one->path);

	call_name((int64_t)one->key.call, call, sizeof(call));
	if (one->key.error)
		error_name((int)one->key.error, error, sizeof(error));
	if (one->key.task)
		snprintf(task, sizeof(task), " %d", pidmap_shown((pid_t)one->key.task));
	snprintf(what, sizeof(what), "%s%s: %s%s%s%s%s%s", words_text(&e->words, one->key.comm), task, call, *error ? " " : "", error,
		 *path ? " " : "", path, one->others ? " and others" : "");
	escape_terminal(what, strlen(what), safe, sizeof(safe));
	printf("%6.2f%%  %s, %llu time%s\n", 100 * (double)one->calls / (double)e->counted, safe, (unsigned long long)one->calls,
	       units_plural(one->calls));
	analysis_print_stack(a, one->key.stack);
}

static void print_stacks(struct callerrors *e, struct analysis *a)
{
	const size_t most = a->opts->full ? SIZE_MAX : STACKS_SHOWN;
	uint64_t hidden = 0;
	size_t n = 0;

	if (e->stacks.n)
		printf("\nmost %s, by stack\n", e->all ? "calls" : "failures");
	for (const struct callerror_stack *one = groups_first(&e->stacks); one; one = groups_next(one), n++)
		if (n < most)
			print_stack(e, a, one);
		else
			hidden += one->calls;
	if (n > most)
		printf("... %zu more stacks, %.2f%% (--full shows all)\n", n - most, 100 * (double)hidden / (double)e->counted);
	if (e->refused)
		fprintf(stderr, "perf-prof: %s: %llu calls are missing from the stacks: too many different stacks\n",
			a->ops->name, (unsigned long long)e->refused);
}

static void put_stack(struct callerrors *e, struct table *t, const struct callerror_stack *one)
{
	char call[64], *folded = framefold_text(one->key.stack);
	const char *path = one->others ? "" : words_text(&e->words, one->path);

	table_row(t);
	table_text(t, words_text(&e->words, one->key.comm));
	if (one->key.task)
		table_task(t, (pid_t)one->key.task);
	else
		table_none(t);
	table_text(t, call_name((int64_t)one->key.call, call, sizeof(call)));
	put_error_name(t, one->key.error);
	table_unsigned(t, one->calls);
	if (*path)
		table_text(t, path);
	else
		table_none(t);
	table_text(t, folded);
	free(folded);
}

static void stacks_json(struct callerrors *e, struct question *q)
{
	struct table_column columns[] = {
		{ "comm", TABLE_TEXT }, { "tid", TABLE_INTEGER }, { "call", TABLE_TEXT }, { "error", TABLE_TEXT }, { "calls", TABLE_INTEGER },
		{ "path", TABLE_TEXT }, { "stack", TABLE_TEXT },
	};
	struct table t;

	grouping_columns(&q->grouping, columns);
	table_init(&t, e->all ? "path stacks" : "error stacks", columns, sizeof(columns) / sizeof(*columns));
	for (const struct callerror_stack *one = groups_first(&e->stacks); one; one = groups_next(one))
		put_stack(e, &t, one);
	if (table_json(&t, NULL, stdout) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table of stacks\n", q->ops->name);
	table_free(&t);
}

/* Names that came late are found now. */
static void put_stacks(struct callerrors *e, struct question *q)
{
	groups_sort(&e->stacks, more_calls);
	for (struct callerror_stack *one = groups_first(&e->stacks); one; one = groups_next(one))
		callstacks_expand(q->a->stacks, one->key.stack);
	if (q->common.json)
		stacks_json(e, q);
	else
		print_stacks(e, q->a);
	callstacks_rest(q->a->stacks, NULL, NULL);
}

/* ---- all of it -------------------------------------------------------------------------- */

static void print_unseen(struct callerrors *e, const struct question *q)
{
	char calls[COMMCOUNTS_TEXT];

	printf("these calls are %s%s%s\n", commcounts_text(&e->unseen_calls, calls, sizeof(calls)),
	       q->targets->input || q->has_targets ? "" : "; -p PID and -- COMMAND show the paths of a static or Go program, if it is that "
							  "program itself",
	       q->targets->input ? "" : "; perf-prof trace -e 'syscalls:sys_enter_CALL' shows who makes them");
}

static void print_unknown(struct callerrors *e, const struct question *q)
{
	const unsigned long long unseen = e->unseen.total, nowhere = e->nowhere.total;
	char who[COMMCOUNTS_TEXT];

	if (unseen)
		printf("paths of %llu call%s are not known: no probe saw them (such as those of static or Go programs): %s\n", unseen,
		       units_plural(unseen), commcounts_text(&e->unseen, who, sizeof(who)));
	if (unseen)
		print_unseen(e, q);
	if (nowhere)
		printf("%llu call%s with paths relative to a folder that is not known (%s): --match 'NAME*' matches such paths as they "
		       "are given\n", nowhere, units_plural(nowhere), commcounts_text(&e->nowhere, who, sizeof(who)));
}

/* Where the table cannot say it. */
static void note_unseen(struct callerrors *e, const struct question *q)
{
	char who[COMMCOUNTS_TEXT], calls[COMMCOUNTS_TEXT];

	note(q->common.stream.verbose, "%s: paths of %llu call%s are not known: no probe saw them: %s; these calls are %s", q->ops->name,
	     (unsigned long long)e->unseen.total, units_plural(e->unseen.total), commcounts_text(&e->unseen, who, sizeof(who)),
	     commcounts_text(&e->unseen_calls, calls, sizeof(calls)));
}

void callerrors_print(struct callerrors *e, struct question *q, uint64_t from, const char *why)
{
	struct printed p = { e, why };
	char safe[1024];

	if (e->paths || (e->rows.rows.n && !q->csv))
		print_rows(&p, q, from);
	escape_terminal(why, strlen(why), safe, sizeof(safe));
	if (e->paths && *why && !e->told && !q->common.json && !q->csv)
		printf("paths are not known: %s\n", safe);
	if (!q->common.json && !q->csv)
		print_unknown(e, q);
	else if (q->csv && e->unseen.total)
		note_unseen(e, q);
	e->told = true;
	if (e->stacks.n && !q->csv)
		put_stacks(e, q);
	else if (e->stacks.n)
		callstacks_rest(q->a->stacks, NULL, NULL);
	if (e->words.full)
		fprintf(stderr, "perf-prof: %s: more than %d paths since the last table: those after these are [others]; -i prints "
			"tables more often\n", q->ops->name, MAX_TEXTS);
	callerrors_free(e);
}
