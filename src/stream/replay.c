/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records out of a recording, samples to the consumer, in the order of time.
 *
 * perf writes rings one after another, and a mark (FINISHED_ROUND) once it went round all of
 * them. What is written after a mark is not earlier than what was newest at the mark before
 * it: that bounds what is held. A recording without marks is held up to a bound of memory.
 * Queues are those of live rings, one per CPU. Records of tasks go through them, too: so the
 * consumer knows who was who at the time of each sample.
 */
#include "stream/replay_private.h"

#include "base/note.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HELD = 48 << 20, MAX_QUEUES = 4096, SOME_QUEUES = 64, MAX_FOLLOWED = 1 << 16 };
enum { MAX_INTERVALS = 100000, MAX_EMPTY = 1000000, LOOK_RECORDS = 1 << 14 };

#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/* What stands in a queue for a gap: delivered as a loss in its place. */
struct gap {
	struct perf_event_header header;   /* type PERF_RECORD_LOST */
	uint64_t count, start, end;
};

/* ---- life ------------------------------------------------------------------- */

int stream_open_input(struct stream_opts *opts, struct fault *f)
{
	if (!opts->input || opts->input_fd >= 0)
		return 0;
	opts->input_fd = perfdata_reader_path(opts->input, f);
	return opts->input_fd < 0 ? -1 : 0;
}

/* What asks for this machine has no meaning. */
static int check_options(const struct stream_opts *o, struct fault *f)
{
	if (o->record)
		return fault_usage(f, "--record with --input: the recording is there already: %s", o->input);
	if (o->tsc || o->monotonic)
		return fault_usage(f, "%s with --input: a recording has the clock of its recorder",
				   o->tsc ? "--tsc" : "--monotonic");
	if (o->cgroups.n)
		return fault_usage(f, "--cgroups with --input: a recording does not say which tasks were in %s",
				   o->cgroups.v[0]);
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

static uint64_t size_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
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
	s->skip_pid = NO_PID;
	s->clock.added = o->clock_offset;
	p->size = size_of(fd);
	p->reader = perfdata_reader_open(fd, o->input, f);
	if (!p->reader || copy_numbers(&p->pids, &o->pids, f) || copy_numbers(&p->tids, &o->tids, f))
		return -1;
	p->chooses_tasks = p->pids.n || p->tids.n;
	choose_queues(p);
	replay_compare_machine(p);
	return recording_events(s, f);
}

void replay_free(struct stream *s)
{
	struct replay *p = s->replay;

	s->replay = NULL;
	if (!p)
		return;
	perfdata_reader_close(p->reader);
	numlist_free(&p->pids);
	numlist_free(&p->tids);
	free(p->tracks);
	free(p->track_of);
	free(p->next);
	free(p);
}

int replay_open(struct stream *s, struct fault *f)
{
	struct replay *p = s->replay;

	s->rings = calloc(p->nqueues, sizeof(*s->rings));
	s->order = order_new(p->nqueues, MAX_HELD);
	if (!s->rings || !s->order)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (uint32_t i = 0; i < p->nqueues; i++)
		s->rings[i].cpu = (int)i;
	dispatch_index(s);
	return 0;
}

bool replay_place(const struct replay *p, uint64_t *at, uint64_t *size)
{
	*at = perfdata_offset(p->reader);
	*size = p->size;
	return p->size;
}

const struct perfdata_info *replay_info(const struct replay *p)
{
	return perfdata_info(p->reader);
}

bool replay_is_same_machine(const struct replay *p)
{
	return p->same_machine;
}

bool replay_is_same_kernel(const struct replay *p)
{
	return p->same_kernel;
}

uint64_t replay_reached(const struct replay *p)
{
	return p->reached;
}

int64_t replay_realtime_offset(const struct replay *p)
{
	const struct perfdata_info *info = perfdata_info(p->reader);

	return info->has_clock ? (int64_t)(info->realtime_ns - info->clock_ns) : 0;
}

