/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes samples and records of tasks to the consumer, in order of time: finds the raw data of each
 * sample, and applies targets, filters and limits.
 */
#include "stream/choice/choice.h"
#include "stream/choice/dispatch.h"
#include "stream/list/maker.h"
#include "stream/replay/private.h"
#include "stream/rings/attend.h"
#include "stream/rings/gap.h"
#include "stream/rings/rings.h"

#include <string.h>

enum { MAX_FOLLOWED = 1 << 16, MAX_INTERVALS = 100000, MAX_EMPTY = 1000000 };

/* ---- one sample --------------------------------------------------------------- */

/* Swaps the bytes of raw data of the other byte order: the tracepoint's format tells the sizes of
 * fields. */
static void turn_raw(const struct track *t, const struct perf_event_header *rec, const struct layout *l)
{
	uint32_t size;
	const void *raw = layout_raw(l, rec, &size);

	if (raw)
		tracefmt_swap(t->fmt, (void *)raw, size);
}

/* The usual layout: no part of variable length before the raw data. */
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

/* The same for any layout. False for a sample that contradicts the format of its event. */
static inline bool find_raw(struct stream_event *ev, const struct perf_event_header *rec, const void **raw, uint32_t *size)
{
	if (__builtin_expect(ev->fmt && !ev->layout.callchain && !ev->layout.group_entry, 1))
		return find_plain_raw(ev, rec, raw, size);
	return dispatch_as(ev, rec, raw, size);
}

static bool is_of_targets(struct replay *p, const struct stream_event *ev, const struct perf_event_header *rec)
{
	const int pid = (int)layout_u32(rec, ev->layout.tid), tid = (int)layout_u32(rec, ev->layout.tid + 4);
	const bool is = numlist_has(&p->pids, pid) || numlist_has(&p->tids, tid);

	p->found |= is;
	if (!is && !p->thread && numlist_has(&p->pids, tid)) {
		p->thread = tid;
		p->thread_of = pid;
	}
	return is;
}

/* Whether the sample belongs to the targets. Live, the kernel writes no others. */
static bool is_watched(struct replay *p, const struct stream_event *ev, const struct perf_event_header *rec, uint32_t cpu)
{
	if (ev->asked.cpus.n && !numlist_has(&ev->asked.cpus, (int)cpu))
		return false;
	return __builtin_expect(!p->chooses_tasks, 1) || (ev->asked.everywhere && p->found) ||
	       is_of_targets(p, ev, rec) || ev->asked.everywhere;
}

static void deliver_one(struct stream *s, struct ring *ring, struct stream_event *ev,
			const struct perf_event_header *rec, uint32_t cpu)
{
	const void *raw;
	uint32_t size;

	if (__builtin_expect(!find_raw(ev, rec, &raw, &size), 0))
		s->loss.totals.malformed++;
	else if (is_watched(s->replay, ev, rec, cpu))
		choice_offer(s, ring, ev, rec, raw, size, cpu);
}

/* The fast path, for most samples. */
static inline void deliver_plain(struct stream *s, const struct stream_event *ev,
				 const struct perf_event_header *rec, uint32_t cpu)
{
	const void *raw;
	uint32_t size;

	if (__builtin_expect(!find_plain_raw(ev, rec, &raw, &size), 0)) {
		s->loss.totals.malformed++;
		return;
	}
	stream_gather(s, ev, rec, raw, size, cpu);
}

__attribute__((noinline)) static void
deliver_sample(struct stream *s, struct ring *ring, const struct track *t, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	uint32_t cpu = cpu_of(t, rec);

	if (__builtin_expect(t->widened != t->type, 0)) {
		rec = widen_sample(rec, t->type, t->widened, t->period, p->wide);
		if (!rec) {
			s->loss.totals.malformed++;
			return;
		}
	}
	if (t->fmt && perfdata_is_foreign(p->reader))
		turn_raw(t, rec, &s->list.events[t->first].layout);
	for (uint32_t i = t->first; i != NO_EVENT && !s->run.stopping; i = p->next[i])
		if (s->list.events[i].wanted)
			deliver_one(s, ring, &s->list.events[i], rec, cpu);
}

