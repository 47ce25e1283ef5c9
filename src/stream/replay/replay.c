/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads records of a recording, and delivers samples in order of time.
 *
 * perf writes the rings one after another, and a FINISHED_ROUND record after all of them:
 *
 *	| round 1: newest time T1 | R | round 2: newest time T2 | R | round 3: no time < T1 | R |
 *
 * What follows the end of round n is not earlier than the newest time at the end of round n-1, so
 * no more than two rounds are held. A recording without rounds is held up to a limit of memory. The
 * queues are like those of live rings, one per CPU. Records of tasks pass through them, too, so
 * that the consumer knows the tasks as they were at the time of each sample.
 */
#include "base/note.h"
#include "perfdata/write/format.h"
#include "stream/choice/counts.h"
#include "stream/choice/dispatch.h"
#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/replay/private.h"
#include "stream/rings/attend.h"
#include "stream/rings/gap.h"
#include "stream/rings/rings.h"
#include "stream/watched/execs.h"
#include "tasks/unwatched.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_QUEUES = 4096, SOME_QUEUES = 64 };
enum { LOOK_RECORDS = 1 << 14 };

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/* ---- opening and closing ---------------------------------------------------- */

int stream_open_input(struct stream_opts *opts, struct fault *f)
{
	if (!opts->input || opts->input_fd >= 0)
		return 0;
	opts->input_fd = perfdata_reader_path(opts->input, f);
	return opts->input_fd < 0 ? -1 : 0;
}