bool replay_progress(const struct replay *p, uint64_t *at, uint64_t *size)
{
	*at = perfdata_offset(p->reader);
	*size = perfdata_end(p->reader);
	return *size != UINT64_MAX && *size;
}

/* ---- one sample --------------------------------------------------------------- */

/* Raw data of the other byte order: its format says what is turned. */
static void turn_raw(const struct track *t, const struct perf_event_header *rec, const struct layout *l)
{
	uint32_t size;
	const void *raw = layout_raw(l, rec, &size);

	if (raw)
		tracefmt_swap(t->fmt, (void *)raw, size);
}

/* The usual layout: nothing of variable length before the raw data. */
static inline bool find_plain_raw(const struct stream_event *ev, const struct perf_event_header *rec,
				  const void **raw, uint32_t *size)
{
	uint32_t at = ev->layout.raw;

	if (rec->size < at + 4)
		return false;
	*size = layout_u32(rec, (uint8_t)at);
	*raw = (const char *)rec + at + 4;
	return *size <= rec->size - at - 4 && *size >= ev->min_raw;
}

/* The raw data of a tracepoint's sample; false for one that contradicts its format. */
static inline bool find_raw(const struct stream_event *ev, const struct perf_event_header *rec,
		     const void **raw, uint32_t *size)
{
	if (__builtin_expect(ev->fmt && !ev->layout.callchain && !ev->layout.group_entry, 1))
		return find_plain_raw(ev, rec, raw, size);
	*raw = NULL;
	*size = 0;
	if (!ev->fmt)
		return stream_sample_fits(ev, rec);
	if (rec->size < ev->layout.fixed_end)
		return false;
	*raw = layout_raw(&ev->layout, rec, size);
	return *raw && *size >= ev->min_raw;
}

static bool is_watched(const struct replay *p, const struct stream_event *ev,
		       const struct perf_event_header *rec)
{
	return !p->chooses_tasks || numlist_has(&p->pids, (int)layout_u32(rec, ev->layout.tid)) ||
	       numlist_has(&p->tids, (int)layout_u32(rec, ev->layout.tid + 4));
}

static void deliver_one(struct stream *s, struct ring *ring, const struct stream_event *ev,
			const struct perf_event_header *rec, uint32_t cpu)
{
	const void *raw;
	uint32_t size;

	if (__builtin_expect(!find_raw(ev, rec, &raw, &size), 0)) {
		s->totals.malformed++;
		return;
	}
	if (__builtin_expect(s->replay->chooses_tasks, 0) && !is_watched(s->replay, ev, rec))
		return;
	if (ev->cpus.n && !numlist_has(&ev->cpus, (int)cpu))
		return;
	if (ev->filter_here && !filter_passes(ev, rec, raw, size, cpu)) {
		s->totals.filtered++;
		return;
	}
	if (ev->choosy && !drain_is_within_limits(s, ring, ev, rec))
		return;
	s->ops->sample(s->ctx, ev, rec, raw, size, cpu);
	if (++s->totals.delivered == s->opts->exit_n)
		stream_stop(s);
}

/* Most samples. */
static inline void deliver_plain(struct stream *s, const struct stream_event *ev,
				 const struct perf_event_header *rec, uint32_t cpu)
{
	const void *raw;
	uint32_t size;

	if (__builtin_expect(!find_plain_raw(ev, rec, &raw, &size), 0)) {
		s->totals.malformed++;
		return;
	}
	s->ops->sample(s->ctx, ev, rec, raw, size, cpu);
	if (++s->totals.delivered == s->opts->exit_n)
		stream_stop(s);
}

static uint32_t cpu_of(const struct track *t, const struct perf_event_header *rec)
{
	return t->cpu_at ? layout_u32(rec, t->cpu_at) : UINT32_MAX;
}

