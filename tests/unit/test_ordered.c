/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of stream/live/barrier.h, tried on made-up CPUs: each takes a time, then publishes
 * the record later, and interrupts may come between. Rings are real ones in plain memory,
 * read by the real ordered.c; the membarrier ends once all sections have ended that were
 * open when it began. Then nothing may ever come late. That this simulation can bring
 * late ones is shown by two wrong rules.
 */
#include "checks.h"

#include "stream/choice/choice.h"
#include "stream/choice/dispatch.h"
#include "stream/rings/ringrecords.h"
#include "stream/state/state.h"

#include <poll.h>
#include <time.h>

/* What is tried with less memory, and with a rule that is wrong. */
static size_t max_held;
static bool ignore_slices;
static bool calm;        /* nothing is inverted over more than a slice */

static struct order *test_order_new(uint32_t nqueues, size_t max_bytes)
{
	return order_new(nqueues, max_held < max_bytes ? max_held : max_bytes);
}

static uint64_t word_of_barrier;

static void test_set_known(struct order *o, uint32_t queue, uint64_t time)
{
	order_set_known(o, queue, ignore_slices ? word_of_barrier : time);
}

static bool without_memory;

static int test_order_push(struct order *o, uint32_t queue, uint64_t time, const void *rec, uint32_t size)
{
	return without_memory ? -ENOMEM : order_push(o, queue, time, rec, size);
}

static int waits;

static int test_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	assert_int_equal(timeout, 1);
	waits++;
	return 0;
}

#define order_new test_order_new
#define order_set_known test_set_known
#define order_push test_order_push
#define poll test_poll
#include "stream/ordered.c"
#undef order_new
#undef order_set_known
#undef order_push
#undef poll

enum { MAX_CPUS = 64, RING_BYTES = 256 << 10, MAX_DEPTH = 3, MAX_RECORD = 60 << 10 };

/* Between taking a time and publishing the record. */
struct section {
	uint64_t time;
	uint32_t size;
};

struct memory {
	struct perf_event_mmap_page page;
	char *data;
	uint64_t lost;                    /* to be told with the next record */
};

/* Rings are exchanged for others: see stream/rings/grow.h. */
enum exchange {
	EXCHANGE_NOT,
	EXCHANGE_REDIRECTING,             /* some events write into the one, some into the other */
	EXCHANGE_WAITING,                 /* for those that began before */
	EXCHANGE_READY,
};

struct cpu {
	struct section open[MAX_DEPTH];   /* nested: interrupts and NMIs */
	int depth;
	bool awaited;                     /* by the membarrier that runs */
	struct memory memory[2];
	unsigned int now;                 /* which of them the reader has */
	enum exchange exchange;
	int before;                       /* sections that began before all were redirected */
};

struct sim {
	struct stream *s;
	struct cpu *cpus;
	uint32_t ncpus;
	uint64_t now;
	bool hasty;                       /* the wrong rule: what is newest is known */
	bool exchanges;                   /* rings are exchanged for others */
	bool forgetful;                   /* the wrong rule: what the other ring holds is not waited for */
	uint64_t exchanged;
	bool barrier_runs;
	uint64_t barrier_for;
	uint64_t written, lost;
	uint64_t delivered, told_lost, last, backwards;
	/* that the simulation is worth its time: */
	uint64_t inverted;
	uint64_t in_time;                 /* delivered while it went on */
};

static struct sim sim;
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 32) * n >> 32);
}

/* ------------------------------------------------------------------------
 * The kernel
 */

static bool put_bytes(struct memory *c, const void *bytes, uint32_t n)
{
	if (c->page.data_head + n - c->page.data_tail > RING_BYTES)
		return false;
	for (uint32_t i = 0; i < n; i++)
		c->data[(c->page.data_head + i) % RING_BYTES] = ((const char *)bytes)[i];
	c->page.data_head += n;
	return true;
}