bool stream_is_input(const struct stream_opts *opts, const char *path)
{
	struct stat in, out;

	return path && opts->input && strcmp(opts->input, "-") && !stat(opts->input, &in) && !stat(path, &out) &&
	       S_ISREG(out.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

int stream_start_output(struct stream_opts *opts, struct fault *f)
{
	if (stream_is_input(opts, opts->output.path))
		return fault_usage(f, "-o %s is the recording that is read; name another file", opts->output.path);
	return output_start(&opts->output, f);
}

/* Refuses options that are about this machine. */
static int check_options(const struct stream_opts *o, struct fault *f)
{
	if (o->record)
		return fault_usage(f, "--record with --input: %s is a recording already", o->input);
	if (o->run_ns)
		return fault_usage(f, "--seconds with --input: a recording ends by itself; --time START,END reads a part of it");
	if (o->tsc || o->monotonic)
		return fault_usage(f, "%s with --input: a recording has the clock of its recorder",
				   o->tsc ? "--tsc" : "--monotonic");
	if (o->cgroups.n)
		return fault_usage(f, "%s with --input: a recording does not say which tasks were in %s",
				   o->ncontainers ? "--container" : "--cgroups", stream_cgroup_label(o, 0));
	return 0;
}

static int copy_numbers(struct numlist *to, const struct numlist *from, struct fault *f)
{
	for (size_t i = 0; i < from->n; i++)
		if (numlist_add(to, from->v[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static void choose_queues(struct replay *p)
{
	uint32_t n = perfdata_info(p->reader)->cpus_there;

	p->nqueues = n ? n : SOME_QUEUES;
	if (p->nqueues > MAX_QUEUES)
		p->nqueues = MAX_QUEUES;
}

static void look_at_file(struct replay *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	p->size = (uint64_t)st.st_size;
	p->written = st.st_mtim;
	p->own = (!st.st_uid || st.st_uid == getuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int replay_new(struct stream *s, struct fault *f)
{
	struct stream_opts *o = (struct stream_opts *)s->opts;
	struct replay *p;
	int fd;

	if (check_options(o, f) || stream_open_input(o, f))
		return -1;
	p = s->replay = malloc(sizeof(*p));
	if (!p)
		return fault_set(f, EXIT_FAILED, "out of memory");
	memset(p, 0, offsetof(struct replay, wide));
	fd = o->input_fd;
	o->input_fd = -1;
	own_begin(&s->choice.own, false);
	s->clock.added = o->clock_offset;
	look_at_file(p, fd);
	p->reader = perfdata_reader_open(fd, o->input, f);
	if (!p->reader || copy_numbers(&p->pids, &o->pids, f) || copy_numbers(&p->tids, &o->tids, f))
		return -1;
	p->chooses_tasks = p->pids.n || p->tids.n;
	p->execs = execs_new();
	if (p->size < perfdata_end(p->reader) && perfdata_end(p->reader) != UINT64_MAX)
		p->size = perfdata_end(p->reader);   /* it was decompressed */
	choose_queues(p);
	replay_compare_machine(p, o->opener);
	return recording_events(s, f);
}

void replay_free(struct stream *s)
{
	struct replay *p = s->replay;

	s->replay = NULL;
	if (!p)
		return;
	perfdata_reader_close(p->reader);
	execs_free(p->execs);
	numlist_free(&p->narrow);
	numlist_free(&p->pids);
	numlist_free(&p->tids);
	free(p->tracks);
	free(p->next);
	free(p);
}

static int check_cgroups(const struct stream *s, struct fault *f)
{
	bool any = !s->opts->samples_cgroups;

	for (size_t i = 0; i < s->list.nevents; i++)
		any |= s->list.events[i].wanted && s->list.events[i].layout.cgroup;
	return any ? 0 : fault_usage(f, "--sort cgroup: samples of %s do not say the control group of their task; record with "
				     "--all-cgroups", s->opts->input);
}

/* Samples of a command have no CPU, unless an event asks for it. */
static int check_cpus(const struct stream *s, struct fault *f)
{
	bool any = false, has_cpu = false;
	char text[256];

	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_event *ev = &s->list.events[i];

		if (!ev->wanted || ev->opened.track == NO_TRACK)
			continue;
		any = true;
		has_cpu |= s->replay->tracks[ev->opened.track].cpu_at;
	}
	if (!s->opts->cpus.n || !any || has_cpu)
		return 0;
	numlist_text(&s->opts->cpus, text, sizeof(text));
	return fault_usage(f, "--cpus %s: samples of %s do not say their CPU; record with perf-prof record, or with `perf record --sample-cpu`", text,
			   s->opts->input);
}

int replay_open(struct stream *s, struct fault *f)
{
	struct replay *p = s->replay;

	s->rings.v = calloc(p->nqueues, sizeof(*s->rings.v));
	s->rings.order = order_new(p->nqueues, REPLAY_MAX_HELD);
	if (!s->rings.v || !s->rings.order)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (uint32_t i = 0; i < p->nqueues; i++)
		s->rings.v[i].cpu = (int)i;
	if (check_cgroups(s, f) || check_cpus(s, f) || counts_begin(s, f))
		return -1;
	dispatch_index(s);
	return 0;
}

struct stream_event *replay_leaders(struct stream *s, size_t *n)
{
	*n = s->list.nevents - s->replay->leaders_from;
	return s->list.events + s->replay->leaders_from;
}

/* ---- what comes from the recording ----------------------------------------------- */

static void push(struct stream *s, uint32_t queue, uint64_t time, const void *rec, uint32_t size,
		 uint16_t tag)
{
	delivery_make_room(s);
	if (!s->run.stopping && order_push_tagged(s->rings.order, queue, time, rec, size, tag))
		loss_add(s, &s->rings.v[queue], 1, STREAM_LOSS_STOP, 0, 0);   /* out of memory */
	if (time > s->replay->newest)
		s->replay->newest = time;
}

static void push_gap(struct stream *s, struct ring *ring, uint64_t end)
{
	const struct gap gap = gap_take(ring, end);

	push(s, (uint32_t)(ring - s->rings.v), end, &gap, sizeof(gap), 0);
}

static uint32_t queue_of(const struct replay *p, uint32_t cpu)
{
	return cpu < p->nqueues ? cpu : 0;
}

/* Samples without a CPU, as perf record takes them of a command. Each ring's samples were written
 * in one piece, so where time goes back, the next ring begins. */
static uint32_t queue_of_run(struct replay *p, uint64_t time)
{
	if (time < p->run_time && ++p->run == p->nqueues)
		p->run = 0;
	p->run_time = time;
	return p->run;
}

static bool is_in_time(const struct stream_opts *o, uint64_t time)
{
	return time >= o->time.from && (!o->time.to || time <= o->time.to);
}

/* The first wanted event of a track that has one. */
static const struct stream_event *wanted_of(const struct stream *s, const struct track *t)
{
	uint32_t i = t->first;

	while (!s->list.events[i].wanted)
		i = s->replay->next[i];
	return &s->list.events[i];
}

static void leave_out(struct stream *s, uint64_t time)
{
	struct replay *p = s->replay;

	p->outside++;
	if (!p->outside_first || time < p->outside_first)
		p->outside_first = time;
	if (time > p->outside_last)
		p->outside_last = time;
	if (s->opts->time.to && time > p->newest)
		p->newest = time;
}

static void take_sample(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	int event = perfdata_event_of(p->reader, rec);
	const struct track *t = event < 0 ? NULL : &p->tracks[event];
	struct ring *ring;
	uint32_t queue;
	uint64_t time;

	if (__builtin_expect(!t, 0)) {
		p->unknown++;
		return;
	}
	if (rec->size < t->time_at + 8u || rec->size < t->cpu_at + 8u) {
		s->loss.totals.malformed++;
		return;
	}
	time = t->time_at ? layout_u64(rec, t->time_at) : p->newest;
	queue = queue_of(p, cpu_of(t, rec));
	ring = &s->rings.v[queue];
	if (__builtin_expect(ring->gap != 0, 0))
		push_gap(s, ring, time);
	if (__builtin_expect(!ring->first_time, 0))
		ring->first_time = time;
	ring->read_time = time;
	if (!t->wanted)
		return;
	if (__builtin_expect(s->loss.throttles.nopen != 0, 0))
		throttling_end(s, ring, wanted_of(s, t), time);
	s->loss.totals.counted++;
	if (s->opts->cpus.n && !numlist_has(&s->opts->cpus, (int)cpu_of(t, rec)))
		return;
	if (!t->cpu_at)
		queue = queue_of_run(p, time);
	if (!is_in_time(s->opts, time))
		leave_out(s, time);
	else if (!run_take(s, rec, (uint32_t)event, queue, time))
		push(s, queue, time, rec, rec->size, (uint16_t)event);
}

/*
 * The losses in a LOST record are the ring's. At its end, perf record adds LOST_SAMPLES records
 * without a time, with the counts of the descriptors: the same losses again, plus those after the
 * last record.
 */
static void take_lost(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;

	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->loss.totals.malformed++;
		return;
	}
	if (rec->type == PERF_RECORD_LOST_SAMPLES && !out.sample_id.time) {
		p->counted_lost += out.lost.lost;
		return;
	}
	if (recording_is_about_tasks(p, e)) {
		execs_see(p->execs, &out);
		ids_take_task(s, &out);     /* names were lost, no samples */
		return;
	}
	p->kernel_lost += out.lost.lost;
	if (s->opts->cpus.n && out.sample_id.present & PERF_SAMPLE_CPU && !numlist_has(&s->opts->cpus, (int)out.sample_id.cpu))
		return;
	s->rings.v[queue_of(p, out.sample_id.present & PERF_SAMPLE_CPU ? out.sample_id.cpu : 0)].gap += out.lost.lost;
}

static void take_count(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const int event = perfdata_event_of(p->reader, rec);
	struct pev_record out;
	struct pev_count count;

	if (event < 0 || pev_decode(rec, rec->size, &perfdata_event(p->reader, (size_t)event)->format, &out))
		return;
	pev_read_value(&out.read.read, 0, &count);
	p->tracks[event].counted += count.value;
}

static void take_throttle(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	int event = perfdata_event_of(p->reader, rec);
	struct pev_record out;
	struct ring *ring;
	int cpu;

	if (event < 0 || !p->tracks[event].wanted)
		return;
	if (pev_decode(rec, rec->size, &perfdata_event(p->reader, (size_t)event)->format, &out)) {
		s->loss.totals.malformed++;
		return;
	}
	cpu = out.sample_id.present & PERF_SAMPLE_CPU ? (int)out.sample_id.cpu : -1;
	if ((s->opts->cpus.n && !numlist_has(&s->opts->cpus, cpu)) || !is_in_time(s->opts, out.throttle.time))
		return;
	ring = &s->rings.v[queue_of(p, cpu < 0 ? 0 : (uint32_t)cpu)];
	if (!ring->first_time)
		ring->first_time = out.throttle.time;
	if (out.throttle.time > ring->read_time)
		ring->read_time = out.throttle.time;
	throttling_take(s, ring, wanted_of(s, &p->tracks[event]), rec->type, &out.throttle);
}

static void take_task(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;
	uint64_t time;

	replay_mend(e, rec);
	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->loss.totals.malformed++;
		return;
	}
	if (e->attr.attr.mmap && recording_is_about_tasks(p, e))
		execs_see(p->execs, &out);
	/* records of what existed before have no time, or UINT64_MAX */
	time = out.sample_id.time == UINT64_MAX ? 0 : out.sample_id.time;
	if (!time)
		delivery_task(s, rec);
	else
		push(s, queue_of(p, out.sample_id.present & PERF_SAMPLE_CPU ? out.sample_id.cpu : 0), time, rec,
		     rec->size, 0);
}

/* All rings have passed the newest time at the end of the previous round: delivers up to there. */
static void end_round(struct stream *s)
{
	struct replay *p = s->replay;

	p->ordered = true;
	delivery_until(s, p->round);
	p->round = p->newest;
	p->run = 0;
	p->run_time = 0;
	p->cut = s->opts->time.to && p->round > s->opts->time.to && order_empty(s->rings.order);
	if (p->cut)
		s->run.stop = s->run.stop ? s->run.stop : STOP_TARGET;
}

static bool gives_counts(const struct stream *s)
{
	return s->opts->takes_rounds && !s->replay->chooses_tasks && perfdata_info(s->replay->reader)->counted_ns;
}

static void take_round(struct stream *s, uint64_t time)
{
	if (!gives_counts(s) || !is_in_time(s->opts, time))
		return;
	s->replay->reached = time;
	s->run.ops->interval(s->run.ctx);
}

static void take_record(struct stream *s, const struct perf_event_header *rec)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(s, rec);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_lost(s, rec);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		take_throttle(s, rec);
		break;
	case PERF_RECORD_READ:
		take_count(s, rec);
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
		take_task(s, rec);
		break;
	case PERFDATA_ROUND:
		end_round(s);
		break;
	case PERFDATA_COUNTED:
		take_round(s, perfdata_info(s->replay->reader)->counted_ns);
		break;
	default:
		break;
	}
}

/* ---- the run -------------------------------------------------------------------- */

/* Waits for a pipe: other threads may run, and a signal ends it. */
static int wait_for_bytes(void *ctx, int fd)
{
	struct stream *s = ctx;
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = s->run.attention.kick, .events = POLLIN } };
	uint64_t n;

	while (poll(p, 1, 0) == 0) {
		if (s->run.ops->idle)
			s->run.ops->idle(s->run.ctx);
		if (s->run.ops->wait)
			s->run.ops->wait(s->run.ctx, true);
		poll(p, 2, -1);
		if (s->run.ops->wait)
			s->run.ops->wait(s->run.ctx, false);
		if (p[1].revents & POLLIN && read(s->run.attention.kick, &n, sizeof(n)) < 0 && errno != EAGAIN)
			s->run.stop = STOP_SIGNAL;
		if (attention_pending(&s->run.attention))
			attend_requests(s);
		if (s->run.stop)
			return -EINTR;
		p[1].revents = 0;
	}
	return 0;
}

static bool is_stopped(void *ctx)
{
	struct stream *s = ctx;

	if (attention_pending(&s->run.attention))
		attend_requests(s);
	return s->run.stop;
}

/* At least one event is lost at each damaged place; the CPU is not known. The error at the end
 * reports the places, so loss_tell() does not. */
static void take_damage(struct stream *s, const struct perfdata_counts *c)
{
	struct ring nowhere = { .cpu = -1 };

	s->loss.totals.lost_at_least = true;
	s->loss.reported.lost += c->damaged_places - s->replay->damaged;
	loss_add(s, &nowhere, c->damaged_places - s->replay->damaged, STREAM_LOSS_DAMAGED, c->place.from, c->place.to);
	s->replay->damaged = c->damaged_places;
}

static int read_all(struct stream *s, struct fault *f)
{
	const struct perf_event_header *rec;
	const struct perfdata_counts *counts = perfdata_counts(s->replay->reader);
	uint64_t looked = counts->records;
	int rc = 0;

	while (!s->run.stop && (rc = perfdata_next(s->replay->reader, &rec, f)) > 0) {
		if (__builtin_expect(counts->damaged_places != s->replay->damaged, 0))
			take_damage(s, counts);
		take_record(s, rec);
		if (attention_pending(&s->run.attention))
			attend_requests(s);
		if (counts->records - looked >= LOOK_RECORDS) {
			looked = counts->records;
			loss_tell(s, false);
			throttling_tell(s);
			usage_tell(&s->usage, &s->choice.own, s->opts->usage_ms);
		}
	}
	if (counts->damaged_places != s->replay->damaged)
		take_damage(s, counts);
	return s->run.stop ? 0 : rc;
}

/* The only wanted event of the track; NULL: none, or several. */
static const struct stream_event *only_event(const struct stream *s, const struct track *t)
{
	const struct stream_event *only = NULL;

	for (uint32_t i = t->first; i != NO_EVENT; i = s->replay->next[i]) {
		if (s->list.events[i].wanted && only)
			return NULL;
		if (s->list.events[i].wanted)
			only = &s->list.events[i];
	}
	return only;
}

static const struct stream_event *plain_event(const struct stream *s, const struct track *t)
{
	const struct stream_event *ev = only_event(s, t);

	if (!ev || !ev->fmt || ev->layout.callchain || ev->layout.group_entry || ev->asked.cpus.n ||
	    ev->filter_here || ev->choosy || ev->taps || t->widened != t->type || s->replay->chooses_tasks ||
	    perfdata_is_foreign(s->replay->reader))
		return NULL;
	return ev;
}

static void find_wanted(struct stream *s)
{
	struct replay *p = s->replay;

	for (size_t i = p->leaders_from; i < s->list.nevents; i++)
		s->list.events[i].wanted = true;
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].opened.track != NO_TRACK)
			p->tracks[s->list.events[i].opened.track].wanted |= s->list.events[i].wanted;
	for (size_t i = 0; i < p->ntracks; i++)
		p->tracks[i].plain = plain_event(s, &p->tracks[i]);
}

