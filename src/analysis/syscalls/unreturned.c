/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/unreturned.h"

#include "analysis/durations/waitargs.h"
#include "analysis/syscalls/commchoice.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/room.h"
#include "base/units.h"
#include "engine/callnames.h"
#include "pystack/pystack.h"
#include "report/table.h"
#include "stream/asked/event.h"
#include "stream/asked/filter.h"
#include "stream/watched/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Python functions that called what threads hang in, from the memory of their interpreters: a blocked thread does not change
 * them. */

/* Initialized by zeros. */
struct pycallers {
	struct groups all;           /* of struct pycaller, by process */
};

enum { FRAMES = 4, MAX_PROCESSES = 64 };

struct pycaller {
	pid_t pid;
	struct pystack *stack;       /* NULL: no Python, or one that cannot be read */
};

static struct pystack *stack_of(struct pycallers *p, pid_t pid)
{
	struct fault f = { 0 };
	const uint32_t n = p->all.n;
	struct pycaller *one = groups_get(&p->all, &pid, sizeof(pid), sizeof(*one), MAX_PROCESSES);

	if (!one)
		return NULL;
	if (p->all.n > n)
		one->stack = pystack_look(pid) ? NULL : pystack_open(pid, "syscalls", &f);
	return one->stack;
}

struct wanted {
	pid_t tid;
	char *buf;
	size_t size;
	bool found;
};

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take(void *ctx, const struct pystack_thread *thread)
{
	struct wanted *w = ctx;
	size_t used = 0;

	if (thread->tid != w->tid || thread->torn)
		return;
	w->found = thread->n;
	for (size_t i = 0; i < thread->n && i < FRAMES && used < w->size; i++) {
		const struct pystack_frame *frame = &thread->frames[i];

		used += (size_t)snprintf(w->buf + used, w->size - used, "%s%s (%s:%d)", i ? " < " : "", frame->code->name,
					 file_name(frame->code->file), frame->line);
	}
}

/* "get (queue.py:171) < work (app.py:7)", innermost first. False: the thread runs no Python, its functions are not known, or it is
 * no longer in that call. The text has any bytes. */
static bool pycallers_text(struct pycallers *p, const struct waitargs *c, char *buf, size_t size)
{
	const struct pystack_opts opts = { .idle = true };
	struct pystack *stack = c->pid ? stack_of(p, c->pid) : NULL;
	struct wanted w = { c->tid, buf, size, false };

	return stack && !pystack_read(stack, &opts, take, &w) && w.found && waitargs_is_still(c);
}

static void pycallers_free(struct pycallers *p)
{
	for (struct pycaller *one = groups_first(&p->all); one; one = groups_next(one))
		pystack_close(one->stack);
	groups_free(&p->all);
}

/* Whether a call that began before the run is one that the user's filter of raw_syscalls:sys_enter selects. */

enum { RAW_BYTES = 256 };

static void put(const struct trace_field *field, char raw[RAW_BYTES], const void *value, size_t size)
{
	if (field->offset + (size_t)field->size <= RAW_BYTES)
		memcpy(raw + field->offset, value, size < field->size ? size : field->size);
}

/* The data of the event that the call would have caused. */
static void put_event(const struct stream_event *enter, const struct waitargs *c, char raw[RAW_BYTES])
{
	const int64_t number = call_number(c->call);
	const int32_t tid = c->tid;

	memset(raw, 0, RAW_BYTES);
	for (size_t i = 0; i < enter->fmt->nfields; i++) {
		const struct trace_field *field = &enter->fmt->fields[i];

		if (!strcmp(field->name, "common_pid"))
			put(field, raw, &tid, sizeof(tid));
		else if (!strcmp(field->name, "id"))
			put(field, raw, &number, sizeof(number));
		else if (!strcmp(field->name, "args"))
			put(field, raw, c->args, sizeof(c->args));
	}
}

/* Other parts of a sample than its data are empty here: what reads them has no value. */
static bool is_true(const struct expr *filter, const struct stream_event *enter, const struct waitargs *c)
{
	struct expr_run run = { .ctx = NULL };
	struct expr_value value;
	char raw[RAW_BYTES];

	put_event(enter, c, raw);
	run.area[SCHEMA_RAW].bytes = raw;
	run.area[SCHEMA_RAW].size = sizeof(raw);
	return !expr_eval(filter, &run, &value) && value.u;
}

/* True without a filter; false if it reads more than the call: the CPU, the time, the name of the task. */
static bool callfilter_passes(const struct stream_event *enter, const struct waitargs *c)
{
	struct expr_schema schema;
	struct filter filter = { 0 };
	struct expr_error err;
	bool passes;

	if (!enter->asked.filter)
		return true;
	if (!enter->fmt || schema_of_event(&schema, enter))
		return false;
	passes = filter_split(&filter, enter->asked.filter, &schema, true, &err) == FILTER_SPLIT && filter.here &&
		 !expr_calls(filter.here, &schema_comm) && is_true(filter.here, enter, c);
	filter_free(&filter);
	schema_free(&schema);
	return passes;
}

