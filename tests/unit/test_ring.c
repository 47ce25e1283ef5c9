/* SPDX-License-Identifier: Apache-2.0 */
/* A ring in plain memory: wrapping, bounded drains, damaged records. */
#include "cmocka_all.h"

#include "perfevent/rings/ring_private.h"

enum { SIZE = 4096 };

struct rig {
	struct pev_ring *ring;
	struct perf_event_mmap_page page;
	char *data;      /* SIZE bytes that end where the allocation does */
};

/* A ring whose first record will begin at position `start`. */
static void make(struct rig *rig, uint64_t start)
{
	memset(rig, 0, sizeof(*rig));
	rig->ring = calloc(1, sizeof(*rig->ring));
	rig->data = calloc(1, SIZE);
	assert_non_null(rig->ring);
	assert_non_null(rig->data);
	rig->page.data_head = rig->page.data_tail = start;
	pev_ring_attach_(rig->ring, &rig->page, rig->data, SIZE);
}

static void drop(struct rig *rig)
{
	free(rig->data);
	pev_ring_unmap(rig->ring);
}

static void put_bytes(struct rig *rig, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rig->data[(rig->page.data_head + i) % SIZE] = ((const char *)bytes)[i];
	rig->page.data_head += n;
}

/* As the kernel would: a record of `size` bytes, filled with words that count from seed. */
static void put(struct rig *rig, uint16_t size, uint64_t seed)
{
	struct perf_event_header head = { .type = PERF_RECORD_SAMPLE, .size = size };

	put_bytes(rig, &head, sizeof(head));
	for (uint16_t i = 8; i < size; i += 8, seed++)
		put_bytes(rig, &seed, sizeof(seed));
}

static void holds(const struct perf_event_header *rec, uint16_t size, uint64_t seed)
{
	assert_non_null(rec);
	assert_int_equal((uintptr_t)rec % 8, 0);
	assert_int_equal(rec->size, size);
	for (uint16_t i = 8; i < size; i += 8, seed++)
		assert_memory_equal((const char *)rec + i, &seed, 8);
}

static void empty_ring(void **state)
{
	struct rig rig;

	make(&rig, 0);
	assert_int_equal(pev_ring_size(rig.ring), SIZE);
	assert_int_equal(pev_ring_begin(rig.ring), 0);
	assert_null(pev_ring_next(rig.ring));
	pev_ring_end(rig.ring);
	assert_int_equal(rig.page.data_tail, 0);
	assert_int_equal(pev_ring_damaged(rig.ring), 0);
	drop(&rig);
}

static void wrap_at_every_offset(void **state)
{
	static const uint16_t sizes[] = { 8, 16, 24, 72, 1024, 4088, 4096 };

	for (size_t s = 0; s < COUNT(sizes); s++)
		for (uint64_t start = 0; start < SIZE; start += 8) {
			const struct perf_event_header *rec;
			struct rig rig;

			make(&rig, start);
			put(&rig, sizes[s], start);
			assert_int_equal(pev_ring_begin(rig.ring), sizes[s]);
			rec = pev_ring_next(rig.ring);
			holds(rec, sizes[s], start);
			/* borrowed in place unless it wraps */
			if (start + sizes[s] <= SIZE)
				assert_ptr_equal(rec, rig.data + start);
			assert_null(pev_ring_next(rig.ring));
			assert_int_equal(rig.page.data_tail, start);
			pev_ring_end(rig.ring);
			assert_int_equal(rig.page.data_tail, start + sizes[s]);
			assert_int_equal(pev_ring_damaged(rig.ring), 0);
			drop(&rig);
		}
}

/* Positions only grow; nothing special happens where 64 bits end. */
static void positions_overflow(void **state)
{
	struct rig rig;

	make(&rig, -16ULL);
	put(&rig, 72, 5);
	assert_int_equal(pev_ring_begin(rig.ring), 72);
	holds(pev_ring_next(rig.ring), 72, 5);
	assert_null(pev_ring_next(rig.ring));
	pev_ring_end(rig.ring);
	assert_int_equal(rig.page.data_tail, 56);
	drop(&rig);
}

static void many_turns(void **state)
{
	uint64_t in = 0, out = 0;
	struct rig rig;

	make(&rig, 0);
	for (int turn = 0; turn < 1000; turn++) {
		const struct perf_event_header *rec;

		while (rig.page.data_head - rig.page.data_tail <= SIZE - 128) {
			put(&rig, (uint16_t)(8 + in % 16 * 8), in);
			in++;
		}
		pev_ring_begin(rig.ring);
		for (; (rec = pev_ring_next(rig.ring)); out++)
			holds(rec, (uint16_t)(8 + out % 16 * 8), out);
		pev_ring_end(rig.ring);
		assert_int_equal(out, in);
	}
	drop(&rig);
}

static void a_drain_ends_at_the_head_it_saw(void **state)
{
	struct rig rig;

	make(&rig, 0);
	put(&rig, 16, 1);
	pev_ring_begin(rig.ring);
	put(&rig, 16, 2);
	holds(pev_ring_next(rig.ring), 16, 1);
	assert_null(pev_ring_next(rig.ring));
	pev_ring_end(rig.ring);
	assert_int_equal(rig.page.data_tail, 16);
	assert_int_equal(pev_ring_begin(rig.ring), 16);
	holds(pev_ring_next(rig.ring), 16, 2);
	pev_ring_end(rig.ring);
	drop(&rig);
}

