/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merge against a model of it, under hostile interleavings: every record comes out
 * once, whole, in its place; late ones are counted exactly; memory stays in its bounds.
 *
 * The allocator of order.c and held.c is counted here, and fails when told to.
 */
#include "checks.h"

#include <malloc.h>
#include <stdbool.h>

static size_t allocated, peak;
static long fail_after = -1;     /* allocations that still succeed; -1: all */

static void *counted(void *p)
{
	if (p)
		allocated += malloc_usable_size(p);
	if (allocated > peak)
		peak = allocated;
	return p;
}

static bool fails(void)
{
	if (fail_after > 0)
		fail_after--;
	else
		return fail_after == 0;
	return false;
}

static void *test_allocate(size_t n)
{
	return fails() ? NULL : counted(malloc(n));
}

static void *test_allocate_zeroed(size_t n, size_t size)
{
	return fails() ? NULL : counted(calloc(n, size));
}

static void *test_reallocate(void *p, size_t n, size_t size)
{
	if (fails())
		return NULL;
	allocated -= p ? malloc_usable_size(p) : 0;
	return counted(reallocarray(p, n, size));
}

static void test_release(void *p)
{
	allocated -= p ? malloc_usable_size(p) : 0;
	free(p);
}

#define malloc test_allocate
#define calloc test_allocate_zeroed
#define free test_release
#define reallocarray test_reallocate
#include "stream/order/held.c"
#include "stream/order/order.c"
#undef reallocarray
#undef malloc
#undef calloc
#undef free

/* ------------------------------------------------------------------------
 * The model
 */

enum { MAX_K = 512, MAX_HELD = 20000, MAX_SIZE = ORDER_MAX_RECORD };

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 32) * n >> 32);
}

struct record {
	uint64_t time, number;
	uint32_t queue, size;
	bool late;
};

/* What was pushed and is not popped, in no order. */
struct model {
	struct order *o;
	uint32_t k;
	size_t max_bytes;
	struct record held[MAX_HELD];
	size_t nheld;
	uint64_t now[MAX_K];         /* newest time of each queue */
	uint64_t number;             /* of records pushed */
	uint64_t popped, late, delivered;
	uint64_t bytes;
};

static uint64_t buffer[MAX_SIZE / 8];

/* Words of a record follow from its number; the first ones say what it is. */
static void make_record(const struct record *h)
{
	uint64_t head[] = { h->number, h->time };

	for (uint32_t i = 0; i < h->size / 8; i++)
		buffer[i] = h->number * 0x9e3779b97f4a7c15ULL + i;
	memcpy(buffer, head, h->size < sizeof(head) ? h->size : sizeof(head));
}

static uint32_t random_size(void)
{
	switch (random_below(64)) {
	case 0:
		return MAX_SIZE - 8 * random_below(4);
	case 1:
		return 8 + 8 * random_below(MAX_SIZE / 8);
	case 2: case 3:
		return 8 * (1 + random_below(1024));
	default:
		return 8 * (1 + random_below(24));
	}
}

static void push(struct model *m, uint32_t queue, uint64_t time, uint32_t size)
{
	struct record *h = &m->held[m->nheld];

	assert_true(m->nheld < MAX_HELD);
	*h = (struct record){ time, m->number, queue, size, time < m->delivered };
	make_record(h);
	assert_int_equal(order_push(m->o, queue, time, buffer, size), 0);
	m->nheld++;
	m->number++;
	m->late += h->late;
	m->bytes += size;
}

/* Whether a is due before b. Records that are late have no place of their own. */
static bool due_before(const struct record *a, const struct record *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->queue != b->queue ? a->queue < b->queue : a->number < b->number;
}

static size_t model_first(const struct model *m)
{
	size_t first = 0;

	for (size_t i = 1; i < m->nheld; i++)
		if (due_before(&m->held[i], &m->held[first]))
			first = i;
	return first;
}

