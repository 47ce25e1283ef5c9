/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof syscalls: how long system calls take, and how they fail.
 *
 * sys_exit has the call's number. The fields of sys_enter (number and arguments) would be more than half of all
 * bytes, so the command samples them only with --than. Without them, a sys_enter and a sys_exit may belong to two
 * calls if events were lost between them on one of their CPUs: such a pair is not counted.
 */
#include "analysis/durations/commands.h"
#include "analysis/durations/gaps.h"
#include "analysis/durations/unreturned.h"
#include "analysis/durations/words.h"
#include "engine/callnames.h"
#include "rows/question.h"

#include <string.h>

struct syscalls {
	struct question question;
	struct distributions errors;     /* durations of failed calls, by call, errno and the task's name */
	struct words words;
	bool numbered;                   /* sys_enter is sampled with the call's number */
	struct gaps gaps;
	struct sleepers before;          /* threads that sleep since before the run */
};

enum { MAX_ERRNO = 4095 };

enum { ENTER, LEAVE };
enum { FIELD_ID, FIELD_RET };
static const struct question_event events[] = {
	[ENTER] = { "raw_syscalls", "sys_enter", { [FIELD_ID] = "id" } },
	[LEAVE] = { "raw_syscalls", "sys_exit", { [FIELD_ID] = "id", [FIELD_RET] = "ret" } },
};

/* In tables, "futex(202)"; in events, "futex" (call_word()). */
static const char *call_text(struct question *q, uint64_t nr, char *buf, size_t size)
{
	return call_name((int64_t)nr, buf, size);
}

static const char *call_word(struct question *q, uint64_t nr, char *buf, size_t size)
{
	call_name((int64_t)nr, buf, size);
	buf[strcspn(buf, "(")] = '\0';
	return buf;
}

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -MAX_ERRNO;
}

/* "ENOENT"; "": none. */
static const char *error_word(struct question *q, uint64_t error, char *buf, size_t size)
{
	return error ? error_name((int)error, buf, size) : "";
}

enum { CALL, WORD, NR, RET, ERROR };
static const struct column columns[] = {
	[CALL] = { "call", COLUMN_TEXT, COLUMN_KEY, .text = call_text },
	[WORD] = { "call", COLUMN_TEXT, COLUMN_FIELD, 32, .text = call_word },
	[NR] = { "nr", COLUMN_SIGNED, COLUMN_FIELD },
	[RET] = { "ret", COLUMN_SIGNED, COLUMN_FIELD },
	[ERROR] = { "error", COLUMN_TEXT, COLUMN_FIELD, 24, .text = error_word },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX, SHOW_ERRORS, SHOW_ERRNOS,
};

/* ---- the table of errors ---------------------------------------------------------------- */

static void put_error(void *ctx, const struct distribution *d, struct table *t)
{
	const struct words *words = ctx;
	char call[64], error[32];

	table_text(t, words_text(words, d->key[2]));
	table_text(t, call_name((int64_t)d->key[0], call, sizeof(call)));
	table_text(t, error_name((int)d->key[1], error, sizeof(error)));
}

static const struct table_column error_columns[] = {
	{ "comm", TABLE_TEXT }, { "call", TABLE_TEXT }, { "error", TABLE_TEXT },
};
static const enum shown error_shown[] = { SHOW_CALLS, SHOW_TOTAL, SHOW_MAX };
static const struct distribution_view error_view = {
	"errors", error_columns, sizeof(error_columns) / sizeof(*error_columns), error_shown,
	sizeof(error_shown) / sizeof(*error_shown), .put = put_error,
};

static void count_error(struct syscalls *c, const struct happening *h)
{
	const uint64_t key[DISTRIBUTION_KEYS] = { h->end.value, (uint64_t)h->error, words_number(&c->words, h->comm) };
	bool fresh;
	struct distribution *d = distributions_get(&c->errors, key, &fresh);

	if (d)
		histogram_add(&d->durations, h->end.duration);
}

/* Of a call whose number was not sampled, its sys_exit may be lost. */
static bool is_in(const struct question *q, const struct open_pair *o, int64_t call)
{
	const struct syscalls *c = (const struct syscalls *)q;

	return c->numbered ? (int64_t)o->value == call : !gaps_since(&c->gaps, o->value, o->start);
}

static void after_table(struct question *q, uint64_t from)
{
	struct syscalls *c = (struct syscalls *)q;

	struct distribution_view view = error_view;

	view.ctx = &c->words;
	if (c->errors.rows && !q->csv)
		distributions_print(q->a, &c->errors, &view, from, q->from, NULL);
	distributions_clear(&c->errors);
	words_free(&c->words);
	if (q->ending && !q->common.json && !q->csv)
		unreturned_print(q, &c->before, is_in);
}

/* ---- samples ---------------------------------------------------------------------------- */

/* The value of a pair, for belongs(): the call's number if it is sampled, else the CPU. */
static uint64_t beginning(const struct syscalls *c, const struct analysis_sample *s)
{
	return c->numbered ? (uint64_t)trace_field_sint(c->question.fields[ENTER][FIELD_ID], s->view.raw) : s->cpu;
}

