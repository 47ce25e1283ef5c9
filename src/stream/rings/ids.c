/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/ids.h"

#include "base/note.h"
#include "base/opener.h"
#include "base/pidns.h"
#include "stream/list/maker.h"
#include "stream/rings/idlecode.h"
#include "stream/rings/rings.h"
#include "stream/watched/targets.h"
#include "tasks/comms.h"
#include "tasks/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_NAMED = 4 };

/* How samples of one event contribute to the pairs. */
struct event_ids {
	struct stream *stream;
	const struct stream_event *event;
	const struct trace_field *self;    /* common_pid; NULL: no tracepoint */
	const struct trace_field *child;   /* child_pid of sched_process_fork; NULL: another event */
	struct named {                     /* fields with a task's id and its name */
		const struct trace_field *pid, *comm;
	} named[MAX_NAMED];
	size_t nnamed;
	struct layout chain;               /* with the call chain, also if it is hidden (idle_chain) */
	const struct idlecode *idle;       /* NULL: a chain does not say whether a CPU is idle */
};

/* ---- ids from the kernel -------------------------------------------------------- */

/*
 * Asks the kernel for the id of a task in the initial namespace: waitid(2) looks up the task in our
 * namespace, then reaches the tracepoint sched_process_wait, whose field has the other id. That
 * works even if the task is no child of ours, and WNOWAIT leaves its state unchanged. The event is
 * opened for this thread only.
 */
struct asker {
	struct pev_event *event;
	struct pev_ring *ring;
	struct layout layout;
	const struct tracefmt *fmt;
	const struct trace_field *pid;
	struct pidmap *map;
};

static const struct trace_field *field_of(const struct tracefmt *fmt, const char *name)
{
	for (size_t i = 0; i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return &fmt->fields[i];
	return NULL;
}

static void asker_close(struct asker *a)
{
	pev_ring_unmap(a->ring);
	pev_event_close(a->event);
}

static bool asker_open(struct asker *a, struct stream *s)
{
	struct perf_event_attr attr;
	struct fault why = { 0 };

	*a = (struct asker){ .map = s->rings.pids };
	a->fmt = tracefmt_load(s->list.formats, s->list.tracefs, "sched", "sched_process_wait", &why);
	a->pid = a->fmt ? field_of(a->fmt, "pid") : NULL;
	if (!a->pid)
		return false;
	pev_attr_init(&attr, PERF_TYPE_TRACEPOINT, a->fmt->id);
	pev_attr_sample_period(&attr, 1);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	layout_from_sample_type(&a->layout, attr.sample_type);
	if (!pev_event_open(&a->event, &attr, pev_target_self(), NULL, NULL) &&
	    !pev_ring_map(&a->ring, a->event, 1, NULL))
		return true;
	asker_close(a);
	return false;
}

/* The task's id in the initial namespace; 0: there is no such task. */
static pid_t ask(struct asker *a, pid_t tid)
{
	const struct perf_event_header *rec;
	siginfo_t info;
	uint32_t size;
	pid_t outer = 0;

	waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT);
	pev_ring_begin(a->ring);
	while ((rec = pev_ring_next(a->ring))) {
		const void *raw = rec->type == PERF_RECORD_SAMPLE ? layout_raw(&a->layout, rec, &size) : NULL;

		if (raw && size >= a->fmt->min_size)
			outer = (pid_t)trace_field_sint(a->pid, raw);
	}
	pev_ring_end(a->ring);
	return outer;
}

static void learn(void *ctx, pid_t tid)
{
	struct asker *a = ctx;

	pidmap_pair(a->map, ask(a, tid), tid);
}

/* If the tracepoint cannot be opened, samples alone provide the pairs. */
static void learn_all(struct stream *s)
{
	struct asker a;

	if (!s->list.tracefs[0] || !asker_open(&a, s))
		return;
	threads_each(learn, &a);
	s->rings.own_tid = ask(&a, gettid());
	asker_close(&a);
}

/* ---- events with pairs of ids ----------------------------------------------------- */

static bool has_pairs(const struct stream *s, const struct stream_event *event)
{
	if (!event->wanted || event->maker)
		return false;
	return !s->replay ||
	       (event->fmt && event->opened.track != NO_TRACK &&
		s->replay->tracks[event->opened.track].type & PERF_SAMPLE_TID);
}

static bool any_has_pairs(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (has_pairs(s, &s->list.events[i]))
			return true;
	return false;
}