/* Reports gaps that no sample followed, and losses that only the descriptors counted: of which CPU these are is not known. */
static void end_losses(struct stream *s)
{
	struct replay *p = s->replay;
	struct ring nowhere = { .cpu = -1 };
	uint64_t last = 0;

	for (uint32_t i = 0; i < p->nqueues; i++) {
		if (s->rings.v[i].gap)
			loss_add(s, &s->rings.v[i], s->rings.v[i].gap, STREAM_LOSS_RING, s->rings.v[i].read_time, 0);
		if (s->rings.v[i].read_time > last)
			last = s->rings.v[i].read_time;
	}
	if (p->counted_lost > p->kernel_lost)
		loss_add(s, &nowhere, p->counted_lost - p->kernel_lost, STREAM_LOSS_TAIL, last, 0);
}

static bool none(const void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	return false;
}

/* What was not read may be the mapping of a program. */
static bool has_all_records(const struct stream *s)
{
	const struct perfdata_counts *c = perfdata_counts(s->replay->reader);

	return !c->damaged_places && !c->own && !s->replay->unknown && !s->loss.totals.malformed;
}

/* From events of CPUs the kernel removes none. */
static bool has_events_of_tasks(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_event *ev = &s->list.events[i];

		if (ev->opened.track != NO_TRACK && (replay_is_of_command(s, ev) || replay_is_of_tasks(s, ev)))
			return true;
	}
	return false;
}