/* One pop against the model; false where both are at the watermark. */
static bool pop(struct model *m, uint64_t watermark)
{
	size_t first = model_first(m);
	struct record h = m->held[first];
	struct order_item item;

	assert_int_equal(order_empty(m->o), m->nheld == 0);
	if (!order_pop(m->o, watermark, &item)) {
		assert_true(!m->nheld || h.time > watermark);
		return false;
	}
	assert_true(m->nheld && h.time <= watermark);
	assert_int_equal(item.time, h.time);
	assert_int_equal(item.queue, h.queue);
	assert_int_equal((uintptr_t)item.rec % 8, 0);
	make_record(&h);
	assert_memory_equal(item.rec, buffer, h.size);
	assert_true(h.late || h.time >= m->delivered);
	m->delivered = h.time > m->delivered ? h.time : m->delivered;
	m->held[first] = m->held[--m->nheld];
	m->popped++;
	m->bytes -= h.size;
	return true;
}

static void check_bounds(const struct model *m)
{
	size_t chunks = (m->k + 1) * (sizeof(struct held_chunk) + LARGE_CHUNK + 32);
	size_t fixed = sizeof(struct order) + 64 + m->k * sizeof(struct queue) +
		       2 * m->o->leaves * sizeof(struct first);
	/* heads of chunks and of the allocator are not counted by max_bytes */
	size_t small = m->max_bytes / SMALL_CHUNK * (sizeof(struct held_chunk) + 32);

	assert_true(allocated <= m->max_bytes + chunks + fixed + small);
	assert_int_equal(order_late(m->o), m->late);
}

/* ------------------------------------------------------------------------
 * Interleavings
 */

enum habit { HABIT_PLAIN, HABIT_INVERTED, HABIT_LATE, HABIT_EQUAL, HABITS };

static uint64_t next_time(struct model *m, uint32_t queue, enum habit habit)
{
	uint64_t t = m->now[queue];

	switch (habit) {
	case HABIT_EQUAL:
		return t;
	case HABIT_INVERTED:
		return t > 50 ? t - random_below(50) : t;
	case HABIT_LATE:
		return random_below((uint32_t)t + 1);
	default:
		return m->now[queue] = t + random_below(20);
	}
}

static void burst(struct model *m, uint32_t queue)
{
	uint32_t n = 1 + random_below(random_below(8) ? 4 : 40);

	/* some queues fall behind the others, some catch up */
	if (random_below(4) == 0 && m->now[queue] < m->delivered)
		m->now[queue] = m->delivered;
	while (n-- && m->nheld < MAX_HELD && !order_full(m->o)) {
		uint32_t kind = random_below(32);
		enum habit habit = kind < HABITS ? (enum habit)kind : HABIT_PLAIN;

		push(m, queue, next_time(m, queue, habit), random_size());
	}
}

static void drain(struct model *m)
{
	uint64_t watermark = m->delivered + random_below(100);
	uint32_t n = random_below(4) ? UINT32_MAX : random_below(8);

	if (random_below(16) == 0 || order_full(m->o))
		watermark = UINT64_MAX;
	while (n-- && pop(m, watermark))
		;
}

static struct model *model_new(uint32_t k, size_t max_bytes)
{
	struct model *m = calloc(1, sizeof(*m));

	m->k = k;
	m->max_bytes = max_bytes;
	m->o = order_new(k, max_bytes);
	assert_non_null(m->o);
	return m;
}

static void model_free(struct model *m)
{
	order_free(m->o);
	free(m);
	assert_int_equal(allocated, 0);
}

static void simulate(uint32_t k, size_t max_bytes, uint64_t from)
{
	struct model *m = model_new(k, max_bytes);

	seed = from * 0x9e3779b97f4a7c15ULL + 1;
	for (int step = 0; step < 1500; step++) {
		uint32_t times = 1 + random_below(8);

		while (times--)
			burst(m, random_below(k));
		drain(m);
		check_bounds(m);
	}
	if (from % 2)   /* else what is held is dropped with the order */
		while (pop(m, UINT64_MAX))
			;
	assert_int_equal(m->popped + m->nheld, m->number);
	assert_true(m->popped > 500 && m->late > 10);
	model_free(m);
}

TEST(any_interleaving_of_any_number_of_queues)
{
	static const uint32_t ks[] = { 1, 2, 3, 64, 512 };

	for (size_t i = 0; i < COUNT(ks); i++)
		for (uint64_t n = 0; n < 4; n++)
			simulate(ks[i], n < 2 ? 1 << 20 : 16 << 20, i * 16 + n);
}

/* ------------------------------------------------------------------------
 * Runs, between copies
 */

enum { RUN_TIME_AT = 16, MOST_IN_RUN = 50 };

