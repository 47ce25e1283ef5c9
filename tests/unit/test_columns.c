/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as columns: which there are, what rows have, and how Arrow gets them. */
#include "columnbench.h"

#include "columns/builder.h"
#include "columns/concat.h"
#include "columns/export.h"
#include "columns/part.h"
#include "columns/selection.h"
#include "stream/state/state.h"

#include <errno.h>
#include <stdlib.h>

/* The allocations of part.c fail when told to. */
static long fail_after = -1;     /* allocations that still succeed; -1: all */

static bool fails(void)
{
	return fail_after >= 0 && !fail_after--;
}

static void *part_malloc(size_t n)
{
	return fails() ? NULL : malloc(n);
}

static void *part_calloc(size_t n, size_t size)
{
	return fails() ? NULL : calloc(n, size);
}

#define malloc part_malloc
#define calloc part_calloc
#include "columns/part.c"
#undef malloc
#undef calloc

/* ---- which columns there are --------------------------------------------------------- */

#define ASKED(b, ...) make(b, (const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ })))

static void choice(void **state)
{
	struct bench *b = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);

	assert_int_equal(make(b, NULL, 0), 0);
	expect_columns(b, "_time _cpu _pid _tid _comm _event _lost prev_comm prev_pid prev_prio prev_state next_comm next_pid "
			  "next_prio comm pid prio success target_cpu");
	assert_true(b->naming.needed);
	assert_true(b->events[0].reads & PERF_SAMPLE_RAW);
	assert_int_equal(ASKED(b, "next_pid", "pid"), 0);
	expect_columns(b, "_time _cpu _pid _tid _comm _event _lost next_pid pid");
	/* named common columns replace the others; the same twice is once */
	assert_int_equal(ASKED(b, "next_pid", "_tid", "next_pid", "_lost"), 0);
	expect_columns(b, "_tid _event _lost next_pid");
	assert_int_equal(ASKED(b, "sched:sched_wakeup.pid", "common_pid", "_period"), 0);
	expect_columns(b, "_time _cpu _pid _tid _comm _event _lost sched:sched_wakeup.pid common_pid _period");
	bench_end(b);
}

/* What events of the stream that are not wanted have is not known. */
static void known(void **state)
{
	struct bench *b = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);

	b->events[1].wanted = false;
	assert_true(plans_know(&b->stream, "next_pid") && plans_know(&b->stream, "sched:sched_switch.next_pid"));
	assert_true(plans_know(&b->stream, "_comm") && plans_know(&b->stream, "_lost"));
	assert_false(plans_know(&b->stream, "target_cpu") || plans_know(&b->stream, "sched:sched_wakeup.target_cpu"));
	assert_false(plans_know(&b->stream, "sched:sched_switch.") || plans_know(&b->stream, ""));
	bench_end(b);
}

static void refused(void **state)
{
	struct bench *b = bench(SCHED_SWITCH_5_10, NULL);

	assert_int_equal(ASKED(b, "prevcomm"), -1);
	assert_int_equal(b->f.exit_code, EXIT_USAGE);
	assert_non_null(strstr(b->f.text, "prevcomm; did you mean prev_comm?"));
	assert_int_equal(ASKED(b, "_tmie"), -1);
	assert_non_null(strstr(b->f.text, "did you mean _time?"));
	assert_int_equal(ASKED(b, "sched:sched_switch.nothing"), -1);
	assert_int_equal(ASKED(b, ""), -1);
	bench_end(b);
}

#define ALIKE "name: %s\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:%s;\toffset:8;\tsize:%d;\tsigned:%d;\n" \
	      "\nprint fmt: \"\"\n"

