/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop: one epoll for the wakeups of rings, the eventfd of the watchdog, and the ends of
 * watched tasks. It wakes 20 times a second in any case, so that an event reaches the consumer
 * within 100 ms, without a wakeup per event.
 */
#include "base/descriptors.h"
#include "base/note.h"
#include "stream/choice/sampleids.h"
#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/private.h"
#include "stream/record/recorder.h"
#include "stream/replay/replay.h"
#include "stream/rings/attend.h"
#include "stream/rings/grow.h"
#include "stream/rings/rings.h"
#include "stream/rings/slower.h"
#include "stream/watched/execs.h"
#include "tasks/unwatched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { TICK_MS = 50, MAX_WAKE = 64 };
enum { ROUNDS = 16 };   /* rounds between two calls of epoll_wait() */
enum { FORK_US = 2000 };   /* µs that a fork may take */

/* epoll data: LOOP_RING, KICK, END, WATCHED, or the index of an opened event whose task may end. */
#define KICK (UINT64_MAX - 1)
#define END (UINT64_MAX - 2)
#define WATCHED (UINT64_MAX - 3)

static int watch_fd(struct stream *s, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	return epoll_ctl(s->run.epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* One descriptor per task reports its end: POLLHUP, when the task and its inherited children have
 * exited. That event shares the ring of its CPU, and perf_poll() resets rb->poll of the ring for
 * whoever polls first. So this descriptor may consume the ring's wakeup, and has to wake the loop,
 * too. */
static int watch_tasks(struct stream *s)
{
	const struct opened *seen = NULL;

	s->run.tasks_left = 0;
	if (targets_everybody(s->opts) || s->opts->cgroups.n)
		return 0;
	for (size_t i = 0; i < s->rings.nopened; i++) {
		struct opened *o = &s->rings.opened[i];

		if ((seen && seen->task == o->task) || o->task == &s->everybody)
			continue;
		seen = o;
		if (watch_fd(s, pev_event_fd(o->ev), EPOLLIN, i))
			return -1;
		s->run.tasks_left++;
	}
	return 0;
}

static int watch_all(struct stream *s, struct fault *f)
{
	char hint[256];

	s->run.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->run.epoll < 0 || watch_fd(s, s->run.attention.kick, EPOLLIN, KICK) || watch_tasks(s) ||
	    (s->run.end_with >= 0 && watch_fd(s, s->run.end_with, EPOLLIN, END)) ||
	    (s->run.watched >= 0 && watch_fd(s, s->run.watched, EPOLLIN, WATCHED)))
		return fault_set(f, EXIT_FAILED, "cannot start the event loop: %s%s", strerror(errno),
				 descriptors_hint(errno, hint, sizeof(hint)));
	for (size_t i = 0; i < s->rings.n && !s->opts->buffer; i++)
		if (watch_fd(s, pev_event_fd(s->rings.v[i].owner), EPOLLIN, LOOP_RING))
			return fault_set(f, EXIT_FAILED, "cannot wait for a ring: %s",
					 strerror(errno));
	return 0;
}

/* Whether it is not the task that has ended, but its events. */
static bool is_unwatched(struct stream *s, pid_t tid)
{
	const struct stream_opts *o = s->opts;
	char text[UNWATCHED_TEXT];

	if (!unwatched_check(tid, o->command.argv && tid == o->command.pid ? o->command.argv[0] : NULL, text, sizeof(text)))
		return false;
	s->run.unwatched = true;
	note(1, "%s", text);
	return true;
}

static void task_ended(struct stream *s, uint64_t i)
{
	const pid_t tid = s->rings.opened[i].task->tid;

	epoll_ctl(s->run.epoll, EPOLL_CTL_DEL, pev_event_fd(s->rings.opened[i].ev), NULL);
	if (is_unwatched(s, tid) && s->run.end_with >= 0 && tid == s->opts->command.pid)
		return;   /* the command's own end ends the run */
	if (--s->run.tasks_left == 0)
		s->run.stop = STOP_TARGET;
}

static void take_kick(struct stream *s)
{
	uint64_t n;

	if (read(s->run.attention.kick, &n, sizeof(n)) < 0 && errno != EAGAIN)
		s->run.stop = STOP_SIGNAL;   /* cannot happen: the eventfd is our own */
}

static void wait_for_events(struct stream *s, int timeout_ms)
{
	struct epoll_event ev[MAX_WAKE];
	int got;

	if (timeout_ms && s->run.ops->wait)
		s->run.ops->wait(s->run.ctx, true);
	got = epoll_wait(s->run.epoll, ev, MAX_WAKE, timeout_ms);
	if (timeout_ms && s->run.ops->wait)
		s->run.ops->wait(s->run.ctx, false);
	for (int i = 0; i < got; i++) {
		if (ev[i].data.u64 == KICK)
			take_kick(s);
		else if (ev[i].data.u64 == END)
			s->run.stop = STOP_TARGET;
		else if (ev[i].data.u64 == WATCHED)
			s->run.ops->ready(s->run.ctx);
		else if (ev[i].data.u64 != LOOP_RING && ev[i].events & (EPOLLHUP | EPOLLERR))
			task_ended(s, ev[i].data.u64);
	}
}

/* ---- set before the run --------------------------------------------------- */

void stream_end_with(struct stream *s, int fd)
{
	s->run.end_with = fd;
}

void stream_watch(struct stream *s, int fd)
{
	s->run.watched = fd;
}

void stream_begin_with_exec(struct stream *s)
{
	s->run.with_exec = true;
}

void stream_is_to_exec(struct stream *s, pid_t pid)
{
	s->run.is_to_exec = pid;
}

/* ---- the run ------------------------------------------------------------ */

/* Whether the event belongs to the workload: exec enables it in the kernel. */
static bool waits_for_exec(const struct stream *s, const struct opened *o)
{
	return s->run.with_exec && o->task->tid >= 0;
}

/* A member of a group is on since its opening, and its leader follows all of them: newer kernels start a member late
 * if its leader is on before it is. */
static bool follows_leader(const struct stream *s, const struct opened *o)
{
	return o->event->opened.leader != NO_LEADER && &s->list.events[o->event->opened.leader] != o->event;
}

static int enable_at_start(const struct stream *s, const struct opened *o)
{
	return o->event->wanted && !follows_leader(s, o) && !waits_for_exec(s, o) ? pev_event_enable(o->ev) : 0;
}

/* Enables what was opened from `first` on. */
static int enable_all(struct stream *s, size_t first, struct fault *f)
{
	for (size_t i = first; i < s->rings.nopened; i++) {
		int rc = enable_at_start(s, &s->rings.opened[i]);

		if (rc)
			return fault_set(f, EXIT_FAILED, "cannot enable %s: %s", s->rings.opened[i].event->name,
					 strerror(-rc));
	}
	return 0;
}

/* --seconds */
static int start_timer(struct stream *s, struct fault *f)
{
	if (s->opts->run_ns && attention_end_after(&s->run.attention, s->opts->run_ns))
		return fault_set(f, EXIT_FAILED, "--seconds: cannot start a timer: %s", strerror(errno));
	return 0;
}

static int start_mover(struct stream *s, struct fault *f)
{
	int rc;

	if (!s->opts->buffer)
		return 0;
	s->rings.mover = backlog_thread_new(s->rings.n, s->run.attention.kick);
	for (size_t i = 0; s->rings.mover && i < s->rings.n; i++)
		backlog_thread_add(s->rings.mover, s->rings.v[i].backlog, pev_event_fd(s->rings.v[i].owner));
	rc = s->rings.mover ? backlog_thread_start(s->rings.mover) : -ENOMEM;
	return rc ? fault_set(f, EXIT_FAILED, "--buffer: cannot start its thread: %s",
			      strerror(-rc)) : 0;
}

static void disable_all(struct stream *s)
{
	for (size_t i = 0; i < s->rings.nopened; i++)
		pev_event_disable(s->rings.opened[i].ev);
}

static bool round_of(struct stream *s)
{
	grow_round(s);
	slower_round(s);
	return s->rings.order ? ordered_round(s) : drain_round(s);
}

/* Opens the events of a CPU again that was offline, for which the kernel has removed them: into the same ring. */
static int reopen_cpu(struct stream *s, int cpu, struct fault *f)
{
	const size_t n = s->rings.nopened;
	struct opened *all = realloc(s->rings.opened, (2 * n + 1) * sizeof(*all));
	int rc = all && !s->choice.counts ? 0 : fault_set(f, EXIT_FAILED, all ? "its counts would begin again" : "out of memory");

	s->rings.opened = all ? all : s->rings.opened;
	for (size_t i = 0; i < n && !rc; i++) {
		struct opened *o = &all[i];

		if (o->ring->cpu != cpu || o->task->tid >= 0 || o->gone)
			continue;
		pev_event_disable(o->ev);
		o->gone = true;
		rc = open_one(s, o->event, o->task, o->ring, f);
	}
	rc = rc ? rc : enable_all(s, n, f);
	sampleids_index(s);
	s->choice.strays |= s->record.writer != NULL;
	if (s->sideband)
		sideband_reopen(s->sideband, &s->targets, cpu);
	return rc;
}

static void reopen_cpus(struct stream *s)
{
	for (size_t i = 0; i < s->hotplug.back.n; i++) {
		struct fault f = { 0 };
		int cpu = s->hotplug.back.v[i];

		if (reopen_cpu(s, cpu, &f))
			fprintf(stderr, "perf-prof: CPU %d was offline, and is not watched since it came back: %s\n", cpu, f.text);
		else
			note(1, "CPU %d was offline: it is watched again", cpu);
	}
	numlist_free(&s->hotplug.back);
}

/* Whether all events are of tasks: no tracepoint of a source is watched everywhere. */
static bool is_of_tasks(const struct stream *s)
{
	size_t i = 0;

	while (i < s->rings.nopened && s->rings.opened[i].task->tid >= 0)
		i++;
	return i == s->rings.nopened;
}

/* Events are open on CPUs that were online at the start: reports a change. */
static void mind_hotplug(struct stream *s, bool tasks)
{
	char line[600];

	if (hotplug_look(&s->hotplug, &s->targets.cpus, s->opts->cpus.n, tasks, false, line,
			 sizeof(line)))
		note(1, "%s", line);
	if (tasks)   /* the kernel keeps their events */
		numlist_free(&s->hotplug.back);
	if (s->hotplug.back.n && !grow_is_pending(s))   /* a larger ring takes the place of the old one first */
		reopen_cpus(s);
}

/* A few rounds. True if there is more. */
static bool deliver_some(struct stream *s)
{
	bool more = true;

	for (int i = 0; i < ROUNDS && more && !s->run.stop; i++) {
		recorder_begin_round(s);
		more = round_of(s);
		if (s->tasks_due <= s->rings.settled)
			stream_take_tasks(s, s->rings.settled);
		if (s->record.writer && !more)
			recorder_round(s);
	}
	return more;
}

static void deliver_until_stopped(struct stream *s)
{
	const bool tasks = is_of_tasks(s);   /* what is opened later is alike */
	bool more = false;
	int tick = 1;

	while (!s->run.stop) {
		if (!more && s->run.ops->idle)
			s->run.ops->idle(s->run.ctx);
		wait_for_events(s, more ? 0 : tick);
		/* short sleeps at first, so that the first events appear at once */
		tick = tick < TICK_MS / 2 ? tick * 2 : TICK_MS;
		if (attention_pending(&s->run.attention))
			attend_requests(s);
		more = deliver_some(s);
		loss_tell(s, false);
		throttling_tell(s);
		usage_tell(&s->usage, &s->choice.own, s->opts->usage_ms);
		mind_hotplug(s, tasks);
	}
}

/* Delivers what the rings still hold: all of it if the targets ended, for at most 500 ms after a
 * signal, nothing after -N. A task that is being forked while its parent's event is disabled may
 * inherit an enabled one, and so may its children: disabling a second time reaches them. */
static void deliver_rest(struct stream *s)
{
	s->run.draining = true;
	s->run.stopping = s->run.stop == STOP_CONSUMER || s->run.deadline;
	disable_all(s);
	if (!s->run.stopping && !targets_everybody(s->opts)) {
		round_of(s);
		usleep(FORK_US);
		disable_all(s);
	}
	grow_wait(s);
	while (!s->run.stopping && round_of(s))
		;
}

/* Enables everything again after started(): a task forked meanwhile may have inherited a disabled
 * event. The parent can end up with that one, because the kernel swaps the contexts of parent and
 * child when it switches between them. */
static int start_all(struct stream *s, struct fault *f)
{
	if (enable_all(s, 0, f) || (s->run.ops->started && s->run.ops->started(s->run.ctx, f)))
		return -1;
	for (size_t i = 0; i < s->rings.nopened && !targets_everybody(s->opts); i++)
		enable_at_start(s, &s->rings.opened[i]);
	s->run.is_to_exec = 0;
	return start_timer(s, f);
}

static bool is_target(const void *ctx, pid_t pid)
{
	const struct stream *s = ctx;

	for (size_t i = 0; i < s->targets.nthreads; i++)
		if (s->targets.tasks[i].tid == pid)
			return s->run.unwatched;   /* else it has ended before it could be found */
	return false;
}

/* Their events end unseen: POLLHUP comes at the end of all. */
static void tell_unwatched_children(struct stream *s)
{
	char text[UNWATCHED_TEXT];
	const char *name = NULL;
	pid_t pid = 0;
	size_t n;

	if (!s->sideband)
		return;
	sideband_collect(s->sideband);
	n = execs_removed(sideband_execs(s->sideband), is_target, s, &pid, &name);
	if (!n)
		return;
	unwatched_say_of_child(pid, name, n - 1, s->opts->command.argv ? UNWATCHED_IN_COMMAND : UNWATCHED_IN_PROCESS, text,
			       sizeof(text));
	note(1, "%s", text);
	s->run.unwatched = true;
}

static int run_live(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f)
{
	if (s->sideband)
		sideband_set_consumer(s->sideband, ids_take_task, s, &s->tasks_due);
	if (attend_begin(s, ops, ctx, s->opts->interval_ms, f))
		return -1;
	if ((s->opts->order && ordered_start(s, f)) || watch_all(s, f) || start_mover(s, f) ||
	    recorder_begin(s, f) || start_all(s, f)) {
		backlog_thread_stop(s->rings.mover);
		attention_stop(&s->run.attention);
		return -1;
	}
	attend_set_delivering(s, true);
	deliver_until_stopped(s);
	deliver_rest(s);
	tell_unwatched_children(s);   /* and collects what a recording still lacks */
	if (s->run.stop != STOP_CONSUMER)
		stream_take_tasks(s, UINT64_MAX);
	makers_end(s);
	attend_set_delivering(s, false);
	if (s->run.stop != STOP_CONSUMER) {
		if (s->rings.order)
			ordered_discard(s);
		drain_discard(s);
		loss_tail(s);
	} else {
		loss_count(s);
	}
	throttling_finish(s, stream_now(s));
	backlog_thread_stop(s->rings.mover);
	loss_tell(s, true);
	filters_tell(s);
	return recorder_end(s, f);
}

int stream_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f)
{
	return s->replay ? replay_run(s, ops, ctx, f) : run_live(s, ops, ctx, f);
}