struct run_record {
	struct perf_event_header header;
	uint64_t number, time;
};

/* Records of times that don't sink, in memory of their own. */
static void push_run(struct model *m, uint32_t queue, uint32_t n)
{
	struct run_record *r = calloc(n, sizeof(*r));
	struct order_run run = {
		.at = (const char *)r, .end = (const char *)(r + n), .memory = r, .time_at = RUN_TIME_AT,
		.first = m->now[queue],
	};

	assert_true(m->nheld + n <= MAX_HELD);
	for (uint32_t i = 0; i < n; i++) {
		r[i] = (struct run_record){ { .size = sizeof(*r) }, m->number, m->now[queue] };
		m->held[m->nheld++] = (struct record){ r[i].time, m->number++, queue, sizeof(*r),
						       r[i].time < m->delivered };
		m->late += r[i].time < m->delivered;
		run.last = r[i].time;
		m->now[queue] += random_below(20);
	}
	assert_int_equal(order_push_run(m->o, queue, &run, 7), 0);
}

static void push_copy(struct model *m, uint32_t queue, uint64_t time)
{
	struct run_record r = { { .size = sizeof(r) }, m->number, time };

	m->held[m->nheld++] = (struct record){ time, m->number++, queue, sizeof(r), time < m->delivered };
	m->late += time < m->delivered;
	assert_int_equal(order_push(m->o, queue, time, &r, sizeof(r)), 0);
}

/* The model's first record is the one that is seen. */
static void see(struct model *m, const void *rec, uint32_t queue, uint64_t time)
{
	const struct run_record *r = rec;
	size_t first = model_first(m);

	assert_int_equal(r->number, m->held[first].number);
	assert_int_equal(time, m->held[first].time);
	assert_int_equal(queue, m->held[first].queue);
	m->delivered = time > m->delivered ? time : m->delivered;
	m->held[first] = m->held[--m->nheld];
}

/* Sees some of what is due; of a run at least one, at most `most`. */
static bool see_due(struct model *m, uint64_t watermark, uint32_t most)
{
	struct order_due due;
	const struct run_record *r;
	void *memory;

	if (!order_due(m->o, watermark, &due)) {
		assert_true(!m->nheld || m->held[model_first(m)].time > watermark);
		return false;
	}
	r = due.item.rec;
	see(m, r, due.item.queue, due.item.time);
	if (!due.end)
		return true;
	assert_int_equal(due.item.tag, 7);
	assert_true(r->time <= due.until && due.until <= watermark);
	while (--most && (const char *)(r + 1) < due.end && r[1].time <= due.until) {
		r++;
		see(m, r, due.item.queue, r->time);
	}
	memory = order_pass(m->o, &due, (const char *)(r + 1), r->time);
	assert_true((memory != NULL) == ((const char *)(r + 1) == due.end));
	free(memory);
	return true;
}

static void simulate_runs(uint32_t k, uint64_t from)
{
	struct model *m = model_new(k, 1 << 20);

	seed = from * 0x9e3779b97f4a7c15ULL + 1;
	for (int step = 0; step < 600; step++) {
		uint64_t watermark = m->delivered + random_below(200);

		for (uint32_t q = random_below(k), n = random_below(4); n--; q = random_below(k)) {
			uint64_t back = random_below(30);

			if (random_below(8) && m->now[q] < m->delivered)
				m->now[q] = m->delivered;
			if (random_below(3) == 0)
				push_copy(m, q, m->now[q] - (m->now[q] > back && !random_below(4) ? back : 0));
			else if (order_takes_run(m->o, q, m->now[q]))
				push_run(m, q, 1 + random_below(MOST_IN_RUN));
		}
		while (random_below(30) && see_due(m, watermark, 1 + random_below(2 * MOST_IN_RUN)))
			;
		assert_int_equal(order_late(m->o), m->late);
	}
	while (see_due(m, UINT64_MAX, UINT32_MAX))
		;
	assert_int_equal(m->nheld, 0);
	assert_true(order_empty(m->o));
	assert_in_range(m->number, 5000, MAX_HELD * 4);
	assert_in_range(order_late(m->o), k > 1 ? 10 : 0, m->number / 2);
	model_free(m);
}

TEST(runs_and_copies_come_in_one_order)
{
	static const uint32_t ks[] = { 1, 2, 3, 17 };

	for (size_t i = 0; i < COUNT(ks); i++)
		simulate_runs(ks[i], i + 1);
}