static bool put_lost(struct memory *c)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} rec = { { PERF_RECORD_LOST, 0, sizeof(rec) }, 0, c->lost };

	if (c->lost && put_bytes(c, &rec, sizeof(rec)))
		c->lost = 0;
	return !c->lost;
}

static struct memory *memory_of(struct cpu *c)
{
	bool either = c->exchange == EXCHANGE_REDIRECTING || (c->exchange == EXCHANGE_WAITING && c->depth < c->before);
	bool other = either ? random_below(2) : c->exchange != EXCHANGE_NOT;

	return &c->memory[other ? !c->now : c->now];
}

static void publish(struct cpu *c, const struct section *section)
{
	static union {
		struct perf_event_header header;
		uint64_t words[MAX_RECORD / 8];
	} rec;

	struct memory *m = memory_of(c);

	rec.header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, (uint16_t)section->size };
	rec.words[1] = section->time;
	if (put_lost(m) && put_bytes(m, &rec, section->size)) {
		sim.written++;
		return;
	}
	m->lost++;
	sim.lost++;
}

static void enter(struct cpu *c)
{
	uint32_t size = random_below(100) ? 16 + 8 * random_below(40)
					  : 16 + 8 * random_below(MAX_RECORD / 8 - 2);

	if (c->depth == MAX_DEPTH)
		return;
	sim.inverted += c->depth > 0;
	sim.now += random_below(3);
	c->open[c->depth++] = (struct section){ sim.now, size };
}

static void leave(struct cpu *c)
{
	if (!c->depth)
		return;
	c->depth--;
	publish(c, &c->open[c->depth]);
	if (c->depth < c->before)
		c->before = c->depth;
	if (!c->depth)
		c->awaited = false;
}

static void leave_all(struct cpu *c)
{
	while (c->depth)
		leave(c);
}

static void storm(struct cpu *c)
{
	for (uint32_t n = random_below(1500); n; n--) {
		enter(c);
		leave(c);
	}
}

/* ------------------------------------------------------------------------
 * What ordered.c calls
 */

int barrier_start(struct barrier *b, int kick)
{
	return 0;
}

void barrier_stop(struct barrier *b)
{
}

uint64_t barrier_passed(const struct barrier *b)
{
	word_of_barrier = atomic_load(&b->passed);
	return word_of_barrier;
}

void barrier_ask(struct barrier *b, uint64_t r)
{
	if (r > atomic_load(&b->asked))
		atomic_store(&b->asked, r);
	if (sim.hasty)
		atomic_store(&b->passed, r);
}

/* The thread's turn: a membarrier begins, or ends if nothing holds it up. */
static void barrier_turn(struct barrier *b)
{
	bool awaited = false;

	for (uint32_t i = 0; i < sim.ncpus; i++) {
		struct cpu *c = &sim.cpus[i];

		if (!sim.barrier_runs)
			c->awaited = c->depth > 0;
		awaited |= c->awaited;
	}
	if (!sim.barrier_runs) {
		sim.barrier_for = atomic_load(&b->asked);
		sim.barrier_runs = true;
	} else if (!awaited) {
		sim.barrier_runs = false;
		if (!sim.hasty)
			atomic_store(&b->passed, sim.barrier_for);
	}
}

void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	uint64_t time = layout_u64(rec, 8);

	sim.delivered++;
	sim.backwards += time < sim.last;
	sim.last = time > sim.last ? time : sim.last;
}

const struct stream_event *dispatch_event_of(const struct stream *s, const struct perf_event_header *rec)
{
	return NULL;   /* only tracepoints here */
}

uint64_t ring_take_lost(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	return ((const uint64_t *)rec)[2];
}

/* So that the clock shows the time of the simulation. */
int64_t stream_realtime_offset(struct stream *s)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)sim.now;
}

void ring_count_unknown(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	s->loss.totals.malformed++;
}

bool choice_wants(struct stream *s, struct ring *ring, const struct perf_event_header *rec)
{
	return true;
}

