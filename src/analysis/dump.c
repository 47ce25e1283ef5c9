/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof dump: the stacks of all threads of a process, now. */
#include "analysis/commands.h"
#include "analysis/dump_tasks.h"
#include "analysis/durations/deadlocks.h"
#include "analysis/durations/waitargs.h"
#include "base/cpulist.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/opener.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "engine/callnames.h"
#include "engine/frameline.h"
#include "pystack/pystack.h"
#include "report/json.h"
#include "tasks/tracing.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The threads of a process with their stacks, read at one time. */

enum { DUMP_COMMAND = 4096, DUMP_VERSION = 16 };

struct dump_thread {
	pid_t tid;               /* 0: not known */
	char name[PYSTACK_NAME];
	bool runs, has_gil;
	bool torn;               /* its Python functions are not known: they changed each time that they were read */
	bool stuck;              /* its native functions are not known: it did not stop */
	bool foreign;            /* likewise: 32-bit code */
	bool apart;              /* frames are native functions, then, from `native` on, Python functions */
	size_t native;
	struct dump_frames frames;
	struct dump_script *scripts;
	size_t nscripts;
	char *waits;             /* its lock, "futex big (/usr/bin/lock) held by reader (4712)"; NULL: none, or not known */
	unsigned int calls, loops;   /* of the evaluation loop, as Python has them; as native functions are, if apart */
	bool scripts_cut;
};

struct dump {
	pid_t pid;
	char command[DUMP_COMMAND], version[DUMP_VERSION];   /* version of Python; "": it is no Python program */
	bool native;             /* frames have native functions */
	struct dump_thread *v;   /* by tid */
	size_t n, room;
	struct dump_tasks tasks;
	bool lost;               /* out of memory */
	struct pystack *python;  /* what names in frames belong to */
	struct dump_native *natives;
};

struct dump_opts {
	bool only_gil;
	bool native;             /* native functions, too; a program that is no Python has no other ones */
};

/*
 *	pystack_look() -> Python: pystack_read() while it runs; with native functions: while it is stopped
 *	               -> another program: stopped, too
 *	stopped_begin() -> registers, stacks, mappings, Python functions -> stopped_continue() -> names, merge
 */

enum { TRIES = 20, STOPS = 5 };

/* A short file of /proc, with spaces for the zeros between words, and without a final newline. */
static void read_words(pid_t pid, const char *name, char *text, size_t size)
{
	int fd = opener_proc(&opener_direct, pid, name);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;

	if (fd >= 0)
		close(fd);
	while (n > 0 && (!text[n - 1] || text[n - 1] == '\n'))
		n--;
	text[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
}

static void forget(struct dump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].scripts);
		free(d->v[i].frames.v);
		free(d->v[i].waits);
	}
	d->n = 0;
	dump_tasks_free(&d->tasks);
	d->lost = false;
}

static struct dump_thread *add(struct dump *d, pid_t tid)
{
	struct dump_thread *t = ROOM_FOR(d->v, d->room, d->n, 1) ? &d->v[d->n] : NULL;

	d->lost |= !t;
	if (!t)
		return NULL;
	*t = (struct dump_thread){ .tid = tid };
	d->n++;
	return t;
}

static int by_tid(const void *a, const void *b)
{
	pid_t x = ((const struct dump_thread *)a)->tid, y = ((const struct dump_thread *)b)->tid;

	return x < y ? -1 : x > y;
}

/* ---- Python functions ------------------------------------------------------------------ */

static void take(void *ctx, const struct pystack_thread *thread)
{
	struct dump *d = ctx;
	struct dump_thread *t = add(d, thread->tid);

	if (!t)
		return;
	memcpy(t->name, thread->name, sizeof(t->name));
	t->runs = thread->runs;
	t->has_gil = thread->has_gil;
	t->torn = thread->torn;
	t->scripts_cut = thread->cut;
	t->calls = thread->calls;
	t->scripts = calloc(thread->n + 1, sizeof(*t->scripts));
	d->lost |= !t->scripts;
	for (size_t i = 0; t->scripts && i < thread->n; i++)
		t->scripts[t->nscripts++] = dump_script_of(&thread->frames[i]);
}

static void take_task(void *ctx, const struct pystack_task *task)
{
	struct dump *d = ctx;

	d->lost |= !dump_tasks_add(&d->tasks, task);
}

static bool any_torn(const struct dump *d)
{
	bool any = false;

	for (size_t i = 0; i < d->n; i++)
		any |= d->v[i].torn;
	return any;
}

static int read_python(struct dump *d, const struct dump_opts *o)
{
	const struct pystack_opts opts = { .idle = true, .only_gil = o->only_gil, .take_task = take_task };
	int rc;

	forget(d);
	rc = d->python ? pystack_read(d->python, &opts, take, d) : 0;
	d->tasks.incomplete = d->python && pystack_lacks_tasks(d->python);
	return rc;
}

