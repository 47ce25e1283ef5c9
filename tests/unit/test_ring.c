/* SPDX-License-Identifier: Apache-2.0 */
/* A ring in plain memory: wrapping, bounded drains, damaged records. */
#include "checks.h"

#include "perfevent/rings/ring_private.h"

enum { SIZE = 4096 };

struct rig {
	struct pev_ring *ring;
	struct perf_event_mmap_page page;
	char *data;      /* SIZE bytes that end where the allocation does */
};

static struct rig rig;

static int drop(void **state)
{
	free(rig.data);
	pev_ring_unmap(rig.ring);
	memset(&rig, 0, sizeof(rig));
	return 0;
}

/* A ring whose first record will begin at position `start`. */
static void make(uint64_t start)
{
	drop(NULL);
	rig.ring = calloc(1, sizeof(*rig.ring));
	rig.data = calloc(1, SIZE);
	rig.page.data_head = rig.page.data_tail = start;
	pev_ring_attach_(rig.ring, &rig.page, rig.data, SIZE);
}

static void put_bytes(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rig.data[(rig.page.data_head + i) % SIZE] = ((const char *)bytes)[i];
	rig.page.data_head += n;
}

/* As the kernel would: a record of `size` bytes, filled with words that count from seed. */
static void put(uint16_t size, uint64_t seed)
{
	struct perf_event_header head = { .type = PERF_RECORD_SAMPLE, .size = size };

	put_bytes(&head, sizeof(head));
	for (uint16_t i = 8; i < size; i += 8, seed++)
		put_bytes(&seed, sizeof(seed));
}

/* The next record. */
static const struct perf_event_header *holds(uint16_t size, uint64_t seed)
{
	const struct perf_event_header *rec = pev_ring_next(rig.ring);

	assert_non_null(rec);
	assert_int_equal((uintptr_t)rec % 8, 0);
	assert_int_equal(rec->size, size);
	for (uint16_t i = 8; i < size; i += 8, seed++)
		assert_memory_equal((const char *)rec + i, &seed, 8);
	return rec;
}

/* A drain ends, with as many damaged ones so far and the tail there. */
static void ends(uint64_t damaged, uint64_t tail)
{
	assert_null(pev_ring_next(rig.ring));
	pev_ring_end(rig.ring);
	assert_int_equal(pev_ring_damaged(rig.ring), damaged);
	assert_int_equal(rig.page.data_tail, tail);
}

TEST_WITH(wrap_at_every_offset, NULL, drop)
{
	static const uint16_t sizes[] = { 8, 16, 24, 72, 1024, 4088, 4096 };

	for (size_t s = 0; s < COUNT(sizes); s++)
		for (uint64_t start = 0; start < SIZE; start += 8) {
			const struct perf_event_header *rec;

			make(start);
			put(sizes[s], start);
			assert_int_equal(pev_ring_begin(rig.ring), sizes[s]);
			rec = holds(sizes[s], start);
			/* borrowed in place unless it wraps */
			if (start + sizes[s] <= SIZE)
				assert_ptr_equal(rec, rig.data + start);
			assert_null(pev_ring_next(rig.ring));
			assert_int_equal(rig.page.data_tail, start);
			ends(0, start + sizes[s]);
		}
	/* an empty one */
	make(0);
	assert_int_equal(pev_ring_size(rig.ring), SIZE);
	assert_int_equal(pev_ring_begin(rig.ring), 0);
	ends(0, 0);
	/* positions only grow; nothing special happens where 64 bits end */
	make(-16ULL);
	put(72, 5);
	assert_int_equal(pev_ring_begin(rig.ring), 72);
	holds(72, 5);
	ends(0, 56);
}

TEST_WITH(many_turns, NULL, drop)
{
	uint64_t in = 0, out = 0;

	make(0);
	for (int turn = 0; turn < 1000; turn++) {
		for (; rig.page.data_head - rig.page.data_tail <= SIZE - 128; in++)
			put((uint16_t)(8 + in % 16 * 8), in);
		pev_ring_begin(rig.ring);
		for (; out < in; out++)
			holds((uint16_t)(8 + out % 16 * 8), out);
		ends(0, rig.page.data_head);
	}
}