bool choice_drops(struct stream *s, const struct ring *ring, const struct perf_event_header *rec)
{
	return false;
}

void recorder_take(struct stream *s, struct ring *ring, uint64_t from)
{
}

void ring_check_damage(struct stream *s, struct ring *ring)
{
	assert_int_equal(pev_ring_damaged(ring->ring), 0);
}

void loss_add(struct stream *s, struct ring *ring, uint64_t count, enum stream_loss_cause cause, uint64_t start, uint64_t end)
{
	assert_true(!end || start <= end);
	sim.told_lost += count;
}

void attend_requests(struct stream *s)
{
}

bool grow_is_pending(const struct stream *s)
{
	return false;
}

/* ------------------------------------------------------------------------
 * The world
 */

static int forget(void **state)
{
	max_held = SIZE_MAX;
	calm = false;
	return 0;
}

static void begin(uint32_t ncpus, uint64_t from)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct fault f;

	seed = from * 0x9e3779b97f4a7c15ULL + 1;
	sim = (struct sim){ .s = s, .ncpus = ncpus, .now = 1000 };
	sim.cpus = calloc(ncpus, sizeof(*sim.cpus));
	s->rings.v = calloc(ncpus, sizeof(*s->rings.v));
	s->list.events = calloc(1, sizeof(*s->list.events));
	s->rings.n = ncpus;
	s->list.events[0].layout.time = 8;
	for (uint32_t i = 0; i < ncpus; i++) {
		struct cpu *c = &sim.cpus[i];

		c->memory[0].data = calloc(1, RING_BYTES);
		c->memory[1].data = calloc(1, RING_BYTES);
		s->rings.v[i].ring = calloc(1, sizeof(*s->rings.v[i].ring));
		pev_ring_attach_(s->rings.v[i].ring, &c->memory[0].page, c->memory[0].data, RING_BYTES);
	}
	assert_int_equal(ordered_start(s, &f), 0);
}

static void end(void)
{
	ordered_stop(sim.s);
	for (uint32_t i = 0; i < sim.ncpus; i++) {
		free(sim.cpus[i].memory[0].data);
		free(sim.cpus[i].memory[1].data);
		free(sim.s->rings.v[i].ring);
	}
	free(sim.s->rings.v);
	free(sim.s->list.events);
	free(sim.s);
	free(sim.cpus);
}

static void take_over(struct cpu *c, struct ring *ring)
{
	struct memory *m = &c->memory[!c->now];

	/* what the old one lost after its last record is told at the end, by the descriptors */
	sim.lost -= c->memory[c->now].lost;
	c->memory[c->now].lost = 0;
	c->now = !c->now;
	pev_ring_attach_(ring->ring, &m->page, m->data, RING_BYTES);
	ring->growth = NULL;
	ring->ahead = 0;
	c->exchange = EXCHANGE_NOT;
	sim.exchanged++;
}

/* The next stage of an exchange, where it may come; the rings that take part. */
static void exchange_turn(struct cpu *c, struct ring *ring)
{
	switch (c->exchange) {
	case EXCHANGE_NOT:
		c->exchange = EXCHANGE_REDIRECTING;
		ring->growth = sim.forgetful ? NULL : (struct growth *)c;
		break;
	case EXCHANGE_REDIRECTING:
		c->exchange = EXCHANGE_WAITING;
		c->before = c->depth;
		break;
	case EXCHANGE_WAITING:
		if (!c->before)
			c->exchange = EXCHANGE_READY;
		break;
	case EXCHANGE_READY:
		if (!pev_ring_has_record(ring->ring))
			take_over(c, ring);
	}
}