/* Reads until no stack changed meanwhile; the last reading counts in any case. */
static int read_running(struct dump *d, const struct dump_opts *o)
{
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && (rc == -EAGAIN || (!rc && any_torn(d))); i++)
		rc = read_python(d, o);
	return rc;
}

/* ---- native functions -------------------------------------------------------------------- */

/* A thread may have been stopped while it changed its list of frames; then another time is better. */
static int read_stopped(struct dump *d, const struct dump_opts *o, struct stopped *s)
{
	int rc = -EAGAIN;

	for (int i = 0; i < STOPS && (rc == -EAGAIN || (!rc && any_torn(d))); i++) {
		stopped_free(s);
		rc = stopped_begin(s, d->pid);
		if (!rc)
			rc = read_python(d, o);
		if (!rc)
			dump_native_map(d->natives);
		stopped_continue(s);
	}
	return rc;
}

/* Threads of which Python knows nothing. */
static void add_other(struct dump *d, size_t n, pid_t tid)
{
	struct dump_thread *t;
	char path[64];

	for (size_t i = 0; i < n; i++)
		if (d->v[i].tid == tid)
			return;
	t = add(d, tid);
	snprintf(path, sizeof(path), "task/%d/comm", (int)tid);
	if (t)
		read_words(d->pid, path, t->name, sizeof(t->name));
}

static void add_others(struct dump *d, const struct stopped *s)
{
	const size_t n = d->n;

	for (size_t i = 0; i < s->n; i++)
		add_other(d, n, s->v[i].tid);
}

static void append_scripts(struct dump_thread *t)
{
	t->frames.lost |= !ROOM_FOR(t->frames.v, t->frames.room, t->frames.n, t->nscripts);
	for (size_t i = 0; !t->frames.lost && i < t->nscripts; i++)
		t->frames.v[t->frames.n++] = &t->scripts[i].frame;
}

/* Native functions, and Python functions in their places, or behind them if these are not known. */
static void put_native(struct dump *d, struct dump_thread *t, const struct stopped_thread *s)
{
	struct dump_frames native = { 0 };

	t->runs = s->ran;
	t->stuck = !s->stopped;
	t->foreign = s->foreign;
	dump_native_stack(d->natives, s, &native);
	if (dump_merge(&t->frames, &native, t->scripts, t->nscripts, t->calls)) {
		t->frames.lost |= native.lost;
		free(native.v);
	} else {
		t->loops = dump_loops(&native);
		t->frames = native;
		t->apart = true;
		t->native = native.n;
		append_scripts(t);
	}
	t->frames.cut = native.cut || t->scripts_cut;
}

static void put_python(struct dump_thread *t)
{
	append_scripts(t);
	t->frames.cut = t->scripts_cut;
}