TEST_WITH(a_drain_ends_at_the_head_it_saw, NULL, drop)
{
	make(0);
	put(16, 1);
	pev_ring_begin(rig.ring);
	put(16, 2);
	holds(16, 1);
	ends(0, 16);
	/* one that is left early gives back only what it took */
	assert_int_equal(pev_ring_begin(rig.ring), 16);
	put(16, 3);
	put(16, 4);
	holds(16, 2);
	pev_ring_end(rig.ring);
	assert_int_equal(pev_ring_begin(rig.ring), 32);
	holds(16, 3);
	pev_ring_end(rig.ring);
	assert_int_equal(pev_ring_begin(rig.ring), 16);
	holds(16, 4);
}

TEST_WITH(release_in_mid_drain, NULL, drop)
{
	make(0);
	put(16, 1);
	put(24, 2);
	pev_ring_begin(rig.ring);
	pev_ring_next(rig.ring);
	assert_int_equal(rig.page.data_tail, 0);
	pev_ring_release(rig.ring);
	assert_int_equal(rig.page.data_tail, 16);
	holds(24, 2);
	ends(0, 40);
}

/* Sizes that no record has: the rest of the drain is given up, counted, and the ring
 * goes on with what comes later. */
TEST_WITH(damaged_sizes, NULL, drop)
{
	static const uint16_t sizes[] = { 0, 1, 4, 7, 9, 12, 15, 48, 65528, 65535 };

	for (size_t s = 0; s < COUNT(sizes); s++)
		for (uint64_t start = 0; start < SIZE; start += 1000 & ~7) {
			struct perf_event_header head = { .type = 1, .size = sizes[s] };
			uint64_t words[4] = { 0 };

			make(start);
			put(16, 1);
			put_bytes(&head, sizeof(head));
			put_bytes(words, sizeof(words));
			pev_ring_begin(rig.ring);
			holds(16, 1);
			assert_null(pev_ring_next(rig.ring));
			ends(1, rig.page.data_head);
			put(16, 9);
			pev_ring_begin(rig.ring);
			holds(16, 9);
		}
}

/* A head that runs away would make records look longer than the ring is. */
TEST_WITH(a_head_beyond_the_ring, NULL, drop)
{
	static const uint64_t heads[] = { SIZE + 8, 3 * SIZE, 1ULL << 40, UINT64_MAX };

	for (size_t i = 0; i < COUNT(heads); i++)
		for (uint64_t start = 0; start < SIZE; start += 512) {
			make(start);
			put(16, 1);
			((struct perf_event_header *)(rig.data + start))->size = 2 * SIZE;
			rig.page.data_head = start + heads[i];
			pev_ring_begin(rig.ring);
			assert_null(pev_ring_next(rig.ring));
			pev_ring_end(rig.ring);
			assert_int_equal(pev_ring_damaged(rig.ring), 1);
		}
}

/* Records that look good lie all around the ring: a head that is none must not lead a drain in
 * circles. */
TEST_WITH(a_head_that_went_back, NULL, drop)
{
	static const uint64_t heads[] = { (uint64_t)-8, (uint64_t)-SIZE, SIZE + 8, 1ULL << 60 };

	for (size_t i = 0; i < COUNT(heads); i++) {
		make(3 * SIZE);
		for (size_t n = 0; n < SIZE / 64; n++)
			put(64, n);
		rig.page.data_head = 3 * SIZE + heads[i];
		assert_int_equal(pev_ring_begin(rig.ring), 0);
		ends(1, rig.page.data_head);
	}
}

/* A head off the 8-byte grid is no kernel's: what lies before it counts, and no record
 * is ever looked for off the grid. */
TEST_WITH(a_head_off_the_grid, NULL, drop)
{
	for (uint64_t off = 1; off < 8; off++) {
		make(0);
		put(16, 1);
		rig.page.data_head += off;
		assert_int_equal(pev_ring_begin(rig.ring), 16);
		holds(16, 1);
		ends(pev_ring_damaged(rig.ring), 16);
		rig.page.data_head = 16;
		put(16, 2);
		pev_ring_begin(rig.ring);
		holds(16, 2);
	}
}