static void step(void)
{
	uint32_t what = random_below(1000), which = random_below(sim.ncpus);
	struct cpu *c = &sim.cpus[which];
	bool slow = which == sim.ncpus - 1;   /* stays in its sections for long */

	if (what < 350)
		enter(c);
	else if (what < 900 && !slow)
		leave(c);
	else if (what < 400)
		leave_all(c);
	else if (what >= 900 && what < 920)
		barrier_turn(&sim.s->rings.barrier);
	else if (what >= 920 && what < 930)
		ordered_round(sim.s);
	else if (what == 930 && (!calm || !c->depth))
		storm(c);
	else if (what > 930 && what <= 935 && sim.exchanges)
		exchange_turn(c, &sim.s->rings.v[which]);
}

static uint64_t unread(void)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < sim.ncpus; i++)
		lost += sim.cpus[i].memory[0].lost + sim.cpus[i].memory[1].lost + sim.s->rings.v[i].gap;
	return lost;
}

/* Nothing new happens: what is held gets delivered all the same, in a bounded time. */
static void settle(void)
{
	for (uint32_t i = 0; i < sim.ncpus; i++)
		leave_all(&sim.cpus[i]);
	for (int round = 0; round < 2000 && sim.delivered < sim.written; round++) {
		for (uint32_t i = 0; i < sim.ncpus; i++)
			if (sim.cpus[i].exchange != EXCHANGE_NOT)
				exchange_turn(&sim.cpus[i], &sim.s->rings.v[i]);
		ordered_round(sim.s);
		barrier_turn(&sim.s->rings.barrier);
		barrier_turn(&sim.s->rings.barrier);
	}
	assert_int_equal(sim.delivered, sim.written);
	assert_int_equal(sim.told_lost + unread(), sim.lost);
}

enum { STEPS = 40000 };

/* The rule, and rules that are wrong. */
enum rule { RIGHT, HASTY, FORGETFUL, BLIND_TO_SLICES };

/* Late records of a run of many steps. */
static uint64_t run(uint32_t ncpus, uint64_t from, enum rule rule, bool exchanges)
{
	uint64_t late;

	begin(ncpus, from);
	sim.hasty = rule == HASTY;
	sim.forgetful = rule == FORGETFUL;
	ignore_slices = rule == BLIND_TO_SLICES;
	sim.exchanges = exchanges;
	for (int i = 0; i < STEPS; i++)
		step();
	sim.in_time = sim.delivered;
	settle();
	late = order_late(sim.s->rings.order);
	assert_true((late > 0) == (sim.backwards > 0));
	ignore_slices = false;
	end();
	return late;
}

TEST_WITH(nothing_comes_late, forget, NULL)
{
	static const uint32_t cpus[] = { 1, 2, 7, 64 };

	for (size_t i = 0; i < COUNT(cpus); i++)
		for (uint64_t n = 0; n < 3; n++) {
			assert_int_equal(run(cpus[i], i * 16 + n, RIGHT, false), 0);
			assert_true(sim.in_time > 5000 && sim.inverted > 100);
		}
	/* queues that are full most of the time lose in the rings, but neither order nor way */
	for (size_t i = 0; i < COUNT(cpus); i++)
		for (uint64_t n = 0; n < 3; n++) {
			max_held = n ? 64 << 10 : 1;
			calm = true;
			assert_int_equal(run(cpus[i], 100 + i * 16 + n, RIGHT, false), 0);
			assert_true(sim.in_time > 1000 && sim.lost > 0);
		}
}

TEST_WITH(nor_while_rings_are_exchanged, forget, NULL)
{
	static const uint32_t cpus[] = { 1, 2, 7 };

	for (size_t i = 0; i < COUNT(cpus); i++)
		for (uint64_t n = 0; n < 4; n++) {
			assert_int_equal(run(cpus[i], i * 16 + n, RIGHT, true), 0);
			assert_true(sim.exchanged > 3 && sim.in_time > 1000);
		}
}

/* The newest time is no watermark, nor is the barrier alone: what a slice left in its ring was forgotten once. */
TEST_WITH(a_wrong_rule_shows, forget, NULL)
{
	for (enum rule rule = HASTY; rule <= BLIND_TO_SLICES; rule++) {
		uint64_t late = 0;

		for (uint64_t n = 0; n < 4; n++)
			late += run(7, n, rule, rule == FORGETFUL);
		assert_true(late > 0);
	}
}