static void deliver_sample(struct stream *s, struct ring *ring, const struct track *t,
			   const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	uint32_t cpu = cpu_of(t, rec);

	if (__builtin_expect(t->widened != t->type, 0)) {
		rec = widen_sample(rec, t->type, t->widened, t->period, p->wide);
		if (!rec) {
			s->totals.malformed++;
			return;
		}
	}
	if (t->fmt && perfdata_is_foreign(p->reader))
		turn_raw(t, rec, &s->events[t->first].layout);
	for (uint32_t i = t->first; i != NO_EVENT && !s->stopping; i = p->next[i])
		if (s->events[i].wanted)
			deliver_one(s, ring, &s->events[i], rec, cpu);
}

/* ---- tasks ------------------------------------------------------------------- */

void replay_identify(const struct replay *p, struct pev_mmap *m)
{
	const struct perfdata_info *info = perfdata_info(p->reader);

	for (size_t i = 0; !m->has_build_id && i < info->nbuild_ids; i++) {
		const struct perfdata_build_id *id = &info->build_ids[i];

		if (strcmp(id->path, m->filename) || (id->pid > 0 && (uint32_t)id->pid != m->pid))
			continue;
		m->has_build_id = true;
		m->build_id_size = id->size;
		memcpy(m->build_id, id->id, sizeof(m->build_id));
	}
	/* the code that each kernel lays into its processes */
	if (!strcmp(m->filename, "[vdso]")) {
		m->has_build_id = !p->same_kernel;
		m->build_id_size = sizeof(m->build_id);
	}
	/* of another machine an inode says nothing */
	if (!m->has_build_id && !p->same_machine)
		m->ino = 0;
}

/* Children of those who are watched are watched, too. */
static void follow(struct stream *s, const struct pev_task *task)
{
	struct replay *p = s->replay;

	if (s->opts->inherit < 0 || p->pids.n + p->tids.n >= MAX_FOLLOWED)
		return;
	if (numlist_has(&p->pids, (int)task->ppid) && task->pid != task->ppid)
		numlist_add(&p->pids, (int)task->pid);
	if (numlist_has(&p->tids, (int)task->ptid))
		numlist_add(&p->tids, (int)task->tid);
}

/*
 * A kernel that writes a mapping for several listeners forgets (seen on 6.18) to take the mark of
 * a build id back: a recorder that asked for inodes then has inodes that are marked so. A build
 * id has 20 or 16 bytes, in a word that is the device's major number else.
 */
static void mend_mark(const struct perfdata_event *e, const struct perf_event_header *rec)
{
	enum { SIZE_AT = 40 };

	if (rec->type == PERF_RECORD_MMAP2 && rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    !e->attr.attr.build_id && rec->size >= SIZE_AT + 4 && layout_u32(rec, SIZE_AT) != 20 &&
	    layout_u32(rec, SIZE_AT) != 16)
		((struct perf_event_header *)rec)->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void deliver_task(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;

	mend_mark(e, rec);
	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->totals.malformed++;
		return;
	}
	/* perf tells who was there before as forks, too, without a time */
	if (out.type == PERF_RECORD_FORK && p->chooses_tasks && out.sample_id.time &&
	    out.sample_id.time != UINT64_MAX)
		follow(s, &out.task);
	if (out.type == PERF_RECORD_MMAP || out.type == PERF_RECORD_MMAP2)
		replay_identify(p, &out.mmap);
	if (s->ops->task)
		s->ops->task(s->ctx, &out);
}

/* ---- delivery, in order --------------------------------------------------------- */

static uint64_t one_interval_after(const struct replay *p, uint64_t time)
{
	return time < UINT64_MAX - p->interval ? time + p->interval : UINT64_MAX;
}

/* -i, by the recording's clock. A gap without events has its intervals, too, in reason: clocks
 * that are damaged jump with each event. At the end of time there are no more. */
