/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in samples: whose they are, and what they went on by. */
#include "checks.h"

#include "stream/choice/counts.c"

enum { CYCLES = 11, INSTRUCTIONS = 12, GONE = -1 };

static struct stream_event leader = {
	.layout = { .tid = 8, .read = 16, .fixed_end = 24 },
};

/* A group of two, each with its descriptor on one CPU. */
static struct stream *a_stream(bool inherits)
{
	const struct member members[] = {
		{ CYCLES, NULL, "cycles", inherits, 0 }, { INSTRUCTIONS, NULL, "instructions", inherits, 0 },
	};
	struct stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->choice.counts = calloc(1, sizeof(*s->choice.counts));
	leader.counts = calloc(1, sizeof(*leader.counts) + 2 * sizeof(*leader.counts->v));
	assert_true(s->choice.counts && leader.counts);
	leader.counts->room = 2;
	leader.counts->group = true;
	leader.counts->first = leader.counts->id = 8;
	leader.counts->entry = 16;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(add(s->choice.counts, &members[i]), 0);
	return s;
}

static void done(struct stream *s)
{
	counts_free(s);
	free(leader.counts);
	leader.counts = NULL;
	free(s);
}

/* A sample of that task: by how much each of the two went on. */
static void adds(struct stream *s, int32_t tid, uint64_t cycles, uint64_t instructions, uint64_t more_cycles,
		 uint64_t more_instructions)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t nr, cycles, cycles_id, instructions, instructions_id;
	} rec = { { PERF_RECORD_SAMPLE, 0, sizeof(rec) }, tid, tid, 2, cycles, CYCLES, instructions, INSTRUCTIONS };

	counts_take(s, &leader, &rec.header);
	ARE(NUMBERS(leader.counts->n, leader.counts->v[0].value, leader.counts->v[0].delta, leader.counts->v[1].delta),
	    NUMBERS(2, cycles, more_cycles, more_instructions));
}

TEST(a_counter_for_each_task)
{
	struct stream *s = a_stream(true);

	adds(s, 5, 100, 50, 100, 50);
	adds(s, 6, 70, 30, 70, 30);
	adds(s, 5, 130, 65, 30, 15);
	adds(s, 6, 71, 30, 1, 0);
	adds(s, 5, 20, 8, 20, 8);      /* another one with that id */
	done(s);
}

TEST(one_for_all)
{
	struct stream *s = a_stream(false);

	adds(s, 5, 100, 50, 100, 50);
	adds(s, 6, 120, 60, 20, 10);
	adds(s, GONE, 125, 61, 5, 1);
	adds(s, 5, 126, 61, 1, 0);
	done(s);
}

TEST(who_is_on_its_way_out_counts_on)
{
	struct stream *s = a_stream(true);

	adds(s, 6, 40, 20, 40, 20);
	adds(s, 5, 100, 50, 100, 50);
	adds(s, GONE, 130, 65, 30, 15);
	adds(s, GONE, 131, 66, 1, 1);  /* the same once more */
	adds(s, 6, 50, 25, 10, 5);
	adds(s, GONE, 55, 27, 5, 2);
	adds(s, GONE, 3, 1, 3, 1);     /* a task that had no sample before */
	done(s);
}

TEST(nobody_was_there_before)
{
	struct stream *s = a_stream(true);

	adds(s, GONE, 9, 4, 9, 4);
	adds(s, GONE, 10, 4, 1, 0);
	adds(s, 5, 10, 5, 10, 5);
	done(s);
}
