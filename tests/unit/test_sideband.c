/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of records about tasks: what finds no way through them is told as lost. */
#include "cmocka_all.h"

#include "stream/watched/sideband.c"

struct seen {
	unsigned int comms;
	uint64_t lost, lost_at;
};

static void see(void *ctx, const struct pev_record *rec)
{
	struct seen *seen = ctx;

	seen->comms += rec->type == PERF_RECORD_COMM;
	if (rec->type == PERF_RECORD_LOST) {
		seen->lost += rec->lost.lost;
		seen->lost_at = rec->sample_id.time;
	}
}

static void set_up(struct sideband *b, struct side_ring *ring, struct seen *seen)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1,
	};

	*seen = (struct seen){ 0 };
	*ring = (struct side_ring){ 0 };
	*b = (struct sideband){ .rings = ring, .nrings = 1, .next = UINT64_MAX };
	pev_format_from_attr(&b->format, &attr);
	sideband_set_consumer(b, see, seen);
}

static void put_comm(struct sideband *b, struct side_ring *ring, uint64_t time, uint16_t cut)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		uint32_t id[2];
		uint64_t time;
	} rec = { { PERF_RECORD_COMM, 0, sizeof(rec) }, 1, 1, "name", { 1, 1 }, time };

	rec.header.size = (uint16_t)(rec.header.size - cut);
	queue_record(b, ring, &rec.header);
}

static void what_is_damaged_is_told(void **state)
{
	struct sideband b;
	struct side_ring ring;
	struct seen seen;

	set_up(&b, &ring, &seen);
	put_comm(&b, &ring, 10, 0);
	assert_int_equal(seen.comms + seen.lost, 0);   /* its time has not come */
	put_comm(&b, &ring, 20, 24);
	assert_int_equal(seen.lost, 1);
	assert_int_equal(seen.lost_at, 10);
	sideband_take(&b, 30);
	assert_int_equal(seen.comms, 1);
	free(ring.queue);
}

/* No room: all that waits is handed over first. */
static void a_full_queue_is_handed_over(void **state)
{
	struct sideband b;
	struct side_ring ring;
	struct seen seen;

	set_up(&b, &ring, &seen);
	for (uint64_t t = 1; t <= 10000; t++)
		put_comm(&b, &ring, t, 0);
	assert_true(seen.comms > 1000 && ring.cap <= MAX_QUEUE);
	sideband_take(&b, 10000);
	assert_int_equal(seen.comms, 10000);
	assert_int_equal(seen.lost, 0);
	free(ring.queue);
}

/* Of a program, as the kernel lays it for its second listener: with room for the first one's sample_id. */
static void a_size_that_is_too_large_is_mended(void **state)
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
	struct sideband b;
	struct side_ring ring;
	struct seen seen;

	set_up(&b, &ring, &seen);
	queue_record(&b, &ring, &rec.header);
	assert_int_equal(b.next, 20);
	assert_int_equal(first_queued(&ring)->rec.size, sizeof(rec) - sizeof(rec.stale));
	sideband_take(&b, 20);
	assert_int_equal(seen.lost, 0);
	free(ring.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_damaged_is_told),
		cmocka_unit_test(a_full_queue_is_handed_over),
		cmocka_unit_test(a_size_that_is_too_large_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
