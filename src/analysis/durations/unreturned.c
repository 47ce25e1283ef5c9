/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/unreturned.h"

#include "analysis/durations/waitargs.h"
#include "base/escape.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "base/units.h"
#include "stream/watched/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NEWS_NS: shorter calls are no news. */
enum { LINES = 10, NEWS_NS = 100000000 };

struct late {
	pid_t tid;
	uint64_t waited;             /* ns; UINT64_MAX: since before the run */
};

struct unreturned {
	struct question *q;
	bool (*is_in)(const struct question *q, const struct open_pair *o, int64_t call);
	struct late *all;
	size_t n;
	uint64_t now;                /* perf clock */
};

void unreturned_begin(struct sleepers *before, const struct stream_opts *opts)
{
	struct targets t = { 0 };
	struct fault f = { 0 };

	if (opts->input || targets_everybody(opts) || targets_resolve(&t, opts, &f))
		return;
	for (size_t i = 0; i < t.nthreads; i++)
		sleepers_add(before, t.tasks[i].tid);
	targets_free(&t);
}

static void add(struct unreturned *u, pid_t tid, uint64_t waited)
{
	if (ROOM_FOR_ONE(u->all, u->n))
		u->all[u->n++] = (struct late){ tid, waited };
}

/* A thread that has slept all the time, and has called nothing since. */
static void add_sleeper(void *ctx, pid_t tid, enum task_state state)
{
	struct unreturned *u = ctx;

	if (!pairs_find(&u->q->pairs, (uint64_t)tid))
		add(u, tid, UINT64_MAX);
}

static void add_begun(struct unreturned *u)
{
	for (const struct open_pair *o = u->q->pairs.all; o; o = o->hh.next)
		if (o->is_open && u->now > o->start && u->now - o->start >= NEWS_NS)
			add(u, (pid_t)o->key, u->now - o->start);
}

static int longest_first(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited < y->waited ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

enum found { NO_CALL, A_CALL, REFUSED };

/* The call in which the thread is, and its arguments; for REFUSED, errno. The kernel tells nothing of a thread that runs;
 * of its own threads, which have neither a stack nor an instruction pointer, call 0. */
static enum found find_call(pid_t tid, struct waitargs *c)
{
	uint64_t sp = 0, pc = 0;
	char path[64];
	int found, error;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	errno = 0;
	f = fopen(path, "re");
	found = f ? fscanf(f, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
			   &c->call, &c->args[0], &c->args[1], &c->args[2], &c->args[3], &c->args[4], &c->args[5], &sp, &pc) : 0;
	error = errno;
	if (f)
		fclose(f);
	errno = error;
	if (error == EPERM || error == EACCES)
		return REFUSED;
	return found == 3 + WAITARGS && c->call >= 0 && (sp || pc) ? A_CALL : NO_CALL;
}

/* The text is of no use if the thread has gone on while it was made. */
static void put_call(struct waiton *w, const struct waitargs *c, char *buf, size_t size)
{
	struct waitargs again = *c;

	if (waitargs_text(w, c, buf, size) && find_call(c->tid, &again) == A_CALL && !memcmp(&again, c, sizeof(again)))
		return;
	waiton_enter(w, c->pid, c->tid, c->call, c->args[0]);
	waiton_wait(w, c->tid);
	waiton_text(w, c->tid, buf, size);
}

/* What a thread is in, and waits on. False: it is in no call, or not in the one that is meant. */
static bool call_text(const struct unreturned *u, struct waiton *w, const struct late *one, char *buf, size_t size)
{
	const struct open_pair *o = one->waited == UINT64_MAX ? NULL : pairs_find(&u->q->pairs, (uint64_t)one->tid);
	struct waitargs c;
	enum found found;

	memset(&c, 0, sizeof(c));
	c.tid = one->tid;
	found = find_call(one->tid, &c);
	if (found == REFUSED) {
		snprintf(buf, size, "a call (/proc/%d/syscall: %s)", (int)one->tid, strerror(errno));
		return true;
	}
	if (found == NO_CALL || (o && !u->is_in(u->q, o, c.call)))
		return false;
	c.pid = (pid_t)procstatus_of(one->tid, "\nTgid:");
	put_call(w, &c, buf, size);
	return true;
}

/* Threads of io_uring have the registers of the call that made them. */
static bool is_worker(const char *comm)
{
	return !strncmp(comm, "iou-", strlen("iou-"));
}

static bool print_one(const struct unreturned *u, struct waiton *w, const struct late *one)
{
	const char *comm = analysis_comm(u->q->a, one->tid, u->now);
	char name[64], text[1280], call[4 * sizeof(text)], since[64] = "since before the run";

	if (is_worker(comm) || !call_text(u, w, one, text, sizeof(text)))
		return false;
	escape_terminal(comm, strlen(comm), name, sizeof(name));
	escape_terminal(text, strlen(text), call, sizeof(call));
	if (one->waited != UINT64_MAX)
		snprintf(since, sizeof(since), "for %.3f ms", (double)one->waited / 1e6);
	printf("%s %d is still in %s, %s: not in the table\n", name, pidmap_shown(one->tid), call, since);
	return true;
}

void unreturned_print(struct question *q, struct sleepers *before,
		      bool (*is_in)(const struct question *q, const struct open_pair *o, int64_t call))
{
	struct unreturned u = { .q = q, .is_in = is_in, .now = analysis_now(q->a) };
	struct waiton w = { 0 };
	size_t told = 0, i;

	if (q->common.stream.events.n == q->a->nadded)     /* else -e selects calls */
		sleepers_each(before, add_sleeper, &u);
	if (q->has_targets && !q->common.stream.input)
		add_begun(&u);
	if (u.n)
		qsort(u.all, u.n, sizeof(*u.all), longest_first);
	for (i = 0; i < u.n && told < LINES; i++)
		told += print_one(&u, &w, &u.all[i]);
	if (i < u.n)
		printf("%zu more thread%s may be in a call: `perf-prof dump PID` shows all threads\n", u.n - i, units_plural(u.n - i));
	waiton_free(&w);
	free(u.all);
}