static void put_frames(struct dump *d, const struct dump_opts *o, const struct stopped *s)
{
	if (d->native && !o->only_gil)
		add_others(d, s);
	for (size_t i = 0; i < d->n; i++) {
		const struct stopped_thread *one = d->v[i].tid ? stopped_find(s, d->v[i].tid) : NULL;

		if (one)
			put_native(d, &d->v[i], one);
		else
			put_python(&d->v[i]);
		d->lost |= d->v[i].frames.lost;
	}
	if (d->n)
		qsort(d->v, d->n, sizeof(*d->v), by_tid);
	d->lost |= !dump_tasks_sort(&d->tasks);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int explain(const struct dump *d, int rc, struct fault *f)
{
	const long tracer = rc == -EPERM ? procstatus_of(d->pid, "\nTracerPid:") : 0;

	if (d->pid == getpid())
		return fault_set(f, EXIT_FAILED, "dump: process %d is this perf-prof, which cannot stop itself", (int)d->pid);
	if (tracer > 0)
		return fault_set(f, EXIT_FAILED, "dump: process %d cannot be stopped: process %ld (a debugger, or strace) traces it, "
				 "and only one process can", (int)d->pid, tracer);
	switch (rc) {
	case -ESRCH:
		return fault_set(f, EXIT_FAILED, "dump: process %d has ended", (int)d->pid);
	case -EPERM:
	case -EACCES:
		return tracing_refused(rc, "dump", "threads", "stopped", d->pid, f);
	case -EAGAIN:
		return fault_set(f, EXIT_FAILED, "dump: process %d: its list of threads changed each time that it was read: try again",
				 (int)d->pid);
	case -E2BIG:
		return fault_set(f, EXIT_FAILED, "dump: process %d has more than %d threads, which is the limit for native functions",
				 (int)d->pid, STOPPED_THREADS);
	case -EOVERFLOW:
		return pystack_too_many("dump", d->pid, f);
	case -ETIME:
		return fault_set(f, EXIT_FAILED, "dump: process %d: to read its Python threads took longer than a second, which is the limit",
				 (int)d->pid);
	default:
		return fault_set(f, EXIT_FAILED, "dump: cannot read the threads of process %d: %s", (int)d->pid, strerror(-rc));
	}
}

/* A kernel thread, or one that has ended, has no memory. */
static int check_memory(const struct dump *d, struct fault *f)
{
	const long size = procstatus_of(d->pid, "\nVmSize:");

	return size != -ENOENT ? 0 :
	       fault_set(f, EXIT_FAILED, "dump: process %d is a kernel thread, or has ended: it has no functions in user space",
			 (int)d->pid);
}

/* Which functions there are. */
static int look(struct dump *d, const struct dump_opts *o, struct fault *f)
{
	const int rc = pystack_look(d->pid);
	const bool absent = rc == -ENOENT || rc == -EMEDIUMTYPE, unknown = rc == -ENOTSUP || rc == -EPROTO || rc == -ETIME;

	d->native = o->native || absent;
	if (absent && o->only_gil)
		return fault_set(f, EXIT_FAILED, "dump: --gil: process %d is no CPython program", (int)d->pid);
	if (absent || (unknown && o->native))
		return check_memory(d, f);
	d->python = pystack_open(d->pid, "dump", f);
	if (d->python)
		snprintf(d->version, sizeof(d->version), "%s", pystack_version(d->python));
	return d->python ? 0 : -1;
}

/* 0, or -1 with f. dump_end() in any case. */
static int dump_begin(struct dump *d, pid_t pid, const struct dump_opts *o, struct fault *f)
{
	struct stopped s = { 0 };
	int rc;

	*d = (struct dump){ .pid = pid };
	if (look(d, o, f))
		return -1;
	if (d->native && !(d->natives = dump_native_new(pid)))
		return fault_set(f, EXIT_FAILED, "out of memory");
	rc = d->native ? read_stopped(d, o, &s) : read_running(d, o);
	read_words(pid, "cmdline", d->command, sizeof(d->command));
	if (!rc)
		put_frames(d, o, &s);
	stopped_free(&s);
	return rc ? explain(d, rc, f) : d->lost ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

static void dump_end(struct dump *d)
{
	forget(d);
	free(d->v);
	dump_native_free(d->natives);
	pystack_close(d->python);
}

/* Which locks the threads of a dump wait for, and who holds them. */

/* "futex big (/usr/bin/lock)", "join of thread reader (4712)", or any lock "held by reader (4712)". */
static bool tells(const char *text)
{
	return strncmp(text, "futex 0x", strlen("futex 0x")) || strstr(text, " held by ");
}

static void find(struct waiton *on, struct dump_thread *t)
{
	struct waitargs c;
	char text[512];
	const char *call;

	if (waitargs_find(t->tid, &c) != WAITARGS_A_CALL || !c.pid || !(call = syscall_name(c.call)) || strcmp(call, "futex"))
		return;
	waitargs_text(on, &c, text, sizeof(text));
	if (tells(text) && waitargs_is_still(&c))
		t->waits = strdup(text);   /* NULL: not known, then */
}

/* Sets `waits` of idle threads. A lock without a name and a known holder is left out: its address says nothing. */
static void dump_waits_find(struct dump *d)
{
	struct waiton on = { 0 };

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].tid && !d->v[i].runs)
			find(&on, &d->v[i]);
	waiton_free(&on);
}

/* Lines about threads that wait for each other's locks. */
static void dump_waits_print_deadlocks(const struct dump *d)
{
	struct deadlocks found = { 0 };

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].tid && d->v[i].waits)
			deadlocks_look(&found, d->v[i].tid);
	if (found.lines)
		putchar('\n');
	deadlocks_print(&found, NULL);
	deadlocks_free(&found);
}

/* Threads with their stacks, as text and as JSON. */

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

/* first: no other process was printed before. */
static void dump_print(const struct dump *d, bool first)
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
	return json_whole(o, good);
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
	return json_whole(o, good);
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
	return json_whole(o, good);
}

/* 0, or -1 with f. */
static int dump_print_json(const struct dump *d, struct fault *f)
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

struct dump_config {
	struct numlist pids;             /* -p */
	bool json;
	struct dump_opts opts;
	unsigned int printed;            /* processes */
};

static int dump_one(struct dump_config *c, pid_t pid, struct fault *f)
{
	struct dump d;
	int rc = dump_begin(&d, pid, &c->opts, f);

	if (!rc)
		dump_waits_find(&d);
	if (!rc && c->json)
		rc = dump_print_json(&d, f);
	else if (!rc) {
		dump_print(&d, !c->printed++);
		dump_waits_print_deadlocks(&d);
	}
	dump_end(&d);
	return rc;
}