/* "prev_pid" for "prev_comm"; for the "newcomm" of task_rename "pid". */
static const struct trace_field *id_beside(const struct tracefmt *fmt, const struct trace_field *comm)
{
	size_t len = strlen(comm->name);
	char name[32];

	if (comm->kind != FIELD_STR || len < 4 || len >= sizeof(name) || strcmp(comm->name + len - 4, "comm"))
		return NULL;
	snprintf(name, sizeof(name), "%.*spid", (int)len - 4, comm->name);
	return field_of(fmt, strcmp(comm->name, "newcomm") ? name : "pid");
}

static void find_names(struct event_ids *ids, const struct tracefmt *fmt)
{
	for (size_t i = 0; fmt && i < fmt->nfields && ids->nnamed < MAX_NAMED; i++) {
		const struct trace_field *pid = id_beside(fmt, &fmt->fields[i]);

		if (pid && !trace_field_is_text(pid))
			ids->named[ids->nnamed++] = (struct named){ pid, &fmt->fields[i] };
	}
}

/* Where live samples without fields have their chain, if it has the kernel's part. */
static void find_chain(struct event_ids *ids, const struct stream_event *event)
{
	if (ids->stream->replay || !event->sampling || !(event->opened.idle_chain || (event->callchain && event->asked.chain_kernel)))
		return;
	layout_from_format(&ids->chain, event->sampling->attr.attr.sample_type, event->sampling->attr.attr.read_format);
	ids->idle = ids->stream->rings.idle;
}

static int attach(struct stream *s, struct stream_event *event, struct fault *f)
{
	bool forks = event->fmt && !strcmp(event->sys, "sched") && !strcmp(event->tracepoint, "sched_process_fork");

	event->ids = calloc(1, sizeof(*event->ids));
	if (!event->ids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	*event->ids = (struct event_ids){
		.stream = s, .event = event, 
		.self = event->fmt ? field_of(event->fmt, "common_pid") : NULL,
		.child = forks ? field_of(event->fmt, "child_pid") : NULL,
	};
	find_names(event->ids, event->fmt);
	find_chain(event->ids, event);
	return 0;
}

/* ---- tasks outside --------------------------------------------------------------- */

static bool any_without_fields(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && s->list.events[i].sampling)
			return true;
	return false;
}

/* Names of tasks outside, and of functions of idle CPUs. Without the latter, samples in the kernel are those of an idle CPU. */
static int begin_outside(struct stream *s)
{
	FILE *symbols;
	int fd;

	s->rings.outside = comms_new(s->opts->opener);
	s->rings.idle = calloc(1, sizeof(*s->rings.idle));
	if (!s->rings.outside || !s->rings.idle)
		return -ENOMEM;
	if (s->replay || !targets_everybody(s->opts) || !any_without_fields(s))
		return 0;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	symbols = fd < 0 ? NULL : fdopen(fd, "r");
	if (symbols)
		idlecode_read(s->rings.idle, symbols);
	if (symbols)
		fclose(symbols);
	else if (fd >= 0)
		close(fd);
	if (!s->rings.idle->n)
		note(s->opts->verbose, "/proc/kallsyms hides the kernel's addresses from this user: in this PID namespace, the "
		     "kernel's work for tasks outside is shown as that of idle CPUs (swapper)");
	return 0;
}

bool stream_tells_idle(const struct stream *s)
{
	return !s->rings.idle || s->rings.idle->n;
}

struct comms *ids_names(const struct stream *s, struct comms *inner, pid_t tid)
{
	return pidmap_is_outer(tid) && s->rings.outside ? s->rings.outside : inner;
}