static void two_types(void **state)
{
	char one[512], two[512];
	struct bench *b;

	snprintf(one, sizeof(one), ALIKE, "one", 1, "int x", 4, 1);
	snprintf(two, sizeof(two), ALIKE, "two", 2, "u64 x", 8, 0);
	b = bench(one, two);
	assert_int_equal(ASKED(b, "x", "_time"), 0);
	expect_columns(b, "_time _event _lost sched:sched_switch.x sched:sched_wakeup.x");
	assert_int_equal(b->plans.columns->v[3].type, COLUMN_S32);
	assert_int_equal(b->plans.columns->v[4].type, COLUMN_U64);
	assert_int_equal(b->plans.v[0].nmissing, 1);   /* the other's x */
	bench_end(b);
}

/* ---- rows ---------------------------------------------------------------------------- */

static void rows(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	struct sample s = switch_sample(1000, "first", -5), t = switch_sample(1001, "\xff\xc3\xa4", 6);
	struct builder *b;
	struct batch *out;

	assert_int_equal(make(x, NULL, 0), 0);
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	assert_non_null(b);
	assert_null(builder_take(b));
	assert_false(add(b, x, 0, &s, 1));
	comm_now = "other";
	assert_false(add(b, x, 0, &t, 0));
	comm_now = "worker";
	assert_false(add(b, x, 1, &s, 1));
	out = builder_take(b);
	assert_int_equal(out->rows, 3);
	assert_int_equal(number(out, "_time", 1), 1001);
	assert_int_equal(number(out, "next_pid", 0), -5);
	assert_int_equal(number(out, "_tid", 2), 8);
	expect_text(out, "_comm", 0, "worker");
	expect_text(out, "_comm", 1, "other");
	expect_text(out, "_event", 2, "sched:sched_wakeup");
	expect_text(out, "prev_comm", 0, "first");
	expect_text(out, "prev_comm", 1, "\\xff\xc3\xa4");   /* what is not UTF-8 is written out */
	assert_true(is_null(out, "prev_comm", 2) && is_null(out, "_lost", 0) && is_null(out, "comm", 0));
	assert_int_equal(out->v[columns_find(out->columns, "comm")].nulls, 2);
	/* a batch outlives its builder and its stream */
	builder_free(b);
	bench_end(x);
	expect_text(out, "prev_comm", 0, "first");
	batch_release(out);
}

/* Batches of many columns have fewer rows. */
static void rows_of_batches(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	const char *const few[] = { "_time", "next_pid" };
	const size_t asked[] = { 1, 5000, BATCH_ROWS };
	struct builder *b;

	assert_int_equal(make(x, few, 2), 0);
	b = builder_new(&x->plans, &x->stream, 0);
	assert_int_equal(builder_room(b), BATCH_ROWS);
	builder_free(b);
	bench_end(x);
	x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	assert_int_equal(make(x, NULL, 0), 0);
	b = builder_new(&x->plans, &x->stream, 0);
	assert_in_range(builder_room(b), 4096, BATCH_ROWS / 4);
	builder_free(b);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		b = builder_new(&x->plans, &x->stream, asked[i]);
		assert_int_equal(builder_room(b), asked[i]);
		builder_free(b);
	}
	bench_end(x);
}

static void expect_same(const struct batch *a, const struct batch *b)
{
	assert_int_equal(a->rows, b->rows);
	for (size_t c = 0; c < a->columns->n; c++)
		for (size_t row = 0; row < a->rows; row++) {
			assert_int_equal(batch_is_null(a, c, row), batch_is_null(b, c, row));
			if (a->columns->v[c].type != COLUMN_BYTES)
				assert_int_equal(batch_number(a, c, row), batch_number(b, c, row));
		}
}

