/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/watched/sideband.h"

#include "perfdata/write/writer.h"
#include "perfevent/decode/body.h"
#include "perfevent/rings/ring_private.h"
#include "stream/live/own.h"
#include "stream/code/buildids.h"
#include "stream/code/jitnames.h"
#include "stream/watched/execs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Mappings identify files by device, inode and generation, not by attr.build_id: a kernel (seen on
 * 6.18) does not clear the build id flag of a record before it writes the same record for the next
 * listener. If we asked for build ids, perf(1) running at the same time would take an inode for a
 * build id, and abort. Because others may ask, we ignore the flag.
 */
#define MISC_BUILD_ID ((uint16_t)(1 << 14))   /* PERF_RECORD_MISC_MMAP_BUILD_ID, as a number */

/* Pages of 4 KiB: room for about 2,000 names, or 4,000 mappings. MAX_QUEUE: bytes. */
enum { NAME_PAGES = 16, MAPPING_PAGES = 128, MAX_QUEUE = 4 << 20 };

/* A record of the kernel that waits for its time. */
struct queued {
	uint64_t time;
	_Alignas(8) struct perf_event_header rec;   /* followed by the rest of the record */
};

struct side_ring {
	struct pev_event *owner;
	struct pev_ring *ring;
	char *queue;                   /* consecutive struct queued */
	size_t head, tail, cap;
	size_t peeked;                 /* up to here they were peeked at; may be below head */
	uint64_t last;                 /* latest time in the queue so far */
};

struct sideband {
	const struct perf_clock *clock;
	uint64_t more_sample_type;
	struct perfdata_writer **writer;  /* NULL or pointing to NULL: nothing is recorded */
	struct buildids *buildids;
	struct jitnames *jitnames;
	struct own *own;               /* NULL: not needed */
	struct execs *execs;           /* NULL: not needed */
	struct pev_format format;
	enum side_maps mappings;
	bool cgroups;
	pid_t pid;                     /* a forked child does not have the rings */
	struct pev_event **events;
	size_t nevents;
	struct side_ring *rings;
	size_t nrings;
	uint64_t *next;                /* earliest time in the queues; UINT64_MAX: all empty */
	uint64_t unheard;              /* *next without a consumer */
	uint64_t lost, lost_at;        /* not handed over yet */
	uint64_t id;                   /* for the file: of the first event */
	bool apart;
	bool no_ksymbols;              /* the kernel is older than Linux 5.1 */
	bool has_ksymbols;
	bool taking;                   /* the consumer is being called: queues must not change */
	bool peeking;                  /* in the middle of a lookup: nothing is handed over */
	bool was_peeked;               /* the record that is being handed over */
	sideband_fn *fn;
	void *ctx;
};

/* ---- opening -------------------------------------------------------------- */

static void dummy_attr(const struct sideband *b, struct perf_event_attr *attr)
{
	pev_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | b->more_sample_type;
	attr->watermark = 1;
	attr->wakeup_watermark = UINT32_MAX;   /* no wakeups: nobody polls it */
	perf_clock_attr(b->clock, attr);
}

static int open_ring(struct sideband *b, int cpu, unsigned int most)
{
	struct side_ring *ring = &b->rings[b->nrings++];
	unsigned int pages = b->mappings ? MAPPING_PAGES : NAME_PAGES;
	struct perf_event_attr attr;
	int rc;

	while (most && pages > most)
		pages /= 2;
	dummy_attr(b, &attr);
	rc = pev_event_open(&ring->owner, &attr, pev_target_thread_on_cpu(gettid(), cpu), NULL, NULL);
	if (rc)
		return rc;
	do
		rc = pev_ring_map(&ring->ring, ring->owner, pages, NULL);
	while (rc && (pages /= 2) >= SIDEBAND_LEAST_PAGES);
	return rc;
}

static void event_attr(const struct sideband *b, struct perf_event_attr *attr)
{
	dummy_attr(b, attr);
	attr->comm = attr->task = 1;
	attr->comm_exec = 1;
	attr->mmap = attr->mmap2 = b->mappings != SIDE_MAPS_NONE || b->execs;
	attr->mmap_data = b->mappings == SIDE_MAPS_ALL;
	attr->cgroup = b->cgroups;
}