static void pass_intervals(struct stream *s, uint64_t time)
{
	struct replay *p = s->replay;

	if (!p->next_interval)
		p->next_interval = one_interval_after(p, time);
	for (uint32_t i = 0; time >= p->next_interval && p->next_interval != UINT64_MAX && !s->stopping &&
	     i < MAX_INTERVALS && (!i || p->empty_intervals < MAX_EMPTY); i++) {
		p->reached = p->next_interval;
		s->ops->interval(s->ctx);
		p->empty_intervals += i > 0;
		p->next_interval = one_interval_after(p, p->next_interval);
		if (attention_pending(&s->attn))
			loop_attend(s);
	}
	if (time >= p->next_interval)
		p->next_interval = one_interval_after(p, time);
	p->reached = time;
}

static void deliver_other(struct stream *s, struct ring *ring, const struct order_item *item)
{
	const struct perf_event_header *rec = item->rec;
	const struct gap *gap = item->rec;

	if (rec->type == PERF_RECORD_LOST)
		loss_add(s, ring, gap->count, STREAM_LOSS_RING, gap->start, gap->end);
	else
		deliver_task(s, rec);
}

static void deliver_item(struct stream *s, const struct order_item *item)
{
	const struct perf_event_header *rec = item->rec;
	const struct track *t;

	if (__builtin_expect(rec->type != PERF_RECORD_SAMPLE, 0)) {
		deliver_other(s, &s->rings[item->queue], item);
		return;
	}
	if (__builtin_expect(s->replay->interval != 0, 0))
		pass_intervals(s, item->time);
	if (__builtin_expect(s->stopping, 0))
		return;
	t = &s->replay->tracks[item->tag];
	if (__builtin_expect(t->plain != NULL, 1))
		deliver_plain(s, t->plain, rec, cpu_of(t, rec));
	else
		deliver_sample(s, &s->rings[t->cpu_at ? item->queue : 0], t, rec);
}

static void deliver_until(struct stream *s, uint64_t watermark)
{
	struct order_item item;

	while (!s->stopping && order_pop(s->order, watermark, &item)) {
		deliver_item(s, &item);
		if (attention_pending(&s->attn))
			loop_attend(s);
	}
}

/* The earliest goes, though earlier ones may still come. */
static void make_room(struct stream *s)
{
	struct order_item item;

	while (order_full(s->order) && !s->stopping && order_pop(s->order, UINT64_MAX, &item)) {
		deliver_item(s, &item);
		if (attention_pending(&s->attn))
			loop_attend(s);
	}
}

/* ---- what comes from the recording ----------------------------------------------- */

static void push(struct stream *s, uint32_t queue, uint64_t time, const void *rec, uint32_t size,
		 uint16_t tag)
{
	if (order_full(s->order))
		make_room(s);
	if (!s->stopping && order_push_tagged(s->order, queue, time, rec, size, tag))
		loss_add(s, &s->rings[queue], 1, STREAM_LOSS_STOP, 0, 0);   /* out of memory */
	if (time > s->replay->newest)
		s->replay->newest = time;
}

/* A gap becomes a record once the sample behind it is known. */
static void push_gap(struct stream *s, struct ring *ring, uint64_t end)
{
	struct gap gap = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(gap) },
		.count = ring->gap, .end = end,
		.start = ring->read_time < end ? ring->read_time : end,
	};

	ring->gap = 0;
	push(s, (uint32_t)(ring - s->rings), end, &gap, sizeof(gap), 0);
}

static uint32_t queue_of(const struct replay *p, uint32_t cpu)
{
	return cpu < p->nqueues ? cpu : 0;
}

/* Samples that don't say their CPU, as perf record takes them of a command: each ring's were
 * written in one piece, so where time goes back another ring begins. */
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
		s->totals.malformed++;
		return;
	}
	time = t->time_at ? layout_u64(rec, t->time_at) : p->newest;
	queue = queue_of(p, cpu_of(t, rec));
	ring = &s->rings[queue];
	if (__builtin_expect(ring->gap != 0, 0))
		push_gap(s, ring, time);
	ring->read_time = time;
	if (!t->wanted)
		return;
	s->totals.counted++;
	if (s->opts->cpus.n && !numlist_has(&s->opts->cpus, (int)cpu_of(t, rec)))
		return;
	if (!t->cpu_at)
		queue = queue_of_run(p, time);
	if (is_in_time(s->opts, time))   /* which track it is of is found out once */
		push(s, queue, time, rec, rec->size, (uint16_t)event);
	else if (s->opts->time.to && time > p->newest)
		p->newest = time;
}