/* LINES, RECORDED_LINES: unless --full; LOOKED_AT: for holders of locks, which come first; NEWS_NS: shorter calls are no news. */
enum { LINES = 10, RECORDED_LINES = 3, LOOKED_AT = 1000, NEWS_NS = 100000000, CALL_SIZE = 1280 };

struct unreturned_told {
	pid_t tid;
	uint64_t start;
};

struct late {
	pid_t tid;
	uint64_t start;              /* perf clock; 0: before the run */
	bool told;
};

struct visit {
	struct unreturned *u;
	struct question *q;
	struct waiton on;
	struct pycallers python;
	struct late *all;
	size_t n;
	uint64_t now;                /* perf clock */
	uint64_t before;             /* calls that began later are no news */
	bool recorded;               /* the threads are of a recording */
	bool repeats;                /* also name calls that an earlier table has named */
};

void unreturned_begin(struct unreturned *u, const struct stream_opts *opts)
{
	struct targets t = { 0 };
	struct fault f = { 0 };

	if (opts->input || targets_everybody(opts) || targets_resolve(&t, opts, &f))
		return;
	for (size_t i = 0; i < t.nthreads; i++)
		sleepers_add(&u->before, t.tasks[i].tid);
	targets_free(&t);
}

void unreturned_free(struct unreturned *u)
{
	sleepers_free(&u->before);
	groups_free(&u->told);
}

/* ---- which calls ------------------------------------------------------------------------ */

/* Whether the text has named that call. */
static bool was_told(const struct unreturned *u, pid_t tid, uint64_t start)
{
	const struct unreturned_told *one = groups_find(&u->told, &tid, sizeof(tid));

	return one && one->start == start;
}

static void set_told(struct unreturned *u, pid_t tid, uint64_t start)
{
	struct unreturned_told *one = groups_get(&u->told, &tid, sizeof(tid), sizeof(*one), UINT32_MAX);

	if (one)
		one->start = start;
}

static void add(struct visit *v, pid_t tid, uint64_t start)
{
	const struct opt_strings *comms = &v->q->common.comms;

	if (comms->n && !commchoice_has(comms, analysis_comm(v->q->a, tid)))
		return;
	if (start <= v->before && (v->repeats || !was_told(v->u, tid, start)) && ROOM_FOR_ONE(v->all, v->n))
		v->all[v->n++] = (struct late){ tid, start };
}

/* A thread that has slept all the time, and has called nothing since. */
static void add_sleeper(void *ctx, pid_t tid, enum task_state state)
{
	struct visit *v = ctx;

	if (!pairs_find(&v->q->pairs, (uint64_t)tid))
		add(v, tid, 0);
}

static void add_begun(struct visit *v)
{
	for (const struct open_pair *o = groups_first(&v->q->pairs.all); o; o = groups_next(o))
		if (o->is_open &&
		    !(v->recorded && (gaps_anywhere_since(v->u->gaps, o->start) || !v->u->wants(v->q, (int64_t)o->value))))
			add(v, (pid_t)o->key, o->start);
}