/* ---- tasks ------------------------------------------------------------------- */

/* Children of watched tasks are watched, too. */
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

/* The kernel's own code, which it maps into each program next to the stack, lies below 4 GiB in those of 32 bits. */
static void find_narrow(struct numlist *narrow, const struct pev_record *r)
{
	const bool is_mapped = r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2;

	if (r->type == PERF_RECORD_COMM && r->misc & PERF_RECORD_MISC_COMM_EXEC)
		numlist_remove(narrow, (int)r->comm.pid);
	else if (r->type == PERF_RECORD_FORK && r->task.pid != r->task.ppid && !numlist_has(narrow, (int)r->task.ppid))
		numlist_remove(narrow, (int)r->task.pid);
	else if (narrow->n < MAX_FOLLOWED && r->type == PERF_RECORD_FORK && numlist_has(narrow, (int)r->task.ppid))
		numlist_add(narrow, (int)r->task.pid);
	else if (narrow->n < MAX_FOLLOWED && is_mapped && !strcmp(r->mmap.filename, "[vdso]") && !(r->mmap.addr >> 32))
		numlist_add(narrow, (int)r->mmap.pid);
}

void delivery_task(struct stream *s, const struct perf_event_header *rec)
{
	struct replay *p = s->replay;
	const struct perfdata_event *e = perfdata_event(p->reader, (size_t)perfdata_event_of(p->reader, rec));
	struct pev_record out;

	replay_mend(e, rec);
	if (pev_decode(rec, rec->size, &e->format, &out)) {
		s->loss.totals.malformed++;
		return;
	}
	/* perf also writes a FORK record without a time for each thread that existed before */
	if (out.type == PERF_RECORD_FORK && p->chooses_tasks && out.sample_id.time &&
	    out.sample_id.time != UINT64_MAX)
		follow(s, &out.task);
	if (out.type == PERF_RECORD_MMAP || out.type == PERF_RECORD_MMAP2)
		replay_identify(p, &out.mmap);
	find_narrow(&p->narrow, &out);
	ids_take_task(s, &out);
}

/* ---- delivery, in order --------------------------------------------------------- */

static uint64_t one_interval_after(const struct replay *p, uint64_t time)
{
	return time < UINT64_MAX - p->interval ? time + p->interval : UINT64_MAX;
}

/* -i by the recording's clock. Gaps without events have intervals, too, up to a limit: damaged
 * clocks jump with each event. There is none at UINT64_MAX. */
static void pass_intervals(struct stream *s, uint64_t time)
{
	struct replay *p = s->replay;

	if (!p->next_interval)
		p->next_interval = one_interval_after(p, time);
	for (uint32_t i = 0; time >= p->next_interval && p->next_interval != UINT64_MAX && !s->run.stopping &&
	     i < MAX_INTERVALS && (!i || p->empty_intervals < MAX_EMPTY); i++) {
		p->reached = p->next_interval;
		stream_flush(s);
		s->run.ops->interval(s->run.ctx);
		p->empty_intervals += i > 0;
		p->next_interval = one_interval_after(p, p->next_interval);
		if (attention_pending(&s->run.attention))
			attend_requests(s);
	}
	if (time >= p->next_interval)
		p->next_interval = one_interval_after(p, time);
	p->reached = time;
}

static void deliver_other(struct stream *s, struct ring *ring, const struct order_item *item)
{
	const struct perf_event_header *rec = item->rec;

	if (rec->type == PERF_RECORD_LOST)
		gap_deliver(s, ring, rec);
	else
		delivery_task(s, rec);
}

/* Inline in the loop over a run, which has its registers loaded. */
__attribute__((always_inline)) static inline void
deliver_by(struct stream *s, const struct track *t, uint32_t queue, const struct perf_event_header *rec, uint64_t time)
{
	if (__builtin_expect(s->replay->interval != 0, 0))
		pass_intervals(s, time);
	if (__builtin_expect(s->run.stopping, 0))
		return;
	if (__builtin_expect(t->plain != NULL, 1))
		deliver_plain(s, t->plain, rec, cpu_of(t, rec));
	else
		deliver_sample(s, &s->rings.v[t->cpu_at ? queue : 0], t, rec);
}