/* Samples added together are the same rows as one by one: of two events by turns and in runs, with texts and nulls. */
static void many_at_once(void **state)
{
	enum { N = STREAM_SAMPLES };
	struct bench *x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	struct sample samples[N];
	struct stream_samples v;
	struct builder *one, *many;
	struct batch *a, *b;

	assert_int_equal(make(x, NULL, 0), 0);
	one = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	many = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	builder_add_loss(one, &(struct stream_loss){ .count = 2, .cpu = 1, .cause = STREAM_LOSS_RING });
	builder_add_loss(many, &(struct stream_loss){ .count = 2, .cpu = 1, .cause = STREAM_LOSS_RING });
	for (int i = 0; i < N; i++) {
		size_t event = i < 40 ? 0 : i < 80 ? (size_t)i % 2 : 1;
		uint32_t cpu = i % 7 ? (uint32_t)i % 3 : (uint32_t)-1;

		samples[i] = switch_sample(1000 + (uint64_t)i, i % 3 ? "name" : "other", i - 9);
		v.event[i] = &x->events[event];
		v.rec[i] = &samples[i].header;
		v.raw[i] = samples[i].raw;
		v.cpu[i] = cpu;
		add(one, x, event, &samples[i], cpu);
	}
	assert_int_equal(builder_room(many), builder_room(one) + N);
	assert_false(builder_add_samples(many, &v, 0, 100));
	assert_false(builder_add_samples(many, &v, 100, N - 100));
	a = builder_take(one);
	b = builder_take(many);
	assert_int_equal(b->rows, N + 1);
	assert_int_equal(builder_decoded(many), builder_decoded(one));
	expect_same(a, b);
	expect_text(b, "prev_comm", 1, "other");
	assert_int_equal(number(b, "next_pid", 2), -8);
	assert_true(is_null(b, "_cpu", 1));
	batch_release(a);
	batch_release(b);
	builder_free(one);
	builder_free(many);
	bench_end(x);
}

/* Samples that are alike are the same rows as one by one, also from the middle of them, and without a CPU. */
static void alike_at_once(void **state)
{
	enum { N = STREAM_ALIKE };
	struct bench *x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	struct sample samples[N];
	struct builder *one, *many;
	struct batch *a, *b;

	assert_int_equal(make(x, NULL, 0), 0);
	one = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	many = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	for (size_t turn = 0; turn < 3; turn++) {
		const uint32_t cpu = (uint32_t[]){ 3, 1, UINT32_MAX }[turn];
		struct stream_alike v = {
			.event = &x->events[0], .first = (const char *)samples, .size = sizeof(*samples), .n = N, .cpu = cpu,
			.raw_at = (size_t)((const char *)samples[0].raw - (const char *)samples),
		};

		for (int i = 0; i < N; i++) {
			samples[i] = switch_sample(1000 * turn + (uint64_t)i, i % 3 ? "name" : "other", i - 9);
			add(one, x, 0, &samples[i], cpu);
		}
		v.raw_size = stream_raw_size(samples[0].raw);
		assert_false(builder_add_alike(many, &v, 0, 5));
		assert_false(builder_add_alike(many, &v, 5, N - 5));
	}
	assert_int_equal(builder_room(many), builder_room(one));
	assert_int_equal(builder_decoded(many), builder_decoded(one));
	a = builder_take(one);
	b = builder_take(many);
	assert_int_equal(b->rows, 3 * N);
	expect_same(a, b);
	expect_text(b, "prev_comm", N, "other");
	assert_int_equal(number(b, "next_pid", 1), -8);
	assert_int_equal(number(b, "_cpu", N), 1);
	assert_true(is_null(b, "_cpu", 2 * N));
	batch_release(a);
	batch_release(b);
	builder_free(one);
	builder_free(many);
	bench_end(x);
}