static int longest_first(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* ---- what each thread waits for --------------------------------------------------------- */

/* Threads of io_uring have the registers of the call that made them. */
static bool is_worker(const char *comm)
{
	return !strncmp(comm, "iou-", strlen("iou-"));
}

/* Whether it is the call that is meant, and one that the user wants to see. */
static bool is_meant(const struct visit *v, const struct late *one, const struct waitargs *c)
{
	if (!v->u->wants(v->q, c->call))
		return false;
	if (!one->start)
		return callfilter_passes(v->u->enter, c);
	return v->u->is_in(v->q, pairs_find(&v->q->pairs, (uint64_t)one->tid), c->call);
}

/* What a thread is in, and waits on; which functions of Python called it ("": none, or not known). */
struct call {
	char text[CALL_SIZE], python[512];
};

/* held: only if its lock has a holder. False: it is in no call, or in another one. */
static bool find(struct visit *v, const struct late *one, bool held, struct call *call)
{
	struct waitargs c;
	const enum waitargs_found found = waitargs_find(one->tid, &c);

	call->python[0] = '\0';
	if (found == WAITARGS_REFUSED) {
		snprintf(call->text, sizeof(call->text), "a call (/proc/%d/syscall: %s)", (int)one->tid, strerror(errno));
		return !held;
	}
	if (found == WAITARGS_NO_CALL || !is_meant(v, one, &c))
		return false;
	waitargs_text(&v->on, &c, call->text, sizeof(call->text));
	if (held && !strstr(call->text, " held by "))
		return false;
	if (!pycallers_text(&v->python, &c, call->python, sizeof(call->python)))
		call->python[0] = '\0';
	return true;
}

/* ---- output ----------------------------------------------------------------------------- */

static bool print_one(struct visit *v, struct late *one, bool held)
{
	const char *comm = analysis_comm(v->q->a, one->tid);
	char name[64], text[4 * CALL_SIZE], python[4 * sizeof(((struct call *)0)->python)], since[64] = "since before the run";
	struct call call;

	if (one->told || is_worker(comm) || !find(v, one, held, &call))
		return false;
	one->told = true;
	set_told(v->u, one->tid, one->start);
	escape_terminal(comm, strlen(comm), name, sizeof(name));
	escape_terminal(call.text, strlen(call.text), text, sizeof(text));
	escape_terminal(call.python, strlen(call.python), python, sizeof(python));
	if (one->start)
		snprintf(since, sizeof(since), "for %.3f ms", (double)(v->now - one->start) / 1e6);
	printf("%s %d is still in %s%s%s, %s: not in the table\n", name, pidmap_shown(one->tid), text, *python ? ", called by " : "", python,
	       since);
	return true;
}

/* In a recording, the number is all that is known. */
static const char *recorded_call(const struct visit *v, const struct late *one, char *buf, size_t size)
{
	return call_name((int64_t)pairs_find(&v->q->pairs, (uint64_t)one->tid)->value, buf, size);
}

static void print_recorded(const struct visit *v)
{
	const size_t most = v->q->common.full ? SIZE_MAX : RECORDED_LINES;
	char call[64], name[64];

	for (size_t i = 0; i < v->n && i < most; i++) {
		const struct late *one = &v->all[i];
		const char *comm = analysis_comm(v->q->a, one->tid);

		escape_terminal(comm, strlen(comm), name, sizeof(name));
		printf("%s %d was still in %s at the end, for at least %.3f ms: not in the table\n", name, pidmap_shown(one->tid),
		       recorded_call(v, one, call, sizeof(call)), (double)(v->now - one->start) / 1e6);
	}
	if (v->n > most)
		printf("%zu more thread%s %s in a call (--full shows all)\n", v->n - most, units_plural(v->n - most),
		       v->n - most == 1 ? "was" : "were");
}

static void print_text(struct visit *v)
{
	const size_t most = v->q->common.full ? SIZE_MAX : LINES;
	size_t told = 0, more = 0, i;

	for (i = 0; i < v->n && i < LOOKED_AT && told < most; i++)
		told += print_one(v, &v->all[i], true);
	for (i = 0; i < v->n && told < most; i++)
		told += print_one(v, &v->all[i], false);
	for (; i < v->n; i++)
		more += !v->all[i].told;
	if (more)
		printf("%zu more thread%s may be in a call (--full shows all)\n", more, units_plural(more));
}

static void put_one(struct visit *v, const struct late *one, struct table *t)
{
	const char *comm = analysis_comm(v->q->a, one->tid);
	struct call call = { .python = "" };

	if (v->recorded)
		recorded_call(v, one, call.text, sizeof(call.text));
	else if (is_worker(comm) || !find(v, one, false, &call))
		return;
	table_row(t);
	table_text(t, comm);
	table_task(t, one->tid);
	table_text(t, call.text);
	if (*call.python)
		table_text(t, call.python);
	else
		table_none(t);
	if (one->start)
		table_unsigned(t, v->now - one->start);
	else
		table_none(t);
}

static void print_json(struct visit *v)
{
	static const struct table_column columns[] = {
		{ "comm", TABLE_TEXT }, { "tid", TABLE_INTEGER }, { "call", TABLE_TEXT }, { "python", TABLE_TEXT },
		{ "duration", TABLE_DURATION },
	};
	struct table t;

	table_init(&t, "unreturned", columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < v->n; i++)
		put_one(v, &v->all[i], &t);
	if (t.nrows && table_json(&t, NULL, stdout) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table of calls that have not returned\n", v->q->ops->name);
	table_free(&t);
}

void unreturned_print(struct unreturned *u, struct question *q, uint64_t from)
{
	const bool recorded = q->targets->input;
	struct visit v = { .u = u, .q = q, .now = recorded ? analysis_end(q->a, q->last) : analysis_now(q->a), .recorded = recorded,
			   .repeats = q->ending || q->common.json };

	/* the number of a call tells which one it is; -i's tables of a recording are not its end */
	if (q->csv || (recorded ? !q->ending || !u->is_whole : targets_everybody(q->targets)))
		return;
	/* a recording says when its last event was, not when it ended */
	v.before = recorded ? v.now : v.now > NEWS_NS ? v.now - NEWS_NS : 0;
	if (!v.repeats && from < v.before)
		v.before = from;
	if (v.repeats || !u->looked)   /* the first table has them all */
		sleepers_each(&u->before, add_sleeper, &v);
	u->looked = true;
	add_begun(&v);
	if (v.n)
		qsort(v.all, v.n, sizeof(*v.all), longest_first);
	if (q->common.json)
		print_json(&v);
	else if (recorded)
		print_recorded(&v);
	else
		print_text(&v);
	waiton_free(&v.on);
	pycallers_free(&v.python);
	free(v.all);
}
