/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	pystack_look() -> Python: pystack_read() while it runs; with native functions: while it is stopped
 *	               -> another program: stopped, too
 *	stopped_begin() -> registers, stacks, mappings, Python functions -> stopped_continue() -> names, merge
 */
#include "analysis/dump_threads.h"

#include "base/opener.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "tasks/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

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

int dump_begin(struct dump *d, pid_t pid, const struct dump_opts *o, struct fault *f)
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

void dump_end(struct dump *d)
{
	forget(d);
	free(d->v);
	dump_native_free(d->natives);
	pystack_close(d->python);
}