static void losses(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, NULL);
	struct sample s = switch_sample(500, "a", 1);
	struct builder *b;
	struct batch *out;

	assert_int_equal(make(x, NULL, 0), 0);
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	builder_add_loss(b, &(struct stream_loss){ .count = 3, .cpu = 1, .cause = STREAM_LOSS_RING });
	add(b, x, 0, &s, 1);
	builder_add_loss(b, &(struct stream_loss){ .count = 4, .cpu = 1, .cause = STREAM_LOSS_TAIL });
	builder_add_loss(b, &(struct stream_loss){ .count = 5, .cpu = 0, .start = 8, .end = 9, .cause = STREAM_LOSS_RING });
	builder_add_loss(b, &(struct stream_loss){ .cpu = -1, .start = 8, .cause = STREAM_LOSS_THROTTLED });
	out = builder_take(b);
	assert_int_equal(out->rows, 5);
	expect_text(out, "_event", 0, "lost:ring");
	assert_int_equal(number(out, "_lost", 0), 3);
	assert_int_equal(number(out, "_cpu", 0), 1);
	assert_true(is_null(out, "_time", 0) && is_null(out, "_pid", 0) && is_null(out, "_comm", 0));
	assert_int_equal(number(out, "_time", 2), 500);   /* that of the sample before it there */
	expect_text(out, "_event", 2, "lost:tail");
	expect_text(out, "_event", 1, "sched:sched_switch");
	assert_int_equal(number(out, "_time", 3), 9);
	assert_int_equal(number(out, "_time", 4), 8);
	assert_true(is_null(out, "_cpu", 4));
	assert_int_equal(number(out, "_lost", 4), 0);
	batch_release(out);
	builder_free(b);
	bench_end(x);
}

/* A batch has the names of its events, also of those before its first loss. */
static void a_loss_behind_events(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, NULL);
	struct sample s = switch_sample(500, "a", 1);
	struct builder *b;
	struct batch *out;

	assert_int_equal(make(x, NULL, 0), 0);
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	for (int batch = 0; batch < 2; batch++) {
		add(b, x, 0, &s, 1);
		add(b, x, 0, &s, 1);
		if (!batch)
			builder_add_loss(b, &(struct stream_loss){ .count = 4, .cpu = 1, .cause = STREAM_LOSS_RING });
		add(b, x, 0, &s, 1);
		out = builder_take(b);
		for (size_t row = 0; row < out->rows; row++)
			expect_text(out, "_event", row, !batch && row == 2 ? "lost:ring" : "sched:sched_switch");
		batch_release(out);
	}
	builder_free(b);
	bench_end(x);
}

/* Blocks are used again only once nobody has the batch. */
static void full_batches(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, NULL);
	struct sample s;
	struct builder *b;
	struct batch *first = NULL, *second;

	assert_int_equal(ASKED(x, "_time", "prev_comm"), 0);
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	for (int batch = 0; batch < 2; batch++)
		for (int i = 0; i < BATCH_ROWS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "%d", i / 8);
			s = switch_sample((uint64_t)(batch * BATCH_ROWS + i), name, 0);
			assert_int_equal(add(b, x, 0, &s, 0), i == BATCH_ROWS - 1);
			if (i == BATCH_ROWS - 1 && !batch)
				first = builder_take(b);
		}
	second = builder_take(b);
	assert_int_equal(first->rows, BATCH_ROWS);
	assert_null(first->v[0].valid);
	assert_int_equal(number(first, "_time", BATCH_ROWS - 1), BATCH_ROWS - 1);
	assert_int_equal(number(second, "_time", 0), BATCH_ROWS);
	expect_text(first, "prev_comm", BATCH_ROWS - 1, "8191");
	expect_text(second, "prev_comm", 1000, "125");
	assert_int_equal(first->v[columns_find(first->columns, "prev_comm")].texts->n, 8192);
	builder_free(b);
	batch_release(first);
	batch_release(second);
	bench_end(x);
}

