/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of records about tasks: what finds no way through them is told as lost. */
#include "checks.h"

#include "stream/watched/sideband.c"

static struct {
	unsigned int comms;
	uint64_t lost, lost_at;
} seen;

static struct sideband b;
static struct side_ring ring;
static uint64_t due;

static void see(void *ctx, const struct pev_record *rec)
{
	seen.comms += rec->type == PERF_RECORD_COMM;
	if (rec->type == PERF_RECORD_LOST) {
		seen.lost += rec->lost.lost;
		seen.lost_at = rec->sample_id.time;
	}
}

static int set_up(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1 };

	memset(&seen, 0, sizeof(seen));
	ring = (struct side_ring){ 0 };
	b = (struct sideband){ .rings = &ring, .nrings = 1, .unheard = UINT64_MAX };
	b.next = &b.unheard;
	pev_format_from_attr(&b.format, &attr);
	sideband_set_consumer(&b, see, NULL, &due);
	return 0;
}

static int tear_down(void **state)
{
	free(ring.queue);
	return 0;
}

static void put_comm(uint64_t time, uint16_t cut)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		uint32_t id[2];
		uint64_t time;
	} rec = { { PERF_RECORD_COMM, 0, sizeof(rec) }, 1, 1, "name", { 1, 1 }, time };

	rec.header.size = (uint16_t)(rec.header.size - cut);
	queue_record(&b, &ring, &rec.header);
}

TEST_WITH(what_is_damaged_is_told, set_up, tear_down)
{
	put_comm(10, 0);
	assert_int_equal(seen.comms + seen.lost, 0);   /* its time has not come */
	put_comm(20, 24);
	assert_int_equal(seen.lost, 1);
	assert_int_equal(seen.lost_at, 10);
	sideband_take(&b, 30);
	assert_int_equal(seen.comms, 1);
}

static unsigned int peeked_at;

static void peek(void *ctx, const struct pev_record *rec)
{
	assert_false(sideband_was_peeked(&b));
	peeked_at++;
}

static void see_what_was_peeked_at(void *ctx, const struct pev_record *rec)
{
	see(ctx, rec);
	assert_int_equal(sideband_was_peeked(&b), rec->sample_id.time < 20);
}

/* In a lookup nothing is handed over, however much there is, and each record is passed once. */
TEST_WITH(who_peeks_gets_each_record_once, set_up, tear_down)
{
	sideband_set_consumer(&b, see_what_was_peeked_at, NULL, &due);
	put_comm(10, 0);
	put_comm(11, 0);
	peeked_at = 0;
	sideband_peek(&b, peek, NULL);
	sideband_peek(&b, peek, NULL);
	assert_int_equal(peeked_at, 2);
	assert_int_equal(seen.comms, 0);
	assert_int_equal(due, 10);
	put_comm(20, 0);
	sideband_take(&b, 10);
	assert_int_equal(seen.comms, 1);
	sideband_take(&b, 20);
	assert_int_equal(seen.comms, 3);
	assert_int_equal(due, UINT64_MAX);
	put_comm(30, 0);
	b.peeking = true;
	for (uint64_t t = 31; t <= 100000; t++)
		put_comm(t, 0);
	b.peeking = false;
	assert_int_equal(seen.comms, 3);
	sideband_take(&b, 100000);
	assert_int_equal(seen.comms, 3 + 99971);
	assert_int_equal(seen.lost, 0);
}

/* No room: all that waits is handed over first. */
TEST_WITH(a_full_queue_is_handed_over, set_up, tear_down)
{
	for (uint64_t t = 1; t <= 100000; t++)
		put_comm(t, 0);
	assert_true(seen.comms > 1000 && ring.cap <= MAX_QUEUE);
	sideband_take(&b, 100000);
	assert_int_equal(seen.comms, 100000);
	assert_int_equal(seen.lost, 0);
}

/* Of a program, as the kernel lays it for its second listener: with room for the first one's sample_id. */
TEST_WITH(a_size_that_is_too_large_is_mended, set_up, tear_down)
{
	const struct {
		struct perf_event_header header;
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char name[8];
		uint32_t id[2];
		uint64_t time, stale[2];
	} rec = { { PERF_RECORD_KSYMBOL, 0, sizeof(rec) }, 1, 1, 1, 0, "bpf_x", { 1, 1 }, 20, { 2, 10 } };
	queue_record(&b, &ring, &rec.header);
	assert_int_equal(due, 20);
	assert_int_equal(queued_at(&ring, ring.head)->rec.size, sizeof(rec) - sizeof(rec.stale));
	sideband_take(&b, 20);
	assert_int_equal(seen.lost, 0);
}
