/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dump_print.h"

#include "base/escape.h"
#include "engine/frameline.h"
#include "report/json.h"

#include <errno.h>
#include <stdlib.h>

enum { INDENT = 4, DEPTH_SHOWN = 20 };

static const char *const task_states[] = {
	[PYSTACK_TASK_WAITS] = "waiting", [PYSTACK_TASK_RUNS] = "running", [PYSTACK_TASK_NEW] = "not started",
};

/* ---- text ---------------------------------------------------------------------------- */

static void print_escaped(const char *text)
{
	char *shown = escape_whole(text);

	fputs(shown ? shown : "?", stdout);
	free(shown);
}

static void print_script(const struct frame *frame, int indent)
{
	printf("%*s", indent, "");
	print_escaped(frame->symbol);
	fputs(" (", stdout);
	print_escaped(frame->file);
	if (frame->line)
		printf(":%u", frame->line);
	puts(")");
}

static void print_frames(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->frames.n; i++) {
		if (t->apart && i == t->native)
			printf("    [Python functions; calls of _PyEval_EvalFrameDefault: %u, of which %u are above]\n", t->calls,
			       t->loops);
		if (t->frames.v[i]->script)
			print_script(t->frames.v[i], INDENT);
		else
			frameline_print(t->frames.v[i], 0, stdout);
	}
	if (t->frames.cut)
		puts("    [...]");
}

static void print_why(const struct dump *d, const struct dump_thread *t)
{
	if (t->stuck)
		puts("    [it did not stop within a second, as in an uninterruptible system call]");
	else if (t->foreign)
		puts("    [32-bit code]");
	else if (t->torn)
		puts("    [its Python functions changed each time that they were read]");
	else if (!t->frames.n)
		puts(d->native ? "    [unknown]" : "    [no Python function]");
}

static void print_awaiters(const struct dump *d, const struct dump_task *t)
{
	for (size_t i = 0; i < t->nawaiters; i++) {
		fputs(i ? ", " : ", awaited by ", stdout);
		print_escaped(d->tasks.v[t->awaiters[i]].name);
	}
	puts(t->nawaiters && t->awaiters_cut ? ", ..." : "");
}

static void print_task(const struct dump *d, const struct dump_task *t)
{
	const int indent = INDENT / 2 * (1 + (int)(t->depth < DEPTH_SHOWN ? t->depth : DEPTH_SHOWN)), inner = indent + INDENT;

	printf("%*stask ", indent, "");
	print_escaped(*t->name ? t->name : "[unknown]");
	printf(": %s", task_states[t->state]);
	print_awaiters(d, t);
	for (size_t i = 0; i < t->nscripts; i++)
		print_script(&t->scripts[i].frame, inner);
	if (t->torn)
		printf("%*s[its coroutines changed each time that they were read]\n", inner, "");
	if (t->cut)
		printf("%*s[...]\n", inner, "");
}

static void print_tasks(const struct dump *d, pid_t tid)
{
	for (size_t i = 0; i < d->tasks.n; i++)
		if (d->tasks.v[i].tid == tid)
			print_task(d, &d->tasks.v[i]);
}

/* Tasks whose thread has ended, and what was not read. */
static void print_rest(const struct dump *d)
{
	bool any = false;

	for (size_t i = 0; i < d->tasks.n; i++)
		any |= !d->tasks.v[i].tid;
	if (any) {
		puts("\ntasks without a thread:");
		print_tasks(d, 0);
	}
	if (d->tasks.incomplete)
		puts("\n[some tasks are missing: their list changed each time that it was read, or is too long]");
}

static void print_thread(const struct dump *d, const struct dump_thread *t)
{
	if (t->tid)
		printf("\nthread %d ", (int)t->tid);
	else
		printf("\nthread that is starting or ending");
	print_escaped(t->name);
	printf(": %s%s", t->runs ? "running" : "idle", t->has_gil ? ", holds the GIL" : "");
	if (t->waits) {
		fputs(", waits in ", stdout);
		print_escaped(t->waits);
	}
	putchar('\n');
	print_frames(t);
	print_why(d, t);
	if (t->tid)
		print_tasks(d, t->tid);
}