/* ------------------------------------------------------------------------
 * Corners
 */

static struct order *o;
static struct order_item item;

static void begin(uint32_t k)
{
	order_free(o);
	o = order_new(k, 1 << 20);
}

static int end(void **state)
{
	order_free(o);
	o = NULL;
	assert_int_equal(allocated, 0);
	return 0;
}

static void push_to(uint32_t queue, uint64_t time, const void *rec, uint32_t n)
{
	assert_int_equal(order_push(o, queue, time, rec, n), 0);
}

/* What would not come in its place goes as a copy. */
TEST_WITH(a_run_that_is_inverted_is_not_taken, NULL, end)
{
	struct run_record r[] = { { { .size = sizeof(*r) }, 0, 10 }, { { .size = sizeof(*r) }, 1, 20 } };
	struct order_run run = { (const char *)r, (const char *)(r + 2), r, 10, 20, RUN_TIME_AT };

	begin(2);
	assert_true(order_takes_run(o, 0, 0));
	assert_int_equal(order_push_run(o, 0, &run, 0), 0);
	assert_false(order_takes_run(o, 0, 19));
	assert_true(order_takes_run(o, 0, 20));
	assert_true(order_takes_run(o, 1, 0));
}

TEST_WITH(equal_times_come_in_a_fixed_order, NULL, end)
{
	static const uint32_t queues[] = { 4, 0, 2, 4, 1, 0, 3 };
	static const uint32_t order[] = { 0, 0, 1, 2, 3, 4, 4 };
	uint64_t last = 0;

	begin(5);
	for (uint64_t i = 0; i < COUNT(queues); i++)
		push_to(queues[i], 7, &i, sizeof(i));
	for (size_t i = 0; i < COUNT(order); i++) {
		assert_true(order_pop(o, 7, &item));
		assert_int_equal(item.queue, order[i]);
		if (i && order[i] == order[i - 1])
			assert_true(*(const uint64_t *)item.rec > last);
		last = *(const uint64_t *)item.rec;
	}
	assert_false(order_pop(o, UINT64_MAX, &item));
}

/* Times out of damaged bytes are times like others. */
TEST_WITH(the_ends_of_time, NULL, end)
{
	static const uint64_t times[] = { UINT64_MAX, 0, UINT64_MAX - 1, 1, UINT64_MAX, 0 };
	static const uint64_t sorted[] = { 0, 0, 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX };

	for (uint32_t k = 1; k <= 6; k++) {
		begin(k);
		for (uint32_t i = 0; i < COUNT(times); i++)
			push_to(i % k, times[i], &times[i], 8);
		for (size_t i = 0; i < COUNT(sorted); i++) {
			assert_true(order_pop(o, UINT64_MAX, &item));
			assert_int_equal(item.time, sorted[i]);
		}
		assert_false(order_pop(o, UINT64_MAX, &item));
		assert_true(order_empty(o));
	}
}

TEST_WITH(a_record_stays_until_the_next_pop, NULL, end)
{
	struct model *m = model_new(1, 1 << 20);
	uint64_t words[40], copy[40];

	for (size_t i = 0; i < COUNT(words); i++)
		copy[i] = words[i] = i;
	assert_int_equal(order_push(m->o, 0, 1, words, sizeof(words)), 0);
	assert_true(order_pop(m->o, 1, &item));
	memset(words, 0xff, sizeof(words));
	for (uint64_t t = 2; t < 5000; t++)   /* through many chunks */
		assert_int_equal(order_push(m->o, 0, t, words, sizeof(words)), 0);
	assert_memory_equal(item.rec, copy, sizeof(copy));
	model_free(m);
}

TEST_WITH(sizes_from_nothing_to_the_largest, NULL, end)
{
	begin(2);
	for (uint32_t size = 0; size <= MAX_SIZE; size += size < 80 ? 1 : 4096 - 8)
		push_to(size & 1, size, buffer, size);
	push_to(0, 1, buffer, MAX_SIZE);
	assert_int_equal(order_push(o, 0, 1, buffer, MAX_SIZE + 1), -E2BIG);
	assert_int_equal(order_push(o, 0, 1, buffer, UINT32_MAX), -E2BIG);
	while (order_pop(o, UINT64_MAX, &item))
		assert_int_equal((uintptr_t)item.rec % 8, 0);
}