/* A builder of small batches has no room for more, nor shows what was there before. */
static void small_batches(void **state)
{
	enum { ROWS = 3 };
	struct bench *x = bench(SCHED_SWITCH_5_10, NULL);
	struct stream_loss loss = { .count = 3, .cpu = 1, .cause = STREAM_LOSS_RING };
	struct builder *b;

	assert_int_equal(ASKED(x, "_time", "prev_comm"), 0);
	b = builder_new(&x->plans, &x->stream, ROWS);
	for (int batch = 0; batch < 4; batch++) {
		struct sample s = switch_sample((uint64_t)batch, "a", 0);
		struct batch *out;

		assert_false(batch % 2 ? add(b, x, 0, &s, 0) : builder_add_loss(b, &loss));
		assert_false(add(b, x, 0, &s, 0));
		assert_true(add(b, x, 0, &s, 0));
		out = builder_take(b);
		assert_int_equal(out->rows, ROWS);
		assert_int_equal(is_null(out, "_lost", 0), batch % 2);
		assert_true(is_null(out, "_lost", 1) && is_null(out, "_lost", 2));
		assert_int_equal(number(out, "_time", 2), batch);
		batch_release(out);
	}
	builder_free(b);
	bench_end(x);
}

/* A batch of 3 rows: of an event with bytes and of one without them, and a loss. `first` is its first byte, and text. */
static struct batch *three_rows(struct bench *x, char first)
{
	struct builder *b = builder_new(&x->plans, &x->stream, 3);
	struct sample s = switch_sample((uint64_t)first, (const char[16]){ first, 'b', 'c', 'd' }, 0);
	struct batch *out;

	assert_non_null(b);
	comm_now = (const char[]){ first, '\0' };
	add(b, x, 0, &s, 1);
	add(b, x, 1, &s, 1);
	builder_add_loss(b, &(struct stream_loss){ .count = 3, .cpu = 1, .cause = STREAM_LOSS_RING });
	out = builder_take(b);
	comm_now = "worker";
	builder_free(b);
	return out;
}

static void expect_row(const struct batch *b, size_t row, const char *bytes, const char *comm)
{
	size_t x = (size_t)columns_find(b->columns, "x"), len;
	const char *found = batch_bytes(b, x, row, &len);

	assert_int_equal(is_null(b, "x", row), !bytes);
	assert_int_equal(len, bytes ? 4 : 0);
	assert_memory_equal(found, bytes ? bytes : "", len);
	if (comm)
		expect_text(b, "_comm", row, comm);
	else
		assert_true(is_null(b, "_comm", row));
}

static void one_batch_of_several(void **state)
{
	char one[512], two[512];
	struct batch *a, *b, *all;
	struct bench *x;

	snprintf(one, sizeof(one), ALIKE, "one", 1, "u8 x[4]", 4, 0);
	snprintf(two, sizeof(two), ALIKE, "two", 2, "int y", 4, 1);
	x = bench(one, two);
	assert_int_equal(ASKED(x, "_time", "_comm", "x"), 0);
	a = three_rows(x, 'p');
	b = three_rows(x, 'q');
	bench_end(x);
	assert_true(batch_is_like(a, b));
	assert_int_equal(batch_concat((struct batch_part[]){ { b, 0, 3 }, { a, 1, 0 }, { a, 0, 2 }, { b, 2, 1 }, { a, 0, 1 } }, 5, &all), 0);
	batch_release(a);
	batch_release(b);
	assert_int_equal(all->rows, 7);
	expect_row(all, 0, "qbcd", "q");
	expect_row(all, 1, NULL, "q");
	expect_row(all, 2, NULL, NULL);
	expect_row(all, 3, "pbcd", "p");
	expect_row(all, 4, NULL, "p");
	expect_row(all, 5, NULL, NULL);
	expect_row(all, 6, "pbcd", "p");
	assert_int_equal(number(all, "_time", 3), 'p');
	assert_int_equal(number(all, "_lost", 5), 3);
	assert_int_equal(all->v[columns_find(all->columns, "x")].nulls, 4);
	assert_int_equal(all->v[columns_find(all->columns, "_comm")].texts->n, 2);
	batch_release(all);
}

static int32_t stack_of(void *ctx, const struct stream_event *event, const struct perf_event_header *rec)
{
	int32_t *next = ctx;

	return *next < 0 ? -1 : (*next)--;
}