void dump_print(const struct dump *d, bool first)
{
	printf("%s%d ", first ? "" : "\n", (int)d->pid);
	print_escaped(d->command);
	if (*d->version)
		printf(" (Python %s)", d->version);
	putchar('\n');
	for (size_t i = 0; i < d->n; i++)
		print_thread(d, &d->v[i]);
	print_rest(d);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static json_object *frame_json(const struct frame *frame)
{
	json_object *o = json_object_new_object();
	bool good = json_put_text(o, "function", frame->symbol);

	if (!frame->script)
		good = good && (frame->inlined ? json_put_bool(o, "inlined", true) : json_put_unsigned(o, "offset", frame->offset)) &&
		       json_put_text(o, "dso", frame->dso) && json_put_unsigned(o, "addr", frame->addr);
	good = good && json_put_text(o, "file", frame->file) && (!frame->line || json_put_unsigned(o, "line", frame->line));
	if (good)
		return o;
	json_object_put(o);
	return NULL;
}

static json_object *task_json(const struct dump *d, const struct dump_task *t)
{
	json_object *o = json_object_new_object(), *frames = json_object_new_array(), *awaiters = json_object_new_array();
	bool good = json_put_unsigned(o, "id", t->id) && json_put_text(o, "name", *t->name ? t->name : NULL) &&
		    json_put_text(o, "state", task_states[t->state]) && (!t->torn || json_put_bool(o, "torn", true)) &&
		    (!t->cut || json_put_bool(o, "cut", true));

	for (size_t i = 0; i < t->nawaiters; i++)
		good &= json_append(awaiters, json_object_new_uint64(d->tasks.v[t->awaiters[i]].id));
	good &= json_put(o, "awaited_by", awaiters);
	for (size_t i = 0; i < t->nscripts; i++)
		good &= json_append(frames, frame_json(&t->scripts[i].frame));
	good &= json_put(o, "frames", frames);
	if (good)
		return o;
	json_object_put(o);
	return NULL;
}

/* Adds "tasks", if there are any. */
static bool put_tasks(json_object *o, const struct dump *d, pid_t tid)
{
	json_object *tasks = NULL;
	bool good = true;

	for (size_t i = 0; i < d->tasks.n; i++)
		if (d->tasks.v[i].tid == tid) {
			tasks = tasks ? tasks : json_object_new_array();
			good &= json_append(tasks, task_json(d, &d->tasks.v[i]));
		}
	return tasks ? json_put(o, "tasks", tasks) && good : good;
}

static json_object *thread_json(const struct dump *d, const struct dump_thread *t)
{
	json_object *o = json_object_new_object(), *frames = json_object_new_array();
	bool good = (!t->tid || (json_put_integer(o, "tid", t->tid) && json_put_text(o, "name", t->name))) &&
		    json_put_text(o, "state", t->runs ? "running" : "idle") && (!t->waits || json_put_text(o, "waits_in", t->waits)) &&
		    (!*d->version || json_put_bool(o, "gil", t->has_gil)) && (!t->torn || json_put_bool(o, "torn", true)) &&
		    (!t->stuck || json_put_bool(o, "stuck", true)) && (!t->frames.cut || json_put_bool(o, "cut", true)) &&
		    (!t->apart || json_put_bool(o, "merged", false));

	for (size_t i = 0; i < t->frames.n; i++)
		good &= json_append(frames, frame_json(t->frames.v[i]));
	good &= json_put(o, "frames", frames) && (!t->tid || put_tasks(o, d, t->tid));
	if (good)
		return o;
	json_object_put(o);
	return NULL;
}

int dump_print_json(const struct dump *d, struct fault *f)
{
	json_object *o = json_object_new_object(), *threads = json_object_new_array();
	bool good = json_put_integer(o, "pid", d->pid) && json_put_text(o, "command", d->command) &&
		    (!*d->version || json_put_text(o, "python", d->version));

	for (size_t i = 0; i < d->n; i++)
		good &= json_append(threads, thread_json(d, &d->v[i]));
	good &= json_put(o, "threads", threads) && put_tasks(o, d, 0) &&
		(!d->tasks.incomplete || json_put_bool(o, "tasks_cut", true));
	return json_line(o, good, stdout) == -ENOMEM ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}
