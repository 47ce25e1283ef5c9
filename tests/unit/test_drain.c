/* SPDX-License-Identifier: Apache-2.0 */
/* What the hot path counts. */
#include "checks.h"

#include "stream/list/samplelimits.c"
#include "stream/rings/ringrecords.h"

/* The descriptors count what a full ring lost, and nothing else: the tail is what they know
 * more than the records told of it. */
TEST(losses)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} full = { { PERF_RECORD_LOST, 0, sizeof(full) }, 1, 5 };
	struct {
		struct perf_event_header header;
		uint64_t lost, behind;
	} pmu = { { PERF_RECORD_LOST_SAMPLES, 0, 16 }, 7, 99 };
	static struct stream stream;
	struct ring ring = { 0 };

	assert_int_equal(ring_take_lost(&stream, &ring, &full.header), 5);
	assert_int_equal(ring.lost, 5);
	assert_int_equal(ring_take_lost(&stream, &ring, &pmu.header), 7);
	assert_int_equal(ring.lost, 5);
	full.header.size = pmu.header.size = 8;      /* cut */
	assert_int_equal(ring_take_lost(&stream, &ring, &full.header), 0);
	assert_int_equal(ring_take_lost(&stream, &ring, &pmu.header), 0);
	assert_int_equal(ring.lost, 5);
}

static bool passes(struct stream *s, struct ring *ring, uint64_t time)
{
	struct stream_event event = { .layout.time = 8 };
	struct {
		struct perf_event_header header;
		uint64_t time;
	} rec = { { PERF_RECORD_SAMPLE, 0, sizeof(rec) }, time };

	return within_rate(s, ring, &event, &rec.header);
}

static unsigned int passed(struct stream *s, struct ring *ring, uint64_t from, uint64_t step, int n)
{
	unsigned int passed = 0;

	for (int i = 0; i < n; i++)
		passed += passes(s, ring, from + (uint64_t)i * step);
	return passed;
}

TEST(rate)
{
	struct stream_opts opts = { .sampling_limit = 10 };
	struct stream *s = calloc(1, sizeof(*s));
	struct ring ring = { 0 };
	unsigned int n = 0;

	assert_non_null(s);
	s->opts = &opts;
	assert_int_equal(passed(s, &ring, 100 * SECOND, SECOND / 100, 100), 10);
	assert_int_equal(passed(s, &ring, 101 * SECOND, SECOND / 100, 100), 10);
	/* in turns on this side of a second's start and on that */
	for (uint64_t i = 0; i < 50; i++)
		n += passes(s, &ring, 102 * SECOND + i) + passes(s, &ring, 102 * SECOND - 1 - i);
	assert_int_equal(n, 10);
	assert_int_equal(passed(s, &ring, 103 * SECOND, SECOND / 100, 100), 10);
	assert_int_equal(passed(s, &ring, 50 * SECOND, SECOND / 100, 100), 10);   /* another clock */
	assert_int_equal(s->loss.totals.limited, 4 * 90 + 90);
	free(s);
}