/* The column _stack: where events have call chains, and they are asked for; null without a number. */
static void stacks(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	struct sample s = switch_sample(1, "one", 1);
	struct builder *b;
	struct batch *out;
	int32_t next = 1;

	assert_int_equal(ASKED(x, "_stack"), -1);
	assert_non_null(strstr(x->f.text, "none of the events has call chains"));
	x->events[0].stacks = STACKS_ALWAYS;
	assert_int_equal(ASKED(x, "_time"), -1);
	layout_from_sample_type(&x->events[0].layout, PARTS | PERF_SAMPLE_CALLCHAIN);
	assert_int_equal(ASKED(x, "_time"), 0);
	expect_columns(x, "_time _event _lost _stack");
	assert_true(x->events[0].reads & PERF_SAMPLE_CALLCHAIN);
	assert_false(x->events[1].reads & PERF_SAMPLE_CALLCHAIN);
	x->events[0].stacks = STACKS_NAMED;
	assert_int_equal(ASKED(x, "_time"), 0);
	expect_columns(x, "_time _event _lost");
	assert_int_equal(ASKED(x, "_stack", "_tid"), 0);
	expect_columns(x, "_tid _event _lost _stack");
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	add(b, x, 0, &s, 0);                                   /* nobody numbers stacks */
	builder_set_stacks(b, stack_of, &next);
	for (int i = 0; i < 3; i++)
		add(b, x, 0, &s, 0);
	add(b, x, 1, &s, 0);
	out = builder_take(b);
	assert_true(is_null(out, "_stack", 0) && is_null(out, "_stack", 3) && is_null(out, "_stack", 4));
	assert_int_equal(number(out, "_stack", 1), 1);
	assert_int_equal(number(out, "_stack", 2), 0);
	batch_release(out);
	builder_free(b);
	bench_end(x);
}

/* ---- texts --------------------------------------------------------------------------- */

static void texts(void **state)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{ "", "" }, { "a", "a" }, { "12345678", "12345678" }, { "123456789", "123456789" }, { "\x80", "\\x80" },
		{ "\xc0\xaf", "\\xc0\\xaf" }, { "\xed\xa0\x80", "\\xed\\xa0\\x80" }, { "\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, { "x\xe2\x82", "x\\xe2\\x82" }, { "\xe2\x82\xac", "\xe2\x82\xac" },
	};
	struct dictionary d;
	struct texts *t, *again;

	assert_int_equal(dictionary_begin(&d), 0);
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < COUNT(cases); i++)
			assert_int_equal(dictionary_number(&d, cases[i].bytes, strlen(cases[i].bytes)), i);
	t = dictionary_take(&d);
	again = dictionary_take(&d);
	assert_ptr_equal(t, again);
	texts_release(again);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(t->offsets[i + 1] - t->offsets[i], strlen(cases[i].text));
		assert_memory_equal(t->bytes + t->offsets[i], cases[i].text, strlen(cases[i].text));
	}
	assert_int_equal(dictionary_number(&d, "new", 3), COUNT(cases));
	again = dictionary_take(&d);
	assert_int_equal(t->n, COUNT(cases));   /* did not change */
	assert_int_equal(again->n, COUNT(cases) + 1);
	texts_release(again);
	dictionary_end(&d);
	assert_memory_equal(t->bytes + t->offsets[1], "a", 1);
	texts_release(t);
}

/* ---- the rows of some events ---------------------------------------------------------- */

static void expect_bytes(const struct batch *b, const char *column, size_t row, const char *expected)
{
	size_t len;
	const char *bytes = batch_bytes(b, (size_t)columns_find(b->columns, column), row, &len);

	assert_int_equal(len, 4);
	assert_memory_equal(bytes, expected, len);
}

static struct batch *part_rows(struct part *p, struct batch *whole, size_t from, size_t n, size_t expected_events)
{
	struct batch *out;
	size_t events;