static void release_in_mid_drain(void **state)
{
	struct rig rig;

	make(&rig, 0);
	put(&rig, 16, 1);
	put(&rig, 24, 2);
	pev_ring_begin(rig.ring);
	pev_ring_next(rig.ring);
	assert_int_equal(rig.page.data_tail, 0);
	pev_ring_release(rig.ring);
	assert_int_equal(rig.page.data_tail, 16);
	holds(pev_ring_next(rig.ring), 24, 2);
	pev_ring_end(rig.ring);
	assert_int_equal(rig.page.data_tail, 40);
	drop(&rig);
}

/* A drain that is left early gives back only what it took. */
static void a_drain_left_early_goes_on_later(void **state)
{
	struct rig rig;

	make(&rig, 0);
	put(&rig, 16, 1);
	put(&rig, 16, 2);
	pev_ring_begin(rig.ring);
	pev_ring_next(rig.ring);
	pev_ring_end(rig.ring);
	assert_int_equal(pev_ring_begin(rig.ring), 16);
	holds(pev_ring_next(rig.ring), 16, 2);
	pev_ring_end(rig.ring);
	drop(&rig);
}

/* Sizes that no record has: the rest of the drain is given up, counted, and the ring
 * goes on with what comes later. */
static void damaged_sizes(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 4, 7, 9, 12, 15, 48, 65528, 65535 };

	for (size_t s = 0; s < COUNT(sizes); s++)
		for (uint64_t start = 0; start < SIZE; start += 1000 & ~7) {
			struct perf_event_header head = { .type = 1, .size = sizes[s] };
			uint64_t words[4] = { 0 };
			struct rig rig;

			make(&rig, start);
			put(&rig, 16, 1);
			put_bytes(&rig, &head, sizeof(head));
			put_bytes(&rig, words, sizeof(words));
			pev_ring_begin(rig.ring);
			holds(pev_ring_next(rig.ring), 16, 1);
			assert_null(pev_ring_next(rig.ring));
			assert_null(pev_ring_next(rig.ring));
			pev_ring_end(rig.ring);
			assert_int_equal(pev_ring_damaged(rig.ring), 1);
			assert_int_equal(rig.page.data_tail, rig.page.data_head);
			put(&rig, 16, 9);
			pev_ring_begin(rig.ring);
			holds(pev_ring_next(rig.ring), 16, 9);
			pev_ring_end(rig.ring);
			drop(&rig);
		}
}

/* A head that runs away would make records look longer than the ring is. */
static void a_head_beyond_the_ring(void **state)
{
	static const uint64_t heads[] = { SIZE + 8, 3 * SIZE, 1ULL << 40, UINT64_MAX };

	for (size_t i = 0; i < COUNT(heads); i++)
		for (uint64_t start = 0; start < SIZE; start += 512) {
			struct rig rig;

			make(&rig, start);
			put(&rig, 16, 1);
			((struct perf_event_header *)(rig.data + start))->size = 2 * SIZE;
			rig.page.data_head = start + heads[i];
			pev_ring_begin(rig.ring);
			assert_null(pev_ring_next(rig.ring));
			pev_ring_end(rig.ring);
			assert_int_equal(pev_ring_damaged(rig.ring), 1);
			drop(&rig);
		}
}

/* Records that look good lie all around the ring: a head that is none must not lead a drain in
 * circles. */
static void a_head_that_went_back(void **state)
{
	static const uint64_t heads[] = { (uint64_t)-8, (uint64_t)-SIZE, SIZE + 8, 1ULL << 60 };

	for (size_t i = 0; i < COUNT(heads); i++) {
		struct rig rig;

		make(&rig, 3 * SIZE);
		for (size_t n = 0; n < SIZE / 64; n++)
			put(&rig, 64, n);
		rig.page.data_head = 3 * SIZE + heads[i];
		assert_int_equal(pev_ring_begin(rig.ring), 0);
		assert_null(pev_ring_next(rig.ring));
		pev_ring_end(rig.ring);
		assert_int_equal(pev_ring_damaged(rig.ring), 1);
		assert_int_equal(rig.page.data_tail, rig.page.data_head);
		drop(&rig);
	}
}

/* A head off the 8-byte grid is no kernel's: what lies before it counts, and no record
 * is ever looked for off the grid. */
static void a_head_off_the_grid(void **state)
{
	for (uint64_t off = 1; off < 8; off++) {
		struct rig rig;

		make(&rig, 0);
		put(&rig, 16, 1);
		rig.page.data_head += off;
		assert_int_equal(pev_ring_begin(rig.ring), 16);
		holds(pev_ring_next(rig.ring), 16, 1);
		assert_null(pev_ring_next(rig.ring));
		pev_ring_end(rig.ring);
		assert_int_equal(rig.page.data_tail, 16);
		rig.page.data_head = 16;
		put(&rig, 16, 2);
		pev_ring_begin(rig.ring);
		holds(pev_ring_next(rig.ring), 16, 2);
		pev_ring_end(rig.ring);
		drop(&rig);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_ring),
		cmocka_unit_test(wrap_at_every_offset),
		cmocka_unit_test(positions_overflow),
		cmocka_unit_test(many_turns),
		cmocka_unit_test(a_drain_ends_at_the_head_it_saw),
		cmocka_unit_test(release_in_mid_drain),
		cmocka_unit_test(a_drain_left_early_goes_on_later),
		cmocka_unit_test(damaged_sizes),
		cmocka_unit_test(a_head_beyond_the_ring),
		cmocka_unit_test(a_head_that_went_back),
		cmocka_unit_test(a_head_off_the_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