/* Programs whose events the kernel removed while it was recorded. */
static void tell_unwatched(struct stream *s)
{
	char text[UNWATCHED_TEXT];
	const char *name = NULL;
	pid_t pid = 0;
	size_t n = 0;

	if (!s->replay->chooses_tasks && has_events_of_tasks(s) && has_all_records(s))
		n = execs_removed(s->replay->execs, none, NULL, &pid, &name);
	if (!n)
		return;
	unwatched_say_of_child(pid, name, n - 1, UNWATCHED_IN_RECORDING, text, sizeof(text));
	note(1, "%s: %s", s->opts->input, text);
	s->run.unwatched = true;
}

/* Of a fixed period the kernel sends each event if samples have the period: as perf's have. */
static bool was_sampled(const struct perf_event_attr *a)
{
	return a->freq || (a->sample_period > 1 && !(a->sample_type & PERF_SAMPLE_PERIOD));
}

/* Tracepoints whose recorder kept only samples (perf record -F N). */
static void tell_sampled(const struct stream *s)
{
	const struct replay *p = s->replay;
	const struct track *first = NULL;
	char others[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < p->ntracks; i++) {
		const struct track *t = &p->tracks[i];

		if (!t->wanted || !t->fmt || !was_sampled(&perfdata_event(p->reader, i)->attr.attr))
			continue;
		first = first ? first : t;
		n++;
	}
	if (n > 1)
		snprintf(others, sizeof(others), " and %zu other tracepoint%s", n - 1, n == 2 ? "" : "s");
	if (first)
		note(note_kept(s->opts->verbose), "%s has only samples of %s%s: pairs, waits and numbers of events are incomplete; "
		     "to have all events, record without -F and without a period", s->opts->input, first->name, others);
}