/*
 * Of a LOST record the count is the ring's. perf record adds, at its end and without a time,
 * what the descriptors counted: the same losses once more, and those behind the last record.
 */
static void take_lost(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;

	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->totals.malformed++;
		return;
	}
	if (rec->type == PERF_RECORD_LOST_SAMPLES && !out.sample_id.time) {
		p->counted_lost += out.lost.lost;
		return;
	}
	p->kernel_lost += out.lost.lost;
	s->rings[queue_of(p, out.sample_id.present & PERF_SAMPLE_CPU ? out.sample_id.cpu : 0)].gap += out.lost.lost;
}

static void take_task(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;
	uint64_t time;

	mend_mark(e, rec);
	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->totals.malformed++;
		return;
	}
	/* what was there before is told without a time, or with all ones */
	time = out.sample_id.time == UINT64_MAX ? 0 : out.sample_id.time;
	if (!time)
		deliver_task(s, rec);
	else
		push(s, queue_of(p, out.sample_id.present & PERF_SAMPLE_CPU ? out.sample_id.cpu : 0), time, rec,
		     rec->size, 0);
}

/* What was newest when the round before ended is passed by all rings now. */
static void end_round(struct stream *s)
{
	struct replay *p = s->replay;

	p->ordered = true;
	deliver_until(s, p->round);
	p->round = p->newest;
	p->run = 0;
	p->run_time = 0;
	if (s->opts->time.to && p->round > s->opts->time.to && order_empty(s->order))
		s->stop = s->stop ? s->stop : STOP_TARGET;
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
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		take_task(s, rec);
		break;
	case PERFDATA_ROUND:
		end_round(s);
		break;
	default:
		break;
	}
}

/* ---- the run -------------------------------------------------------------------- */

/* A pipe has nothing yet: others may run, and a signal ends it. */
static int wait_for_bytes(void *ctx, int fd)
{
	struct stream *s = ctx;
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = s->attn.kick, .events = POLLIN } };
	uint64_t n;

	while (poll(p, 1, 0) == 0) {
		if (s->ops->idle)
			s->ops->idle(s->ctx);
		if (s->ops->wait)
			s->ops->wait(s->ctx, true);
		poll(p, 2, -1);
		if (s->ops->wait)
			s->ops->wait(s->ctx, false);
		if (p[1].revents & POLLIN && read(s->attn.kick, &n, sizeof(n)) < 0 && errno != EAGAIN)
			s->stop = STOP_SIGNAL;
		if (attention_pending(&s->attn))
			loop_attend(s);
		if (s->stop)
			return -EINTR;
		p[1].revents = 0;
	}
	return 0;
}

static int read_all(struct stream *s, struct fault *f)
{
	const struct perf_event_header *rec;
	unsigned int look = 0;
	int rc = 0;

	while (!s->stop && (rc = perfdata_next(s->replay->reader, &rec, f)) > 0) {
		take_record(s, rec);
		if (attention_pending(&s->attn))
			loop_attend(s);
		if (!(++look % LOOK_RECORDS)) {
			loss_tell(s, false);
			usage_tell(&s->usage, s->opts->usage_ms);
		}
	}
	return s->stop ? 0 : rc;
}

/* The one event that is wanted of the track; NULL: there are none or several. */
static const struct stream_event *only_event(const struct stream *s, const struct track *t)
{
	const struct stream_event *only = NULL;

	for (uint32_t i = t->first; i != NO_EVENT; i = s->replay->next[i]) {
		if (s->events[i].wanted && only)
			return NULL;
		if (s->events[i].wanted)
			only = &s->events[i];
	}
	return only;
}