static int try_event(struct sideband *b, const struct task_target *task, int cpu, bool inherit)
{
	struct perf_event_attr attr;

	event_attr(b, &attr);
	attr.inherit = task->tid >= 0 && inherit;
	attr.sample_type |= attr.inherit && b->apart ? PERF_SAMPLE_READ : 0;   /* it takes no samples */
	/* an event of a task would have KSYMBOL records only for what that task does */
	attr.ksymbol = attr.mmap && task->tid < 0 && !b->no_ksymbols;
	return pev_event_open(&b->events[b->nevents], &attr, targets_of(task, cpu), NULL, NULL);
}

static int open_event(struct sideband *b, const struct task_target *task, int cpu,
		      struct pev_event *owner, bool inherit)
{
	struct pev_event **ev = &b->events[b->nevents];
	int rc = try_event(b, task, cpu, inherit);

	if (rc == -EINVAL && b->apart) {
		b->apart = false;
		rc = try_event(b, task, cpu, inherit);
	}
	if (rc == -EINVAL && !b->no_ksymbols) {
		b->no_ksymbols = true;
		rc = try_event(b, task, cpu, inherit);
	}
	if (rc)
		return rc;
	b->has_ksymbols |= task->tid < 0 && b->mappings && !b->no_ksymbols;
	b->nevents++;
	return pev_event_set_output(*ev, owner);
}

static int open_all_cpus(struct sideband *b, const struct targets *t, const struct sideband_opts *opts)
{
	for (size_t c = 0; c < t->cpus.n; c++) {
		int rc = open_ring(b, t->cpus.v[c], opts->pages);

		for (size_t i = 0; i < t->ntasks && !rc; i++)
			rc = open_event(b, &t->tasks[i], t->cpus.v[c], b->rings[c].owner, opts->inherit);
		if (rc)
			return rc;
	}
	return 0;
}

bool sideband_describe(struct sideband *b, struct perfdata_writer **writer, struct buildids *buildids,
		       struct jitnames *jitnames, uint64_t *id)
{
	uint64_t *ids = calloc(b->nevents + 1, sizeof(*ids));
	struct perf_event_attr attr;
	size_t n = 0;

	for (size_t i = 0; ids && i < b->nevents; i++)
		n += !pev_event_id(b->events[i], &ids[n]);
	event_attr(b, &attr);
	attr.ksymbol = b->has_ksymbols;
	if (!b->mappings)   /* they are not written */
		attr.mmap = attr.mmap2 = 0;
	if (n) {
		perfdata_put_attr(*writer, &attr, ids, n);
		*id = b->id = ids[0];
		b->writer = writer;
		b->buildids = buildids;
		b->jitnames = jitnames;
	}
	free(ids);
	return n != 0;
}

void sideband_reopen(struct sideband *b, const struct targets *t, int cpu)
{
	struct pev_event **events = realloc(b->events, (b->nevents + t->ntasks) * sizeof(*events));

	b->events = events ? events : b->events;
	for (size_t c = 0; c < t->cpus.n && events; c++)
		for (size_t i = 0; i < t->ntasks && t->cpus.v[c] == cpu; i++)
			if (t->tasks[i].tid < 0)
				open_event(b, &t->tasks[i], cpu, b->rings[c].owner, false);
}

size_t sideband_descriptors(const struct targets *t)
{
	return t->cpus.n * (1 + t->ntasks);
}

unsigned int sideband_pages(const struct sideband *b)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < b->nrings; i++)
		if (pev_ring_size(b->rings[i].ring) < least)
			least = pev_ring_size(b->rings[i].ring);
	return b->nrings ? (unsigned int)(least / (uint64_t)sysconf(_SC_PAGESIZE)) : 0;
}

struct sideband *sideband_open(const struct targets *t, const struct sideband_opts *opts)
{
	struct sideband *b = calloc(1, sizeof(*b));
	struct perf_event_attr attr;

	if (!b)
		return NULL;
	b->clock = opts->clock;
	b->more_sample_type = opts->more_sample_type;
	b->apart = opts->apart;
	dummy_attr(b, &attr);
	pev_format_from_attr(&b->format, &attr);
	b->mappings = opts->mappings;
	/* root reads all files, and its events end only at programs that are set-user-ID of others: not worth records of mappings */
	b->execs = opts->inherit && t->nthreads && (b->mappings || geteuid()) ? execs_new() : NULL;
	b->cgroups = opts->cgroups;
	b->pid = getpid();
	b->next = &b->unheard;
	b->unheard = UINT64_MAX;
	b->rings = calloc(t->cpus.n, sizeof(*b->rings));
	b->events = calloc(t->cpus.n * t->ntasks, sizeof(*b->events));
	if (!b->rings || !b->events || open_all_cpus(b, t, opts)) {
		sideband_free(b);
		return NULL;
	}
	return b;
}

