/* SPDX-License-Identifier: Apache-2.0 */
/* The AUX area and overwrite rings in plain memory. */
#include "checks.h"

#include "perfevent/rings/aux.h"

#include <errno.h>

enum { SIZE = 64 };

static struct perf_event_mmap_page page;
static char area[SIZE];
static struct pev_aux_area aux;
static struct pev_aux_data d;

static void attach(uint64_t head, bool snapshot)
{
	page = (struct perf_event_mmap_page){ .aux_head = head };
	memset(area, 0, SIZE);
	pev_aux_attach_(&aux, &page, area, SIZE, snapshot);
}

/* What was got in two parts. */
static void is(const char *text)
{
	assert_int_equal(d.size[0] + d.size[1], strlen(text));
	assert_memory_equal(d.data[0], text, d.size[0]);
	if (d.size[1])
		assert_memory_equal(d.data[1], text + d.size[0], d.size[1]);
}

static void peeks(const char *text)
{
	assert_int_equal(pev_aux_peek(&aux, &d), strlen(text));
	is(text);
}

/* Appends text as a PMU would. */
static void trace(const char *text)
{
	for (; *text; text++)
		area[page.aux_head++ % SIZE] = *text;
}

TEST(full_trace_is_read_and_given_back)
{
	attach(0, false);
	assert_int_equal(pev_aux_size(&aux), SIZE);
	assert_int_equal(pev_aux_peek(&aux, &d), 0);
	trace("0123456789012345678901234567890123456789012345678901234567");
	assert_int_equal(pev_aux_peek(&aux, &d), 58);
	assert_int_equal(d.size[1], 0);
	pev_aux_consume(&aux, 50);
	assert_int_equal(page.aux_tail, 50);
	trace("abcdefghij");
	assert_int_equal(pev_aux_peek(&aux, &d), 18);
	assert_int_equal(d.size[0], 14);
	is("01234567abcdefghij");
	assert_int_equal(pev_aux_piece(&aux, 58, 10, &d), 0);
	is("abcdefghij");
	pev_aux_consume(&aux, 18);
	assert_int_equal(pev_aux_peek(&aux, &d), 0);
}

TEST(a_page_that_lies_shows_no_more_than_there_is)
{
	attach(1ULL << 40, false);
	assert_int_equal(pev_aux_peek(&aux, &d), SIZE);
	assert_int_equal(d.size[0] + d.size[1], SIZE);
	assert_int_equal(pev_aux_piece(&aux, 0, SIZE + 1, &d), -EBADMSG);
	assert_int_equal(pev_aux_piece(&aux, UINT64_MAX, SIZE, &d), 0);
	assert_int_equal(d.size[0], 1);
}

TEST(snapshots_begin_with_the_oldest)
{
	char all[SIZE + 1] = { 0 };


	attach(0, true);
	assert_int_equal(pev_aux_peek(&aux, &d), 0);
	trace("young");
	peeks("young");
	pev_aux_consume(&aux, 5);
	assert_int_equal(page.aux_tail, 0);
	assert_int_equal(pev_aux_peek(&aux, &d), 5);
	memset(all, 'x', SIZE);
	trace(all);
	trace("end");
	memcpy(all + SIZE - 3, "end", 3);
	peeks(all);
	/* Intel PT's head is the place itself: round it has been, too */
	page.aux_head %= SIZE;
	peeks(all);
}

/* ---- overwrite rings --------------------------------------------------------- */

enum { RING = 4096 };

struct rig {
	struct pev_ring *ring;
	struct perf_event_mmap_page page;
	_Alignas(8) char data[RING];
};

static void make(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->ring = calloc(1, sizeof(*rig->ring));
	assert_non_null(rig->ring);
	pev_ring_attach_(rig->ring, &rig->page, rig->data, RING);
	rig->ring->backward = true;
}

/* As the kernel does: the head goes down, the record lies above it. */
static void put(struct rig *rig, uint16_t size, uint64_t value)
{
	struct perf_event_header head = { .type = PERF_RECORD_SAMPLE, .size = size };
	uint64_t at = rig->page.data_head -= size;

	for (uint16_t i = 0; i < size; i++)
		rig->data[(at + i) % RING] = i < 8 ? ((char *)&head)[i] : ((char *)&value)[i % 8];
}

/* Values from the newest on until the end: how many. */
static unsigned int drain(struct rig *rig, uint64_t newest, uint16_t size)
{
	const struct perf_event_header *rec;
	unsigned int n = 0;

	pev_ring_begin(rig->ring);
	while ((rec = pev_ring_next(rig->ring))) {
		assert_int_equal(rec->size, size);
		for (uint16_t i = 8; i < size; i += 8)
			assert_int_equal(*(const uint64_t *)((const char *)rec + i), newest);
		newest--;
		n++;
	}
	pev_ring_end(rig->ring);
	assert_int_equal(pev_ring_damaged(rig->ring), 0);
	return n;
}

TEST(backwards_in_time)
{
	static const uint16_t sizes[] = { 16, 24, 40, 72, 1000, 4088, 4096 };
	struct rig rig;

	for (size_t s = 0; s < COUNT(sizes); s++) {
		make(&rig);
		assert_int_equal(drain(&rig, 0, sizes[s]), 0);
		for (uint64_t i = 1; i <= 1000; i++) {
			unsigned int most = RING / sizes[s];

			put(&rig, sizes[s], i);
			assert_int_equal(drain(&rig, i, sizes[s]), i < most ? i : most);
		}
		assert_int_equal(rig.page.data_tail, 0);
		pev_ring_unmap(rig.ring);
	}
}

TEST(damaged_headers_end_the_drain)
{
	struct rig rig;

	make(&rig);
	for (uint64_t i = 1; i <= 1000; i++)
		put(&rig, 40, i);
	for (uint16_t size = 0; size < 8; size++) {
		struct perf_event_header *h = (void *)(rig.data + (rig.page.data_head + 80) % RING);

		h->size = size;
		assert_int_equal(drain(&rig, 1000, 40), 2);
	}
	pev_ring_unmap(rig.ring);
}