/* Reports what was not read, or not understood. */
static void tell(const struct stream *s)
{
	const struct replay *p = s->replay;
	const struct perfdata_counts *c = perfdata_counts(p->reader);
	int verbose = s->opts->verbose;

	tell_sampled(s);
	if (p->unknown)
		note(1, "%s: left out %" PRIu64 " samples, whose ids belong to "
			"no event of the recording", s->opts->input, p->unknown);
	if (c->aux_bytes && !s->loss.totals.counted && !p->unknown)
		note(1, "%s: it has %" PRIu64 " bytes of AUX areas (hardware traces), which perf-prof "
			"does not decode, and no samples beside them", s->opts->input, c->aux_bytes);
	else if (c->aux_bytes)
		note(verbose, "%s: %" PRIu64 " bytes of AUX areas (hardware traces) were skipped",
		     s->opts->input, c->aux_bytes);
	if (c->own)
		note(1, "%s: %" PRIu64 " records of types that only their recorder knows were "
			"skipped", s->opts->input, c->own);
	if (p->formats_bad)
		note(verbose, "%s: cannot fully parse %d tracepoint formats: fields of those events are bytes, or "
		     "missing", s->opts->input, p->formats_bad);
	if (!s->run.stop && perfdata_has_no_end(p->reader))
		note(1, "%s: the recording has no end: its recorder still runs, was killed, or found the disk full, and what came "
			"after the last event here is missing; or perf inject wrote it, which leaves out the end and loses nothing",
		     s->opts->input);
	if (perfdata_info(p->reader)->unread)
		note(verbose, "%s: cannot read %d features of its header (bits %#" PRIx64 ")", s->opts->input,
		     __builtin_popcountll(perfdata_info(p->reader)->unread), perfdata_info(p->reader)->unread);
	if (perfdata_is_unfinished(p->reader))
		note(1, "%s: its recorder was killed, or still runs: its end is missing, and with it the machine, build ids and names of "
			"tracepoints", s->opts->input);
	if (!s->run.stop && !s->loss.totals.counted && !p->unknown && !c->aux_bytes && !gives_counts(s))
		note(1, "%s: it has no samples%s", s->opts->input, perfdata_info(p->reader)->counted_ns
		     ? ", but the counts of perf stat, which `perf-prof script FILE` prints" : "");
}

int replay_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f)
{
	struct perfdata_reader_opts wait = { .wait = wait_for_bytes, .stopped = is_stopped, .ctx = s };
	int rc;

	/* the interval is measured by the recording's clock, without a timer */
	if (attend_begin(s, ops, ctx, 0, f))
		return -1;
	s->replay->interval = ops->interval ? s->opts->interval_ms * MS : 0;
	find_wanted(s);
	perfdata_reader_set_wait(s->replay->reader, &wait);
	attend_set_delivering(s, true);
	rc = ops->started ? ops->started(ctx, f) : 0;
	if (!rc)
		rc = read_all(s, f);
	if (!s->run.stop || s->run.stop == STOP_TARGET) {
		delivery_until(s, UINT64_MAX);
		end_losses(s);
		throttling_finish(s, s->replay->newest);
		makers_end(s);
	}
	attend_set_delivering(s, false);
	loss_tell(s, true);
	filters_tell(s);
	tell_unwatched(s);
	tell(s);
	return rc;
}