int ids_begin(struct stream *s, struct fault *f)
{
	s->rings.own_tid = gettid();
	if (s->opts->keeps_ids || (!s->replay && pidns_is_initial()) || !any_has_pairs(s))
		return 0;
	s->rings.pids = pidmap_new(!s->replay);
	if (!s->rings.pids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (begin_outside(s))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (!s->replay) {
		s->rings.own_tid = 0;
		learn_all(s);
	}
	for (size_t i = 0; i < s->list.nevents; i++)
		if (has_pairs(s, &s->list.events[i]) && attach(s, &s->list.events[i], f))
			return -1;
	return 0;
}

int ids_check(struct fault *f)
{
	if (pidns_is_initial() || pidns_has_proc())
		return 0;
	return fault_set(f, EXIT_FAILED, "/proc shows another PID namespace than the one perf-prof runs in: ids and "
			 "names of tasks would be those of others; mount its own (mount -t proc proc /proc, "
			 "unshare --mount-proc)");
}

void ids_end(struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		free(s->list.events[i].ids);
	comms_free(s->rings.outside);
	free(s->rings.idle);
	pidmap_free(s->rings.pids);
	s->rings.outside = NULL;
	s->rings.idle = NULL;
	s->rings.pids = NULL;
}

void ids_take_task(void *ctx, const struct pev_record *rec)
{
	struct stream *s = ctx;

	stream_flush(s);   /* samples before it have the names before it */
	if (s->rings.pids && rec->type == PERF_RECORD_FORK)
		pidmap_born(s->rings.pids, (pid_t)rec->task.ptid, (pid_t)rec->task.tid);
	if (s->rings.comms)
		comms_take(s->rings.comms, rec);
	makers_take_task(s, rec);
	if (s->run.ops->task)
		s->run.ops->task(s->run.ctx, rec);
}

/* ---- samples without a task id ------------------------------------------------------ */

/* Whether the sample is from user space, so not from an idle CPU. A precise event that does not know the address says 0, and the
 * kernel takes that for one of user space: then the chain knows it. */
static bool is_in_user_space(const struct stream_event *event, const struct perf_event_header *rec)
{
	uint64_t nr = 0;
	const uint64_t *ips = layout_callchain(&event->layout, rec, &nr);

	for (uint64_t i = 0; ips && i < nr; i++)
		if (ips[i] == PERF_CONTEXT_USER)
			return true;
	return (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
	       (!event->layout.ip || layout_u64(rec, event->layout.ip));
}

pid_t ids_of_nobody(const struct stream_event *event, const struct perf_event_header *rec, const void *raw)
{
	const struct trace_field *self = event->fmt && raw ? field_of(event->fmt, "common_pid") : NULL;
	pid_t outer = self ? (pid_t)trace_field_sint(self, raw) : 0;

	if (outer > 0)
		return outer | PIDMAP_OUTER;
	return is_in_user_space(event, rec) ? PIDMAP_OUTER : 0;
}

pid_t ids_of_exiting(const struct stream_event *event, const void *raw)
{
	const struct trace_field *self = event->fmt && raw ? field_of(event->fmt, "common_pid") : NULL;
	pid_t tid = self ? (pid_t)trace_field_sint(self, raw) : -1;

	return tid > 0 ? tid : -1;
}

/* ---- samples ---------------------------------------------------------------------- */

/* The FORK record, written just before, has the child's id in our namespace. */
static void learn_child(struct event_ids *ids, const void *raw, pid_t parent)
{
	pidmap_pair_born(ids->stream->rings.pids, parent, (pid_t)trace_field_sint(ids->child, raw));
}

static void learn_names(struct event_ids *ids, const void *raw)
{
	for (size_t i = 0; i < ids->nnamed; i++) {
		const struct trace_field *comm = ids->named[i].comm;
		pid_t tid = pidmap_task(ids->stream->rings.pids, (pid_t)trace_field_sint(ids->named[i].pid, raw));

		if (pidmap_is_outer(tid))
			comms_set(ids->stream->rings.outside, tid, (const char *)raw + comm->offset, comm->size);
	}
}

/* A sample without fields, of a task without an id. */
static pid_t nobody(const struct event_ids *ids, const struct perf_event_header *rec)
{
	uint64_t nr = 0;
	const uint64_t *ips = ids->idle && ids->idle->n ? layout_callchain(&ids->chain, rec, &nr) : NULL;

	if (!ips)
		return ids_of_nobody(ids->event, rec, NULL);
	return idlecode_has(ids->idle, ips, nr) ? 0 : PIDMAP_OUTER;
}

pid_t ids_of_sample(struct event_ids *ids, const struct perf_event_header *rec, const void *raw, pid_t tid)
{
	if (ids->child && tid > 0)
		learn_child(ids, raw, tid);
	if (!ids->self)
		return tid ? tid : nobody(ids, rec);
	tid = pidmap_sample(ids->stream->rings.pids, (pid_t)trace_field_sint(ids->self, raw), tid);
	learn_names(ids, raw);
	return tid;
}

pid_t ids_of_field(struct event_ids *ids, pid_t id)
{
	return pidmap_task(ids->stream->rings.pids, id);
}

pid_t stream_named(const struct stream *s, pid_t id)
{
	return s->rings.pids ? pidmap_task(s->rings.pids, id) : id;
}

void ids_ended(struct event_ids *ids, pid_t id)
{
	pidmap_forget(ids->stream->rings.pids, id);
}