static int parse_pid(const char *text, pid_t *pid, struct fault *f)
{
	char *end;
	long n = strtol(text, &end, 10);

	*pid = (pid_t)n;
	if (*text >= '0' && *text <= '9' && !*end && n > 0 && n <= INT_MAX)
		return 0;
	return fault_usage(f, "dump: %s: expected the id of a process, such as 1234", text);
}

/* As -p of other commands. */
static int parse_pids(const char *text, void *field, struct fault *f)
{
	struct numlist more;
	int rc = numlist_parse(&more, text, INT_MAX, NULL);

	if (!rc) {
		for (size_t i = 0; !rc && i < more.n; i++)
			rc = more.v[i] ? numlist_add(field, more.v[i]) : -EINVAL;
		numlist_free(&more);
	}
	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return rc ? fault_usage(f, "--pids %s: expected ids of processes, separated by commas, such as 1234 or 1234,5678", text) : 0;
}

/* One that has ended meanwhile, or may not be read, is no reason to leave out the others. */
static void dump_next(struct dump_config *c, pid_t pid, struct fault *f)
{
	struct fault why = { 0 };

	if (!dump_one(c, pid, &why))
		return;
	if (f->exit_code)
		fault_print(f);
	*f = why;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct dump_config *c = config;
	pid_t pid;

	if (!args->noperands && !c->pids.n)
		return fault_usage(f, "dump: expected the id of a process: perf-prof dump PID"), f->exit_code;
	if (access("/proc/self", F_OK))
		return fault_set(f, EXIT_FAILED, "dump: /proc is not mounted, from which processes are read; mount -t proc proc /proc"),
		       f->exit_code;
	for (int i = 0; i < args->noperands; i++)
		if (parse_pid(args->operands[i], &pid, f))
			return f->exit_code;
	for (size_t i = 0; i < c->pids.n; i++)
		dump_next(c, c->pids.v[i], f);
	for (int i = 0; i < args->noperands; i++) {
		parse_pid(args->operands[i], &pid, NULL);
		dump_next(c, pid, f);
	}
	return f->exit_code;
}

#define AT(member) offsetof(struct dump_config, member)

static void release(void *config)
{
	numlist_free(&((struct dump_config *)config)->pids);
}

static const struct opt opts[] = {
	{ "pids", 'p', "pid", OPT_CALL, AT(pids), "LIST", "Show these processes; the same as naming them without -p.", false, parse_pids },
	{ "gil", 0, NULL, OPT_FLAG, AT(opts.only_gil), NULL, "Show only the thread that holds the GIL.", false, NULL },
	{ "native", 0, NULL, OPT_FLAG, AT(opts.native), NULL, "Show the native functions of a Python program, too, among its Python "
	  "functions. Stops it for some milliseconds.", false, NULL },
	{ "json", 0, NULL, OPT_FLAG, AT(json), NULL, "Print JSON, one object for each process.", false, NULL },
};

const struct command dump_command = {
	.name = "dump",
	.summary = "show the stacks of all threads of a process, now",
	.usage = "[--native] [--gil] [--json] PID...",
	.description = COMMAND_TEXT(
		"What is a program doing right now, and where does it hang? Shows the functions of each thread, innermost first, and whether "
		"the thread runs. If it waits for a lock, also the lock's variable and the thread that holds it, if they are known. "
		"Of a Python program, it shows the Python functions with file and line, and which thread holds the GIL.",
		"Python functions: of any running CPython 3.9 to 3.14 of 64 bits, however it was started. perf-prof reads the interpreter's "
		"memory; the program is not stopped, and nothing in it is changed. Of CPython 3.14, it also shows the asyncio tasks of each "
		"thread, below the tasks that wait for them: name, state, and the functions that await each other.",
		"Native functions: perf-prof stops the program with ptrace(2), copies registers and stacks, and lets it go on, after some "
		"milliseconds. If perf-prof is killed meanwhile, the program goes on, too. System calls that signal(7) lists as interrupted by "
		"stop signals, such as epoll_wait(2), fail with EINTR.",
		"Both need the right to trace the process: root, or the same user if kernel.yama.ptrace_scope allows it."),
	OPT_GROUP_ROWS(
		{ "Options", opts, sizeof(opts) / sizeof(*opts), 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof dump 1234", "show where each thread of process 1234 is" },
		{ "perf-prof dump --native 1234", "the same, with the native functions that its Python functions call" },
		{ "perf-prof dump $(pgrep -f manage.py)", "the same for all processes of a service" },
		{ "perf-prof dump --json 1234 | jq -r '.threads[] | select(.gil) | .frames[0].function'", "the function that has the GIL" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct dump_config), .release = release,
	.run = run,
};