	assert_int_equal(part_take(p, whole, from, n, &out, &events), 0);
	assert_int_equal(events, expected_events);
	return out;
}

/* Of an event with an array of bytes and one with a number by the same name, and a loss. */
static struct batch *mixed(struct bench **x)
{
	struct sample s = switch_sample(1, "abcd", 0);
	struct builder *b;
	struct batch *out;
	char one[512], two[512];

	snprintf(one, sizeof(one), ALIKE, "one", 1, "u8 x[4]", 4, 0);
	snprintf(two, sizeof(two), ALIKE, "two", 2, "u64 x", 8, 0);
	*x = bench(one, two);
	assert_int_equal(ASKED(*x, "_time", "x"), 0);
	expect_columns(*x, "_time _event _lost sched:sched_switch.x sched:sched_wakeup.x");
	b = builder_new(&(*x)->plans, &(*x)->stream, BATCH_ROWS);
	add(b, *x, 0, &s, 0);
	s = switch_sample(2, "\5", 0);
	add(b, *x, 1, &s, 0);
	builder_add_loss(b, &(struct stream_loss){ .count = 3, .cpu = 1, .start = 3, .cause = STREAM_LOSS_RING });
	s = switch_sample(4, "efgh", 0);
	add(b, *x, 0, &s, 0);
	out = builder_take(b);
	builder_free(b);
	return out;
}

static void parts(void **state)
{
	struct part p;
	struct bench *x;
	struct batch *whole = mixed(&x), *out;

	assert_int_equal(part_begin(&p, &x->plans, (const char *const[]){ "sched:sched_switch", NULL }, true), 0);
	out = part_rows(&p, whole, 0, 4, 2);
	assert_int_equal(out->rows, 3);
	assert_int_equal(out->columns->n, 4);
	assert_string_equal(out->columns->v[3].name, "x");
	assert_int_equal(number(out, "_time", 2), 4);
	assert_int_equal(number(out, "_lost", 1), 3);
	assert_true(is_null(out, "_lost", 0) && is_null(out, "x", 1) && is_null(out, "_lost", 2));
	expect_bytes(out, "x", 0, "abcd");
	expect_bytes(out, "x", 2, "efgh");
	expect_text(out, "_event", 1, "lost:ring");
	assert_int_equal(batch_size(out), 64 * 6 + 8);   /* a part of 64 bytes for each column's values, two have nulls */
	batch_release(out);
	out = part_rows(&p, whole, 3, 1, 1);
	assert_int_equal(out->rows, 1);
	expect_bytes(out, "x", 0, "efgh");
	batch_release(out);
	part_end(&p);

	assert_int_equal(part_begin(&p, &x->plans, (const char *const[]){ "sched:sched_wakeup", NULL }, false), 0);
	out = part_rows(&p, whole, 0, 4, 1);
	assert_int_equal(out->rows, 1);
	assert_int_equal(number(out, "x", 0), '\5');
	assert_null(out->v[columns_find(out->columns, "x")].valid);
	batch_release(out);
	assert_null(part_rows(&p, whole, 2, 2, 0));
	part_end(&p);
	batch_release(whole);
	bench_end(x);
}

/* What has all rows and columns is no copy. */
static void whole_parts(void **state)
{
	struct part p;
	struct bench *x;
	struct batch *whole = mixed(&x), *out;
	static const char *const both[] = { "sched:sched_wakeup", "sched:sched_switch", NULL };

	assert_int_equal(part_begin(&p, &x->plans, both, true), 0);
	out = part_rows(&p, whole, 0, 4, 3);
	assert_ptr_equal(out, whole);
	batch_release(out);
	part_end(&p);
	assert_int_equal(part_begin(&p, &x->plans, both, false), 0);
	out = part_rows(&p, whole, 0, 4, 3);
	assert_int_equal(out->rows, 3);
	assert_string_equal(out->columns->v[3].name, "sched:sched_switch.x");
	batch_release(out);
	part_end(&p);
	assert_int_equal(part_begin(&p, &x->plans, (const char *const[]){ "sched:nothing", NULL }, true), -ENOENT);
	part_end(&p);
	batch_release(whole);
	bench_end(x);
}

