/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte that went into the small ring comes out of the large one, in order. */
#include "checks.h"

#include "perfevent/rings/ring_private.h"
#include "stream/live/backlog.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { SMALL = 4096, LARGE = 16384 };

struct record {
	struct perf_event_header header;
	uint64_t number;
	char rest[512];
};

/* A ring as the kernel writes it, and the number of its next record. */
struct source {
	struct perf_event_mmap_page page;
	_Alignas(8) char data[SMALL];
	struct pev_ring *ring;
	uint64_t written;
};

static struct source *source_new(void)
{
	struct source *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->ring = calloc(1, sizeof(*s->ring));
	assert_non_null(s->ring);
	pev_ring_attach_(s->ring, &s->page, s->data, SMALL);
	return s;
}

static uint16_t size_of(uint64_t number)
{
	return (uint16_t)(16 + 8 * (number * 2654435761u >> 7) % 480 / 8 * 8);
}

static void put(struct source *s, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->data[(s->page.data_head + i) % SMALL] = ((const char *)bytes)[i];
	__atomic_store_n(&s->page.data_head, s->page.data_head + n, __ATOMIC_RELEASE);
}

/* One record, if there is room. */
static bool write_one(struct source *s)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE, .size = size_of(s->written) }, .number = s->written };
	uint64_t tail = __atomic_load_n(&s->page.data_tail, __ATOMIC_ACQUIRE);

	if (s->page.data_head - tail + r.header.size > SMALL)
		return false;
	memset(r.rest, (int)s->written, sizeof(r.rest));
	put(s, &r, r.header.size);
	s->written++;
	return true;
}

/* Reads up to `n` records; *next is the number that is due. */
static void read_some(struct pev_ring *ring, uint64_t *next, uint64_t n)
{
	const struct perf_event_header *rec;

	pev_ring_begin_(ring);
	while (n-- && (rec = pev_ring_next_(ring))) {
		const struct record *r = (const struct record *)rec;

		ARE(NUMBERS(r->number, rec->size), NUMBERS(*next, size_of(*next)));
		if (rec->size > 16)
			assert_int_equal((unsigned char)r->rest[rec->size - 17], (unsigned char)*next);
		++*next;
	}
	pev_ring_release_(ring);
}

static void finish(struct source *s, struct backlog *b)
{
	backlog_free(b);   /* frees the ring, which is no mapping */
	free(s);
}

TEST(all_records_in_order_whoever_is_slow)
{
	struct source *s = source_new();
	struct backlog *b = backlog_new(s->ring, LARGE);
	uint64_t next = 0;
	unsigned int seed = 1;

	assert_non_null(b);
	while (next < 200000) {
		for (int i = rand_r(&seed) % 40; i > 0; i--)
			write_one(s);
		if (rand_r(&seed) % 4)
			backlog_move(b);
		if (rand_r(&seed) % 3 == 0)
			read_some(backlog_ring(b), &next, (uint64_t)(rand_r(&seed) % 100));
	}
	while (next < s->written) {
		backlog_move(b);
		read_some(backlog_ring(b), &next, UINT64_MAX);
	}
	assert_int_equal(backlog_move(b), 0);
	finish(s, b);
}

TEST(what_stays_behind_is_told)
{
	struct source *s = source_new();
	struct backlog *b = backlog_new(s->ring, SMALL);
	uint64_t next = 0, behind;

	while (write_one(s))
		;
	assert_int_equal(backlog_move(b), 0);
	while (write_one(s))
		;
	behind = backlog_move(b);
	assert_int_equal(behind, s->page.data_head - s->page.data_tail);
	assert_true(behind > SMALL / 2);
	read_some(backlog_ring(b), &next, UINT64_MAX);
	assert_int_equal(backlog_move(b), 0);
	read_some(backlog_ring(b), &next, UINT64_MAX);
	assert_int_equal(next, s->written);
	finish(s, b);
}

TEST(damage_reaches_the_reader_and_ends_nothing)
{
	struct perf_event_header none = { .type = PERF_RECORD_SAMPLE, .size = 0 };
	struct source *s = source_new();
	struct backlog *b = backlog_new(s->ring, SMALL);
	uint64_t next = 0;

	while (write_one(s))
		;
	backlog_move(b);
	put(s, &none, sizeof(none));
	for (int i = 0; i < 3; i++)
		write_one(s);
	assert_true(backlog_move(b) > 0);   /* no room for all, no border to stop at */
	read_some(backlog_ring(b), &next, UINT64_MAX);
	assert_int_equal(backlog_move(b), 0);
	read_some(backlog_ring(b), &next, UINT64_MAX);
	assert_int_equal(pev_ring_damaged(backlog_ring(b)), 1);
	finish(s, b);
}

TEST(a_head_that_ran_away_is_cut)
{
	struct source *s = source_new();
	struct backlog *b = backlog_new(s->ring, LARGE);

	s->page.data_head = UINT64_C(1) << 60;
	for (int i = 0; i < 100; i++)
		backlog_move(b);
	pev_ring_begin_(backlog_ring(b));
	while (pev_ring_next_(backlog_ring(b)))
		;
	assert_true(pev_ring_damaged(backlog_ring(b)) > 0);
	finish(s, b);
}

TEST(a_thread_moves_while_nobody_reads)
{
	struct source *s = source_new();
	struct backlog *b = backlog_new(s->ring, LARGE);
	int wake = eventfd(0, EFD_CLOEXEC), kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct backlog_thread *t = backlog_thread_new(1, kick);
	uint64_t next = 0, one = 1;

	assert_non_null(t);
	backlog_thread_add(t, b, wake);
	assert_int_equal(backlog_thread_start(t), 0);
	while (next < 20000) {
		if (!write_one(s))
			assert_int_equal(write(wake, &one, sizeof(one)), sizeof(one));
		if (s->written - next > 20)
			read_some(backlog_ring(b), &next, 10);
	}
	assert_int_equal(read(kick, &one, sizeof(one)), sizeof(one));
	backlog_thread_stop(t);
	backlog_thread_stop(NULL);
	close(wake);
	close(kick);
	finish(s, b);
}