void sideband_free(struct sideband *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nevents; i++)
		pev_event_close(b->events[i]);
	for (size_t i = 0; b->rings && i < b->nrings; i++) {
		pev_ring_unmap(b->rings[i].ring);
		pev_event_close(b->rings[i].owner);
		free(b->rings[i].queue);
	}
	execs_free(b->execs);
	free(b->events);
	free(b->rings);
	free(b);
}

bool sideband_is_apart(const struct sideband *b)
{
	return b->apart;
}

const struct execs *sideband_execs(const struct sideband *b)
{
	return b->execs;
}

void sideband_set_consumer(struct sideband *b, sideband_fn *fn, void *ctx, uint64_t *next)
{
	b->fn = fn;
	b->ctx = ctx;
	*next = *b->next;
	b->next = next;
}

void sideband_set_own(struct sideband *b, struct own *own)
{
	b->own = own;
}

/* ---- queues --------------------------------------------------------------- */

static size_t queued_size(const struct perf_event_header *rec)
{
	return offsetof(struct queued, rec) + ((rec->size + 7u) & ~7u);
}

static struct queued *queued_at(const struct side_ring *ring, size_t at)
{
	return at < ring->tail ? (struct queued *)(void *)(ring->queue + at) : NULL;
}

static size_t first_unpeeked(const struct side_ring *ring)
{
	return ring->peeked > ring->head ? ring->peeked : ring->head;
}

static bool make_room(struct side_ring *ring, size_t size, size_t most)
{
	size_t cap = ring->cap ? ring->cap : 4096;
	char *queue;

	if (ring->head && ring->tail + size > ring->cap) {
		memmove(ring->queue, ring->queue + ring->head, ring->tail - ring->head);
		ring->tail -= ring->head;
		ring->peeked = first_unpeeked(ring) - ring->head;
		ring->head = 0;
	}
	while (cap < ring->tail + size)
		cap *= 2;
	if (cap == ring->cap)
		return true;
	queue = cap <= most ? realloc(ring->queue, cap) : NULL;
	if (!queue)
		return false;
	ring->queue = queue;
	ring->cap = cap;
	return true;
}

static void pass(const struct sideband *b, const struct perf_event_header *h, sideband_fn *fn, void *ctx)
{
	struct pev_record rec;

	if (fn && !pev_decode(h, h->size, &b->format, &rec))
		fn(ctx, &rec);
}

/* The ring with the earliest record that was not handed over, or not peeked at. */
static struct side_ring *earliest(struct sideband *b, bool unpeeked)
{
	struct side_ring *first = NULL;
	uint64_t time = UINT64_MAX;

	for (size_t i = 0; i < b->nrings; i++) {
		struct side_ring *ring = &b->rings[i];
		const struct queued *q = queued_at(ring, unpeeked ? first_unpeeked(ring) : ring->head);

		if (q && (!first || q->time < time)) {
			first = ring;
			time = q->time;
		}
	}
	return first;
}

static void hand_over_until(struct sideband *b, uint64_t time)
{
	struct side_ring *ring;
	struct queued *q;

	b->taking = true;
	while ((ring = earliest(b, false)) && (q = queued_at(ring, ring->head))->time <= time) {
		b->was_peeked = ring->head < ring->peeked;
		ring->head += queued_size(&q->rec);
		pass(b, &q->rec, b->fn, b->ctx);
	}
	*b->next = ring ? q->time : UINT64_MAX;
	b->was_peeked = b->taking = false;
}

static bool is_of_use(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_LOST:
		return true;
	default:
		return false;
	}
}

/* Reports records that did not fit, like those that the kernel lost. */
static void tell_lost(struct sideband *b)
{
	struct pev_record rec = { .type = PERF_RECORD_LOST, .sample_id.time = b->lost_at, .lost.lost = b->lost };

	if (!b->lost)
		return;
	b->lost = 0;
	b->taking = true;
	if (b->fn)
		b->fn(b->ctx, &rec);
	b->taking = false;
}