/* Rows that there is no memory for are counted all the same. */
static void parts_without_memory(void **state)
{
	static const char *const one[] = { "sched:sched_switch", NULL };
	struct part p;
	struct bench *x;
	struct batch *whole = mixed(&x), *out;
	size_t events;

	for (long allocations = 0; allocations < 2; allocations++) {   /* which names it takes; the numbers of rows */
		assert_int_equal(part_begin(&p, &x->plans, one, true), 0);
		fail_after = allocations;
		assert_int_equal(part_take(&p, whole, 0, 4, &out, &events), -ENOMEM);
		assert_int_equal(fail_after, -1);
		assert_null(out);
		assert_int_equal(events, 2);
		out = part_rows(&p, whole, 0, 4, 2);   /* and then it goes on */
		assert_int_equal(out->rows, 3);
		batch_release(out);
		part_end(&p);
	}
	batch_release(whole);
	bench_end(x);
}

/* ---- Arrow --------------------------------------------------------------------------- */

static void arrow(void **state)
{
	struct bench *x = bench(SCHED_SWITCH_5_10, NULL);
	struct sample s = switch_sample(1, "one", 1);
	struct ArrowSchema schema, moved_schema;
	struct ArrowArray array, moved;
	struct builder *b;
	struct batch *out;

	assert_int_equal(ASKED(x, "_time", "prev_comm"), 0);
	b = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	for (int i = 0; i < 3; i++)
		add(b, x, 0, &s, 0);
	out = builder_take(b);
	assert_int_equal(export_schema(out->columns, &schema), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(schema.n_children, 4);
	assert_string_equal(schema.children[0]->format, "L");
	assert_string_equal(schema.children[3]->name, "prev_comm");
	assert_string_equal(schema.children[3]->format, "i");
	assert_string_equal(schema.children[3]->dictionary->format, "u");
	assert_int_equal(export_batch(out, 1, 2, &array), 0);
	assert_int_equal(array.length, 2);
	assert_int_equal(array.children[0]->offset, 1);
	assert_int_equal(array.children[0]->null_count, 0);
	assert_null(array.children[0]->buffers[0]);
	assert_ptr_equal(array.children[0]->buffers[1], out->v[0].values);   /* no copy */
	/* a child is moved out, and outlives parent, batch, builder and stream */
	moved = *array.children[0];
	array.children[0]->release = NULL;
	moved_schema = *schema.children[3];
	schema.children[3]->release = NULL;
	array.release(&array);
	schema.release(&schema);
	assert_null(array.release);
	batch_release(out);
	builder_free(b);
	bench_end(x);
	assert_int_equal(((const uint64_t *)moved.buffers[1])[1], 1);
	assert_string_equal(moved_schema.dictionary->format, "u");
	moved.release(&moved);
	moved_schema.release(&moved_schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice), cmocka_unit_test(known), cmocka_unit_test(refused), cmocka_unit_test(two_types),
		cmocka_unit_test(rows), cmocka_unit_test(many_at_once), cmocka_unit_test(alike_at_once), cmocka_unit_test(rows_of_batches),
		cmocka_unit_test(losses), cmocka_unit_test(a_loss_behind_events), cmocka_unit_test(full_batches), cmocka_unit_test(stacks), cmocka_unit_test(small_batches),
		cmocka_unit_test(one_batch_of_several), cmocka_unit_test(texts), cmocka_unit_test(arrow), cmocka_unit_test(parts),
		cmocka_unit_test(whole_parts),
		cmocka_unit_test(parts_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