static const struct stream_event *plain_event(const struct stream *s, const struct track *t)
{
	const struct stream_event *ev = only_event(s, t);

	if (!ev || !ev->fmt || ev->layout.callchain || ev->layout.group_entry || ev->cpus.n ||
	    ev->filter_here || ev->choosy || t->widened != t->type || s->replay->chooses_tasks ||
	    perfdata_is_foreign(s->replay->reader))
		return NULL;
	return ev;
}

static void find_wanted(struct stream *s)
{
	struct replay *p = s->replay;

	for (size_t i = s->nshown; i < s->nevents; i++)
		s->events[i].wanted = true;
	for (size_t i = 0; i < s->nevents; i++)
		p->tracks[p->track_of[i]].wanted |= s->events[i].wanted;
	for (size_t i = 0; i < p->ntracks; i++)
		p->tracks[i].plain = plain_event(s, &p->tracks[i]);
}

/* Gaps that no sample followed; and what descriptors counted beyond them. */
static void end_losses(struct stream *s)
{
	struct replay *p = s->replay;

	for (uint32_t i = 0; i < p->nqueues; i++)
		if (s->rings[i].gap)
			loss_add(s, &s->rings[i], s->rings[i].gap, STREAM_LOSS_RING, s->rings[i].read_time, 0);
	if (p->counted_lost > p->kernel_lost)
		loss_add(s, &s->rings[0], p->counted_lost - p->kernel_lost, STREAM_LOSS_TAIL, 0, 0);
}

/* What was not read, or not understood, is said to whoever listens. */
static void tell(const struct stream *s)
{
	const struct replay *p = s->replay;
	const struct perfdata_counts *c = perfdata_counts(p->reader);
	int verbose = stream_verbosity(s->opts);

	if (p->unknown)
		fprintf(stderr, "perf-prof: %s: %" PRIu64 " samples bear ids of no event that the recording "
			"has: left out\n", s->opts->input, p->unknown);
	if (c->aux_bytes)
		note(verbose, "%s: %" PRIu64 " bytes of AUX areas (hardware traces) were passed over",
		     s->opts->input, c->aux_bytes);
	if (p->formats_bad)
		note(verbose, "%s: %d formats of tracepoints can't be read", s->opts->input, p->formats_bad);
	if (!s->stop && perfdata_has_no_end(p->reader))
		fprintf(stderr, "perf-prof: %s: its recorder did not end it (it runs still, was killed, or the disk "
			"was full): what came after the last event here is missing\n", s->opts->input);
	if (perfdata_info(p->reader)->unread)
		note(verbose, "%s: %d features of its header can't be read (bits %#" PRIx64 ")", s->opts->input,
		     __builtin_popcountll(perfdata_info(p->reader)->unread), perfdata_info(p->reader)->unread);
	if (perfdata_is_unfinished(p->reader))
		note(verbose, "%s: its recorder did not come to finish it: the machine, build ids and formats of "
		     "tracepoints are missing", s->opts->input);
}

int replay_run(struct stream *s, const struct stream_ops *ops, void *ctx, struct fault *f)
{
	struct perfdata_reader_opts wait = { .wait = wait_for_bytes, .ctx = s };
	int rc;

	/* -i is told by the recording's clock, not by a timer */
	if (loop_begin(s, ops, ctx, 0, f))
		return -1;
	s->replay->interval = ops->interval ? s->opts->interval_ms * MS : 0;
	find_wanted(s);
	perfdata_reader_set_wait(s->replay->reader, &wait);
	loop_set_delivering(s, true);
	rc = ops->started ? ops->started(ctx, f) : 0;
	if (!rc)
		rc = read_all(s, f);
	if (!s->stop || s->stop == STOP_TARGET) {
		deliver_until(s, UINT64_MAX);
		end_losses(s);
	}
	loop_set_delivering(s, false);
	loss_tell(s, true);
	filters_tell(s);
	tell(s);
	return rc;
}