static void lose(struct sideband *b, const struct side_ring *ring)
{
	execs_see(b->execs, &(struct pev_record){ .type = PERF_RECORD_LOST, .sample_id.time = ring->last, .lost.lost = 1 });
	b->lost++;
	b->lost_at = ring->last;
	if (!b->peeking)
		tell_lost(b);
}

/* If the queue is full, hands over all records up to its latest one, those of other queues included; but not in a lookup. */
static void queue_record(struct sideband *b, struct side_ring *ring,
			 const struct perf_event_header *h)
{
	size_t size = offsetof(struct queued, rec) + h->size + 8u;
	struct pev_record rec;
	struct queued *q;

	if (!is_of_use(h->type))
		return;
	if (!b->mappings && (h->type == PERF_RECORD_MMAP || h->type == PERF_RECORD_MMAP2)) {
		if (!pev_decode(h, h->size, &b->format, &rec))
			execs_see(b->execs, &rec);
		return;
	}
	if (!make_room(ring, size, b->peeking ? SIZE_MAX : MAX_QUEUE)) {
		if (!b->peeking)
			hand_over_until(b, ring->last);
		if (!make_room(ring, size, MAX_QUEUE)) {
			lose(b, ring);
			return;
		}
	}
	q = (struct queued *)(void *)(ring->queue + ring->tail);
	memcpy(&q->rec, h, h->size);
	q->rec.misc &= (uint16_t)~MISC_BUILD_ID;
	q->rec.size = (uint16_t)pev_true_size_(h, h->size, &b->format, false);
	if (b->writer)   /* the file does not name events that were opened later */
		memcpy((char *)&q->rec + q->rec.size - sizeof(b->id), &b->id, sizeof(b->id));
	if (b->writer && *b->writer)
		perfdata_put(*b->writer, buildids_mark(b->buildids, &q->rec), q->rec.size);
	if (pev_decode(&q->rec, q->rec.size, &b->format, &rec)) {
		lose(b, ring);
		return;
	}
	if (rec.type == PERF_RECORD_EXIT && b->own && rec.task.tid == rec.task.pid)
		own_ended(b->own, rec.task.pid, rec.sample_id.time);
	execs_see(b->execs, &rec);
	q->time = rec.sample_id.time;
	if (b->writer && *b->writer)
		jitnames_saw(b->jitnames, &q->rec, q->time);
	ring->last = q->time > ring->last ? q->time : ring->last;
	ring->tail += queued_size(&q->rec);
	if (q->time < *b->next)
		*b->next = q->time;
}

void sideband_collect(struct sideband *b)
{
	const struct perf_event_header *h;

	if (b->taking || getpid() != b->pid)
		return;
	for (size_t i = 0; i < b->nrings; i++) {
		struct side_ring *ring = &b->rings[i];

		if (!pev_ring_begin(ring->ring))
			continue;
		while ((h = pev_ring_next(ring->ring)))
			queue_record(b, ring, h);
		pev_ring_end(ring->ring);
	}
	if (!b->peeking)
		tell_lost(b);
}

void sideband_peek(struct sideband *b, sideband_fn *fn, void *ctx)
{
	const bool taking = b->taking;
	struct side_ring *ring;

	b->peeking = true;
	sideband_collect(b);
	b->peeking = false;
	b->taking = true;
	while ((ring = earliest(b, true))) {
		const struct queued *q = queued_at(ring, first_unpeeked(ring));

		ring->peeked = first_unpeeked(ring) + queued_size(&q->rec);
		pass(b, &q->rec, fn, ctx);
	}
	b->taking = taking;
}

bool sideband_was_peeked(const struct sideband *b)
{
	return b->was_peeked;
}

uint64_t sideband_time(const struct sideband *b)
{
	uint64_t time = 0;

	for (size_t i = 0; i < b->nrings; i++)
		time = b->rings[i].last > time ? b->rings[i].last : time;
	return time;
}

bool sideband_is_pressed(const struct sideband *b)
{
	if (getpid() != b->pid)
		return true;
	for (size_t i = 0; i < b->nrings; i++)
		if (pev_ring_waiting_(b->rings[i].ring) > pev_ring_size(b->rings[i].ring) / 4)
			return true;
	return false;
}

void sideband_take(struct sideband *b, uint64_t time)
{
	if (!b->taking)
		hand_over_until(b, time);
}