/* A queue that was used keeps a chunk: 512 of them are not "full" when nothing is held. */
TEST_WITH(many_queues_are_not_full, NULL, end)
{
	begin(512);
	for (uint32_t round = 0; round < 10; round++) {
		for (uint32_t q = 0; q < 512; q++)
			push_to(q, round, buffer, 4000);
		assert_false(order_full(o));
		while (order_pop(o, UINT64_MAX, &item))
			;
		assert_false(order_full(o));
	}
}

/* Small ones are kept for use, but not on top of as many large ones. */
TEST_WITH(what_is_free_counts, NULL, end)
{
	struct model *m = model_new(3, 4 << 20);
	uint64_t now = 0;

	for (int round = 0; round < 6; round++) {
		uint32_t size = round & 1 ? 40000 : 64, n = 0;

		for (; !order_full(m->o); n++)
			assert_int_equal(order_push(m->o, n % 3, now++, buffer, size), 0);
		assert_true((size_t)n * size > 2 << 20);
		check_bounds(m);
		while (order_pop(m->o, UINT64_MAX, &item))
			;
		assert_true(order_empty(m->o));
	}
	model_free(m);
}

/* A queue that keeps up needs one chunk, however much goes through it. */
TEST_WITH(who_keeps_up_needs_little, NULL, end)
{
	o = order_new(2, 48 << 20);

	peak = allocated;
	for (uint64_t i = 0; i < 100000; i++) {
		push_to(i & 1, i, buffer, 72);
		assert_true(order_pop(o, i, &item));
	}
	assert_true(peak < 2 * SMALL_CHUNK + 2048);
}

TEST_WITH(late_ones_are_counted_exactly, NULL, end)
{
	begin(2);
	push_to(0, 100, buffer, 8);
	push_to(1, 90, buffer, 8);     /* another queue, not delivered yet */
	push_to(0, 80, buffer, 8);     /* inverted, not late */
	assert_int_equal(order_late(o), 0);
	assert_true(order_pop(o, 95, &item) && item.time == 80);
	assert_true(order_pop(o, 95, &item) && item.time == 90);
	assert_false(order_pop(o, 95, &item));
	push_to(1, 90, buffer, 8);     /* as late as what was delivered: in time */
	push_to(1, 92, buffer, 8);
	assert_int_equal(order_late(o), 0);
	push_to(1, 89, buffer, 8);
	assert_int_equal(order_late(o), 1);
	assert_true(order_pop(o, 0xffff, &item) && item.time == 89);
	push_to(0, 89, buffer, 8);     /* 89 came after 90: what counts is the latest */
	assert_int_equal(order_late(o), 2);
}

TEST_WITH(the_watermark_is_the_least_that_is_known, NULL, end)
{
	begin(3);
	assert_int_equal(order_watermark(o), 0);
	order_set_known(o, 0, 10);
	order_set_known(o, 1, 20);
	assert_int_equal(order_watermark(o), 0);
	order_set_known(o, 2, 15);
	assert_int_equal(order_watermark(o), 10);
	order_set_known(o, 0, 5);            /* what was known stays known */
	assert_int_equal(order_known(o, 0), 10);
	order_set_known(o, 0, 30);
	assert_int_equal(order_watermark(o), 15);
}

/* Where memory ends: each allocation in turn fails; nothing is damaged, nothing leaks. */
TEST_WITH(out_of_memory_at_every_place, NULL, end)
{
	for (long n = 0; n < 40; n++) {
		uint64_t pushed = 0, popped = 0, last = 0;

		fail_after = n;
		o = order_new(4, 1 << 20);
		for (uint64_t i = 0; o && i < 2000; i++) {
			int rc = order_push(o, i % 4, i, &i, 8);

			assert_true(rc == 0 || rc == -ENOMEM);
			pushed += rc == 0;
		}
		for (; o && order_pop(o, UINT64_MAX, &item); popped++) {
			assert_true(item.time >= last);
			assert_int_equal(*(const uint64_t *)item.rec, item.time);
			last = item.time;
		}
		assert_int_equal(popped, pushed);
		fail_after = -1;
		for (uint64_t i = 0; o && i < 8; i++)
			push_to(i % 4, i, &i, 8);
		end(NULL);
	}
}