/* Whether a sys_exit belongs to the thread's last sys_enter. */
static bool belongs(const struct syscalls *c, const struct analysis_sample *s, const struct pair_end *end, int64_t id)
{
	if (c->numbered)
		return (int64_t)end->value == id;
	return !gaps_since(&c->gaps, end->value, end->start) && !gaps_since(&c->gaps, s->cpu, end->start);
}

static void leave(struct question *q, const struct analysis_sample *s)
{
	struct syscalls *c = (struct syscalls *)q;
	int64_t id = syscall_left(trace_field_sint(q->fields[LEAVE][FIELD_ID], s->view.raw));
	int64_t ret = trace_field_sint(q->fields[LEAVE][FIELD_RET], s->view.raw);
	const int error = syscall_has_result(id) && is_error(ret) ? (int)-ret : 0;
	struct happening h = {
		.s = s, .pid = s->pid, .tid = s->tid, .comm = q->a ? analysis_comm(q->a, s->tid, s->time) : NULL,
		.error = error,
		.cells = { [CALL] = { (uint64_t)id }, [WORD] = { (uint64_t)id }, [NR] = { (uint64_t)id }, [RET] = { (uint64_t)ret },
			   [ERROR] = { (uint64_t)error } },
	};

	if (!pairs_end(&q->pairs, s, (uint64_t)s->tid, &h.end))
		return;
	if (!belongs(c, s, &h.end, id)) {
		q->pairs.unbegun++;
		return;
	}
	h.end.value = (uint64_t)id;
	question_emit(q, &h);
	if (h.error && q->a)
		count_error(c, &h);
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct syscalls *c = (struct syscalls *)q;

	if (s->event == q->events[ENTER])
		pairs_start(&q->pairs, s, (uint64_t)s->tid, beginning(c, s));
	else if (s->event == q->events[LEAVE])
		leave(q, s);
}

static uint64_t reads(struct question *q, const struct stream_event *event)
{
	return event == question_event(q, events[ENTER].sys, events[ENTER].name) ? 0 : PERF_SAMPLE_RAW;
}

static void lost(struct question *q, const struct stream_loss *loss)
{
	gaps_add(&((struct syscalls *)q)->gaps, loss);
}

static int begin(struct question *q, struct fault *f)
{
	struct syscalls *c = (struct syscalls *)q;

	c->numbered = q->events[ENTER]->layout.raw;
	if (q->a)
		unreturned_begin(&c->before, q->targets);
	return 0;
}

static void release(struct question *q)
{
	struct syscalls *c = (struct syscalls *)q;

	distributions_clear(&c->errors);
	words_free(&c->words);
	gaps_free(&c->gaps);
	sleepers_free(&c->before);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	char call[64];

	snprintf(buf, size, "%s %d %s", h->comm, pidmap_shown(h->tid), call_name((int64_t)h->end.value, call, sizeof(call)));
}

static bool between(struct question *q, const struct analysis_sample *s, const struct happening *h)
{
	return s->tid == h->tid;
}

static const struct question_ops question = {
	.name = "syscalls", .durations = "calls", QUESTION_COLUMNS_ARE(columns), .tasks = true,
	.shown = shown, .nshown = sizeof(shown) / sizeof(*shown),
	.print = "\"%s = %lld%s%s after %llu.%03llu us\", REC->call, REC->ret, REC->error[0] ? \" \" : \"\", REC->error, "
		 "REC->duration / 1000, REC->duration % 1000",
	QUESTION_EVENTS_ARE(events), .reads = reads, .begin = begin, .sample = sample, .lost = lost, .after_table = after_table,
	.release = release, .title = title, .between = between,
};

/* ---- the command ------------------------------------------------------------------------ */

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread");
static const struct opt by_opts[] = QUESTION_BY_OPTS(QUESTION_BY_TARGET);

const struct command syscalls_command = {
	QUESTION_COMMAND(question, struct syscalls),
	OPT_GROUP_ROWS(
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts), QUESTION_EVENTS_GROUP, QUESTION_RUN_GROUPS),
	.name = "syscalls", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Which system calls take the time, and which fail? Prints a row for each thread and call; without a "
		"target, threads with the same name share a row (--by task: each has its own). Errors are counted, and "
		"listed by errno in a second table.",
		"--than prints each longer call when it returns; with -g, also the stack that made it.",
		"--heatmap draws all calls: when they returned, and how long they took.",
		"Calls that began before perf-prof, or did not return before its end, are not in the table, but counted "
		"below it. With a target, a line names each thread that hangs in a call, and what it waits on. The "
		"events are raw_syscalls:sys_enter and sys_exit; use -e to filter them, such as -e "
		"'raw_syscalls:sys_enter/id==0/,raw_syscalls:sys_exit/id==0/'."),
	.summary = "measure how long system calls take, and count their errors",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof syscalls -p 1234 -i 1000", "measure the calls of a process, each second" },
		{ "perf-prof syscalls --than 100ms -g", "print calls that take longer than 100 ms, and the stacks that made them" },
		{ "perf-prof syscalls -- ls -R /usr/lib", "measure the calls of a command" },
		{ "perf-prof syscalls -p 1234 --heatmap calls.html", "draw when the calls of a process were slow" }),
};

const struct source_ops syscalls_source = {
	QUESTION_SOURCE(question, struct syscalls), OPT_GROUPS(question_source_groups), .name = "syscalls",
	.summary = "each system call, when it returns",
};