static void deliver_item(struct stream *s, const struct order_item *item)
{
	const struct perf_event_header *rec = item->rec;

	if (__builtin_expect(rec->type != PERF_RECORD_SAMPLE, 0))
		deliver_other(s, &s->rings.v[item->queue], item);
	else
		deliver_by(s, &s->replay->tracks[item->tag], item->queue, rec, item->time);
	if (attention_pending(&s->run.attention))
		attend_requests(s);
}

/* Whether samples of the run may be passed without a look at anything but themselves. */
static bool passes_alike(const struct stream *s, const struct track *t)
{
	return t && t->plain && s->run.ops->alike && !s->replay->interval && !s->opts->exit_n;
}

/* Passes or gathers the samples at `at` that are due and alike. Returns their bytes; 0: the first one is malformed. */
static size_t deliver_alike(struct stream *s, const struct track *t, const struct order_due *due, const char *at)
{
	const struct perf_event_header *rec = (const void *)at;
	struct stream_alike v = { .event = t->plain, .first = at, .size = rec->size, .cpu = cpu_of(t, rec) };
	const size_t raw_at = t->plain->layout.raw, time_at = due->time_at;
	const uint64_t header = *(const uint64_t *)at, until = due->until;
	const void *raw;

	if (!find_plain_raw(v.event, rec, &raw, &v.raw_size))
		return 0;
	v.raw_at = raw_at + sizeof(uint32_t);
	while (v.n < STREAM_ALIKE && at < due->end && *(const uint64_t *)at == header &&
	       *(const uint64_t *)(at + time_at) <= until && *(const uint32_t *)(at + raw_at) == v.raw_size) {
		v.n++;
		at += v.size;
	}
	if (v.n < STREAM_FEW_ALIKE)
		stream_gather_alike(s, &v);
	else
		stream_pass_alike(s, &v);
	return v.n * v.size;
}

/* Delivers samples of the run, as long as they are due. */
static void deliver_run(struct stream *s, const struct order_due *due)
{
	struct replay *p = s->replay;
	const struct track *t = due->item.tag == MIXED ? NULL : &p->tracks[due->item.tag];
	const bool alike = passes_alike(s, t);
	const char *at = due->item.rec;
	uint64_t time = due->item.time, last;
	void *memory;

	do {
		const struct perf_event_header *rec = (const void *)at;
		size_t passed = alike ? deliver_alike(s, t, due, at) : 0;

		if (passed)
			rec = (const void *)(at + passed - rec->size);
		else
			deliver_by(s, t ? t : &p->tracks[perfdata_event_of(p->reader, rec)], due->item.queue, rec, time);
		last = layout_u64(rec, due->time_at);
		if (attention_pending(&s->run.attention))
			attend_requests(s);
		at = (const char *)rec + rec->size;
		if (at == due->end)
			break;
		time = layout_u64((const void *)at, due->time_at);
	} while (time <= due->until && !s->run.stopping);
	memory = order_pass(s->rings.order, due, at, last);
	if (!memory)
		return;
	stream_flush(s);
	perfdata_unpin(p->reader, memory);
}

static bool deliver_due(struct stream *s, uint64_t watermark)
{
	struct order_due due;

	if (order_is_borrowed(s->rings.order))
		stream_flush(s);
	if (s->run.stopping || !order_due(s->rings.order, watermark, &due))
		return false;
	if (due.end)
		deliver_run(s, &due);
	else
		deliver_item(s, &due.item);
	return true;
}

void delivery_until(struct stream *s, uint64_t watermark)
{
	while (deliver_due(s, watermark))
		;
	stream_flush(s);
}

static bool is_full(const struct stream *s)
{
	return order_bytes(s->rings.order) + perfdata_pinned(s->replay->reader) >=
	       (s->replay->ordered ? REPLAY_MAX_ROUNDS : REPLAY_MAX_HELD);
}

void delivery_make_room(struct stream *s)
{
	while (is_full(s) && deliver_due(s, UINT64_MAX))
		;
	stream_flush(s);
}