/* After the end of the run, no barrier is needed: all rings are taken first. */
TEST_WITH(the_rest_comes_in_order, forget, NULL)
{
	max_held = 64 << 10;
	calm = true;
	begin(7, 5);
	for (int i = 0; i < STEPS; i++)
		step();
	for (uint32_t i = 0; i < sim.ncpus; i++) {
		leave_all(&sim.cpus[i]);
		storm(&sim.cpus[i]);
	}
	sim.s->run.draining = true;
	while (ordered_round(sim.s))
		;
	assert_int_equal(sim.delivered, sim.written);
	assert_int_equal(order_late(sim.s->rings.order), 0);
	assert_int_equal(sim.backwards, 0);
	assert_int_equal(sim.told_lost + unread(), sim.lost);
	end();
}

/* What is held when the run is broken off is counted as lost, all of it. */
TEST_WITH(what_is_discarded_is_told, forget, NULL)
{
	uint64_t waiting = 0;

	begin(7, 6);
	for (int i = 0; i < STEPS; i++)
		step();
	ordered_round(sim.s);
	for (size_t i = 0; i < sim.ncpus; i++) {
		const struct perf_event_header *rec;
		struct pev_ring *ring = sim.s->rings.v[i].ring;

		pev_ring_begin(ring);
		while ((rec = pev_ring_next(ring)))
			if (rec->type == PERF_RECORD_LOST)
				sim.told_lost += ring_take_lost(sim.s, &sim.s->rings.v[i], rec);
			else
				waiting++;
		waiting += sim.cpus[i].memory[0].lost;
	}
	ordered_discard(sim.s);
	assert_true(order_empty(sim.s->rings.order));
	assert_int_equal(sim.delivered + sim.told_lost + waiting, sim.written + sim.lost);
	end();
}

/* Without memory, samples and the gaps between them are lost; none of it silently. */
TEST_WITH(what_has_no_memory_is_told, forget, NULL)
{
	begin(2, 7);
	sim.cpus[0].memory[0].lost = sim.lost = 1000;
	without_memory = true;
	for (int i = 0; i < 5; i++) {
		enter(&sim.cpus[0]);
		leave(&sim.cpus[0]);
	}
	ordered_round(sim.s);
	without_memory = false;
	assert_int_equal(sim.written, 5);
	assert_int_equal(sim.told_lost, 1005);
	end();
}

/* One time that can't be doesn't make all the others known. */
TEST_WITH(a_time_ahead_of_the_clock, forget, NULL)
{
	begin(7, 8);
	publish(&sim.cpus[3], &(struct section){ UINT64_MAX / 2, 64 });
	for (int i = 0; i < STEPS; i++)
		step();
	assert_true(sim.in_time == 0 && sim.delivered > 5000);
	assert_true(sim.s->rings.newest <= sim.now);
	sim.s->run.draining = true;   /* it is the last one, at the end of all */
	settle();
	assert_int_equal(order_late(sim.s->rings.order), 0);
	assert_int_equal(sim.backwards, 0);
	end();
}

/* Full queues, and a CPU that holds the barrier up: no round does anything. */
TEST_WITH(full_queues_wait, forget, NULL)
{
	max_held = 1;
	begin(2, 9);
	enter(&sim.cpus[1]);
	storm(&sim.cpus[0]);
	for (int i = 0; i < 10; i++) {
		storm(&sim.cpus[0]);
		barrier_turn(&sim.s->rings.barrier);
		ordered_round(sim.s);
	}
	waits = 0;
	for (int i = 0; i < 10; i++) {
		barrier_turn(&sim.s->rings.barrier);
		ordered_round(sim.s);
	}
	assert_int_equal(waits, 10);
	settle();
	end();
}
