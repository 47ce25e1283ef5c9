/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as columns: which there are, what rows have, and how Arrow gets them. */
#include "checks.h"
#include "columnbench.h"

#include "columns/builder.h"
#include "columns/concat.h"
#include "columns/export.h"
#include "columns/part.h"
#include "columns/selection.h"
#include "stream/state/state.h"

#include <errno.h>

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

/* ---- two events, what is built of their samples, and a batch of these ------------------ */

static struct bench *x;
static struct builder *builder;
static struct batch *out;

#define LIST(...) (const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ }))
#define ASKED(...) make(x, LIST(__VA_ARGS__))
#define ALL NULL, 0

static void begin(const char *first, const char *second)
{
	x = bench(first, second);
}

/* Of both events, unless others were begun with. */
static void build(size_t rows, const char *const *fields, size_t n)
{
	if (!x)
		begin(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	assert_int_equal(make(x, fields, n), 0);
	builder = builder_new(&x->plans, &x->stream, rows);
	assert_non_null(builder);
}

static bool put(size_t event, const struct sample *s, uint32_t cpu)
{
	return add(builder, x, event, s, cpu);
}

static void take(size_t rows)
{
	out = builder_take(builder);
	assert_non_null(out);
	assert_int_equal(out->rows, rows);
}

/* A batch outlives its builder and its stream. */
static void end_building(void)
{
	if (builder)
		builder_free(builder);
	if (x)
		bench_end(x);
	builder = NULL;
	x = NULL;
}

static int done(void **state)
{
	end_building();
	batch_release(out);
	out = NULL;
	return 0;
}

#define BUILD(name) TEST_WITH(name, NULL, done)

static const struct stream_loss ring_loss = { .count = 3, .cpu = 1, .cause = STREAM_LOSS_RING };

/* ---- which columns there are --------------------------------------------------------- */

BUILD(choice)
{
	begin(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	assert_int_equal(make(x, ALL), 0);
	expect_columns(x, "_time _cpu _pid _tid _comm _event _lost prev_comm prev_pid prev_prio prev_state next_comm next_pid "
			  "next_prio comm pid prio success target_cpu");
	assert_true(x->naming.needed);
	assert_true(x->events[0].reads & PERF_SAMPLE_RAW);
	assert_int_equal(ASKED("next_pid", "pid"), 0);
	expect_columns(x, "_time _cpu _pid _tid _comm _event _lost next_pid pid");
	/* named common columns replace the others; the same twice is once */
	assert_int_equal(ASKED("next_pid", "_tid", "next_pid", "_lost"), 0);
	expect_columns(x, "_tid _event _lost next_pid");
	assert_int_equal(ASKED("sched:sched_wakeup.pid", "common_pid", "_period"), 0);
	expect_columns(x, "_time _cpu _pid _tid _comm _event _lost sched:sched_wakeup.pid common_pid _period");
}

/* What events of the stream that are not wanted have is not known. */
BUILD(known)
{
	begin(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	x->events[1].wanted = false;
	assert_true(plans_know(&x->stream, "next_pid") && plans_know(&x->stream, "sched:sched_switch.next_pid"));
	assert_true(plans_know(&x->stream, "_comm") && plans_know(&x->stream, "_lost"));
	assert_false(plans_know(&x->stream, "target_cpu") || plans_know(&x->stream, "sched:sched_wakeup.target_cpu"));
	assert_false(plans_know(&x->stream, "sched:sched_switch.") || plans_know(&x->stream, ""));
}

BUILD(refused)
{
	begin(SCHED_SWITCH_5_10, NULL);
	assert_int_equal(ASKED("prevcomm"), -1);
	assert_int_equal(x->f.exit_code, EXIT_USAGE);
	SAYS(x->f.text, "prevcomm; did you mean prev_comm?");
	assert_int_equal(ASKED("_tmie"), -1);
	SAYS(x->f.text, "did you mean _time?");
	assert_int_equal(ASKED("sched:sched_switch.nothing"), -1);
	assert_int_equal(ASKED(""), -1);
}

#define ALIKE "name: %s\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:%s;\toffset:8;\tsize:%d;\tsigned:%d;\n" \
	      "\nprint fmt: \"\"\n"

/* Of two events that have a field each; the second one's is not signed, unless it is an int. */
static void begin_alike(const char *first, int size, int is_signed, const char *second, int size_2)
{
	char one[512], two[512];

	snprintf(one, sizeof(one), ALIKE, "one", 1, first, size, is_signed);
	snprintf(two, sizeof(two), ALIKE, "two", 2, second, size_2, !strncmp(second, "int ", 4));
	begin(one, two);
}

BUILD(two_types)
{
	begin_alike("int x", 4, 1, "u64 x", 8);
	assert_int_equal(ASKED("x", "_time"), 0);
	expect_columns(x, "_time _event _lost sched:sched_switch.x sched:sched_wakeup.x");
	ARE(NUMBERS(x->plans.columns->v[3].type, x->plans.columns->v[4].type), NUMBERS(COLUMN_S32, COLUMN_U64));
	assert_int_equal(x->plans.v[0].nmissing, 1);   /* the other's x */
}

/* ---- rows ---------------------------------------------------------------------------- */

BUILD(rows)
{
	struct sample s = switch_sample(1000, "first", -5), t = switch_sample(1001, "\xff\xc3\xa4", 6);

	build(BATCH_ROWS, ALL);
	assert_null(builder_take(builder));
	assert_false(put(0, &s, 1));
	comm_now = "other";
	assert_false(put(0, &t, 0));
	comm_now = "worker";
	assert_false(put(1, &s, 1));
	take(3);
	ARE(NUMBERS(number(out, "_time", 1), number(out, "next_pid", 0), number(out, "_tid", 2)), NUMBERS(1001, -5, 8));
	expect_text(out, "_comm", 0, "worker");
	expect_text(out, "_comm", 1, "other");
	expect_text(out, "_event", 2, "sched:sched_wakeup");
	expect_text(out, "prev_comm", 0, "first");
	expect_text(out, "prev_comm", 1, "\\xff\xc3\xa4");   /* what is not UTF-8 is written out */
	assert_true(is_null(out, "prev_comm", 2) && is_null(out, "_lost", 0) && is_null(out, "comm", 0));
	assert_int_equal(out->v[columns_find(out->columns, "comm")].nulls, 2);
	end_building();
	expect_text(out, "prev_comm", 0, "first");
}

/* Batches of many columns have fewer rows. */
BUILD(rows_of_batches)
{
	const size_t asked[] = { 1, 5000, BATCH_ROWS };

	build(0, LIST("_time", "next_pid"));
	assert_int_equal(builder_room(builder), BATCH_ROWS);
	end_building();
	build(0, ALL);
	assert_in_range(builder_room(builder), 4096, BATCH_ROWS / 4);
	for (size_t i = 0; i < COUNT(asked); i++) {
		end_building();
		build(asked[i], ALL);
		assert_int_equal(builder_room(builder), asked[i]);
	}
}

/* The same samples were added one by one, and to `many` together. */
static void expect_same(struct builder *many, size_t rows)
{
	struct batch *a, *b;

	assert_int_equal(builder_room(many), builder_room(builder));
	assert_int_equal(builder_decoded(many), builder_decoded(builder));
	a = builder_take(builder);
	b = builder_take(many);
	ARE(NUMBERS(a->rows, b->rows), NUMBERS(rows, rows));
	for (size_t c = 0; c < a->columns->n; c++)
		for (size_t row = 0; row < a->rows; row++) {
			assert_int_equal(batch_is_null(a, c, row), batch_is_null(b, c, row));
			if (a->columns->v[c].type != COLUMN_BYTES)
				assert_int_equal(batch_number(a, c, row), batch_number(b, c, row));
		}
	batch_release(a);
	builder_free(many);
	out = b;
}

/* Samples added together are the same rows as one by one: of two events by turns and in runs, with texts and nulls. */
BUILD(many_at_once)
{
	enum { N = STREAM_SAMPLES };
	struct sample samples[N];
	struct stream_samples v;
	struct builder *many;

	build(BATCH_ROWS, ALL);
	many = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	builder_add_loss(builder, &ring_loss);
	builder_add_loss(many, &ring_loss);
	for (int i = 0; i < N; i++) {
		size_t event = i < 40 ? 0 : i < 80 ? (size_t)i % 2 : 1;
		uint32_t cpu = i % 7 ? (uint32_t)i % 3 : (uint32_t)-1;

		samples[i] = switch_sample(1000 + (uint64_t)i, i % 3 ? "name" : "other", i - 9);
		v.event[i] = &x->events[event];
		v.rec[i] = &samples[i].header;
		v.raw[i] = samples[i].raw;
		v.cpu[i] = cpu;
		put(event, &samples[i], cpu);
	}
	assert_false(builder_add_samples(many, &v, 0, 100));
	assert_false(builder_add_samples(many, &v, 100, N - 100));
	expect_same(many, N + 1);
	expect_text(out, "prev_comm", 1, "other");
	assert_int_equal(number(out, "next_pid", 2), -8);
	assert_true(is_null(out, "_cpu", 1));
}

/* Samples that are alike are the same rows as one by one, also from the middle of them, and without a CPU. */
BUILD(alike_at_once)
{
	enum { N = STREAM_ALIKE };
	struct sample samples[N];
	struct builder *many;

	build(BATCH_ROWS, ALL);
	many = builder_new(&x->plans, &x->stream, BATCH_ROWS);
	for (size_t turn = 0; turn < 3; turn++) {
		const uint32_t cpu = (uint32_t[]){ 3, 1, UINT32_MAX }[turn];
		struct stream_alike v = {
			.event = &x->events[0], .first = (const char *)samples, .size = sizeof(*samples), .n = N, .cpu = cpu,
			.raw_at = (size_t)((const char *)samples[0].raw - (const char *)samples),
		};

		for (int i = 0; i < N; i++) {
			samples[i] = switch_sample(1000 * turn + (uint64_t)i, i % 3 ? "name" : "other", i - 9);
			put(0, &samples[i], cpu);
		}
		v.raw_size = stream_raw_size(samples[0].raw);
		assert_false(builder_add_alike(many, &v, 0, 5));
		assert_false(builder_add_alike(many, &v, 5, N - 5));
	}
	expect_same(many, 3 * N);
	expect_text(out, "prev_comm", N, "other");
	ARE(NUMBERS(number(out, "next_pid", 1), number(out, "_cpu", N)), NUMBERS(-8, 1));
	assert_true(is_null(out, "_cpu", 2 * N));
}

BUILD(losses)
{
	struct sample s = switch_sample(500, "a", 1);

	begin(SCHED_SWITCH_5_10, NULL);
	build(BATCH_ROWS, ALL);
	builder_add_loss(builder, &ring_loss);
	put(0, &s, 1);
	builder_add_loss(builder, &(struct stream_loss){ .count = 4, .cpu = 1, .cause = STREAM_LOSS_TAIL });
	builder_add_loss(builder, &(struct stream_loss){ .count = 5, .cpu = 0, .start = 8, .end = 9, .cause = STREAM_LOSS_RING });
	builder_add_loss(builder, &(struct stream_loss){ .cpu = -1, .start = 8, .cause = STREAM_LOSS_THROTTLED });
	take(5);
	expect_text(out, "_event", 0, "lost:ring");
	ARE(NUMBERS(number(out, "_lost", 0), number(out, "_cpu", 0)), NUMBERS(3, 1));
	assert_true(is_null(out, "_time", 0) && is_null(out, "_pid", 0) && is_null(out, "_comm", 0));
	assert_int_equal(number(out, "_time", 2), 500);   /* that of the sample before it there */
	expect_text(out, "_event", 2, "lost:tail");
	expect_text(out, "_event", 1, "sched:sched_switch");
	ARE(NUMBERS(number(out, "_time", 3), number(out, "_time", 4)), NUMBERS(9, 8));
	assert_true(is_null(out, "_cpu", 4));
	assert_int_equal(number(out, "_lost", 4), 0);
}

/* A batch has the names of its events, also of those before its first loss. */
BUILD(a_loss_behind_events)
{
	struct sample s = switch_sample(500, "a", 1);

	build(BATCH_ROWS, ALL);
	for (int batch = 0; batch < 2; batch++) {
		put(0, &s, 1);
		put(0, &s, 1);
		if (!batch)
			builder_add_loss(builder, &ring_loss);
		put(0, &s, 1);
		take(4 - (size_t)batch);
		for (size_t row = 0; row < out->rows; row++)
			expect_text(out, "_event", row, !batch && row == 2 ? "lost:ring" : "sched:sched_switch");
		batch_release(out);
	}
	out = NULL;
}

/* Blocks are used again only once nobody has the batch. */
BUILD(full_batches)
{
	struct batch *first = NULL;

	build(BATCH_ROWS, LIST("_time", "prev_comm"));
	for (int batch = 0; batch < 2; batch++) {
		for (int i = 0; i < BATCH_ROWS; i++) {
			struct sample s;
			char name[16];

			snprintf(name, sizeof(name), "%d", i / 8);
			s = switch_sample((uint64_t)(batch * BATCH_ROWS + i), name, 0);
			assert_int_equal(put(0, &s, 0), i == BATCH_ROWS - 1);
		}
		first = out;
		take(BATCH_ROWS);
	}
	assert_null(first->v[0].valid);
	ARE(NUMBERS(number(first, "_time", BATCH_ROWS - 1), number(out, "_time", 0)), NUMBERS(BATCH_ROWS - 1, BATCH_ROWS));
	expect_text(first, "prev_comm", BATCH_ROWS - 1, "8191");
	expect_text(out, "prev_comm", 1000, "125");
	assert_int_equal(first->v[columns_find(first->columns, "prev_comm")].texts->n, 8192);
	batch_release(first);
}

/* A builder of small batches has no room for more, nor shows what was there before. */
BUILD(small_batches)
{
	enum { ROWS = 3 };

	build(ROWS, LIST("_time", "prev_comm"));
	for (int batch = 0; batch < 4; batch++) {
		struct sample s = switch_sample((uint64_t)batch, "a", 0);

		assert_false(batch % 2 ? put(0, &s, 0) : builder_add_loss(builder, &ring_loss));
		assert_false(put(0, &s, 0));
		assert_true(put(0, &s, 0));
		take(ROWS);
		assert_int_equal(is_null(out, "_lost", 0), batch % 2);
		assert_true(is_null(out, "_lost", 1) && is_null(out, "_lost", 2));
		assert_int_equal(number(out, "_time", 2), batch);
		batch_release(out);
	}
	out = NULL;
}

/* A batch of 3 rows: of an event with bytes and of one without them, and a loss. `first` is its first byte, and text. */
static struct batch *three_rows(char first)
{
	struct sample s = switch_sample((uint64_t)first, (const char[16]){ first, 'b', 'c', 'd' }, 0);

	comm_now = (const char[]){ first, '\0' };
	put(0, &s, 1);
	put(1, &s, 1);
	builder_add_loss(builder, &ring_loss);
	comm_now = "worker";
	return builder_take(builder);
}

static void expect_row(const struct batch *b, size_t row, const char *bytes, const char *comm)
{
	size_t c = (size_t)columns_find(b->columns, "x"), len;
	const char *found = batch_bytes(b, c, row, &len);

	assert_int_equal(is_null(b, "x", row), !bytes);
	assert_int_equal(len, bytes ? 4 : 0);
	assert_memory_equal(found, bytes ? bytes : "", len);
	if (comm)
		expect_text(b, "_comm", row, comm);
	else
		assert_true(is_null(b, "_comm", row));
}

BUILD(one_batch_of_several)
{
	static const struct {
		const char *bytes, *comm;
	} rows[] = {
		{ "qbcd", "q" }, { NULL, "q" }, { NULL, NULL }, { "pbcd", "p" }, { NULL, "p" }, { NULL, NULL }, { "pbcd", "p" },
	};
	struct batch *a, *b;

	begin_alike("u8 x[4]", 4, 0, "int y", 4);
	build(3, LIST("_time", "_comm", "x"));
	a = three_rows('p');
	b = three_rows('q');
	end_building();
	assert_true(batch_is_like(a, b));
	assert_int_equal(batch_concat((struct batch_part[]){ { b, 0, 3 }, { a, 1, 0 }, { a, 0, 2 }, { b, 2, 1 }, { a, 0, 1 } }, 5, &out), 0);
	batch_release(a);
	batch_release(b);
	assert_int_equal(out->rows, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		expect_row(out, i, rows[i].bytes, rows[i].comm);
	ARE(NUMBERS(number(out, "_time", 3), number(out, "_lost", 5)), NUMBERS('p', 3));
	assert_int_equal(out->v[columns_find(out->columns, "x")].nulls, 4);
	assert_int_equal(out->v[columns_find(out->columns, "_comm")].texts->n, 2);
}

static int32_t stack_of(void *ctx, const struct stream_event *event, const struct perf_event_header *rec)
{
	int32_t *next = ctx;

	return *next < 0 ? -1 : (*next)--;
}

/* The column _stack: where events have call chains, and they are asked for; null without a number. */
BUILD(stacks)
{
	struct sample s = switch_sample(1, "one", 1);
	int32_t next = 1;

	begin(SCHED_SWITCH_5_10, SCHED_WAKEUP_4_19);
	assert_int_equal(ASKED("_stack"), -1);
	SAYS(x->f.text, "none of the events has call chains");
	x->events[0].stacks = STACKS_ALWAYS;
	assert_int_equal(ASKED("_time"), -1);
	layout_from_sample_type(&x->events[0].layout, PARTS | PERF_SAMPLE_CALLCHAIN);
	assert_int_equal(ASKED("_time"), 0);
	expect_columns(x, "_time _event _lost _stack");
	assert_true(x->events[0].reads & PERF_SAMPLE_CALLCHAIN);
	assert_false(x->events[1].reads & PERF_SAMPLE_CALLCHAIN);
	x->events[0].stacks = STACKS_NAMED;
	assert_int_equal(ASKED("_time"), 0);
	expect_columns(x, "_time _event _lost");
	build(BATCH_ROWS, LIST("_stack", "_tid"));
	expect_columns(x, "_tid _event _lost _stack");
	put(0, &s, 0);                                   /* nobody numbers stacks */
	builder_set_stacks(builder, stack_of, &next);
	for (int i = 0; i < 3; i++)
		put(0, &s, 0);
	put(1, &s, 0);
	take(5);
	assert_true(is_null(out, "_stack", 0) && is_null(out, "_stack", 3) && is_null(out, "_stack", 4));
	ARE(NUMBERS(number(out, "_stack", 1), number(out, "_stack", 2)), NUMBERS(1, 0));
}

/* ---- texts --------------------------------------------------------------------------- */

TEST(texts)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{ "", "" }, { "a", "a" }, { "12345678", "12345678" }, { "123456789", "123456789" }, { "\x80", "\\x80" },
		{ "\xc0\xaf", "\\xc0\\xaf" }, { "\xed\xa0\x80", "\\xed\\xa0\\x80" }, { "\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, { "x\xe2\x82", "x\\xe2\\x82" }, { "\xe2\x82\xac", "\xe2\x82\xac" },
	};
	struct dictionary d = { 0 };
	struct texts *t, *again;

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

static struct batch *whole;

static void expect_bytes(const struct batch *b, const char *column, size_t row, const char *expected)
{
	size_t len;
	const char *bytes = batch_bytes(b, (size_t)columns_find(b->columns, column), row, &len);

	assert_int_equal(len, 4);
	assert_memory_equal(bytes, expected, len);
}

/* Some rows of the mixed batch, released before, are the next ones. */
static void part_rows(struct part *p, size_t from, size_t n, size_t expected_events, size_t expected_rows)
{
	size_t events;

	batch_release(out);
	assert_int_equal(part_take(p, whole, from, n, &out, &events), 0);
	ARE(NUMBERS(events, out ? out->rows : 0), NUMBERS(expected_events, expected_rows));
}

/* Of an event with an array of bytes and one with a number by the same name, and a loss. */
static int mixed(void **state)
{
	struct sample s = switch_sample(1, "abcd", 0);

	begin_alike("u8 x[4]", 4, 0, "u64 x", 8);
	build(BATCH_ROWS, LIST("_time", "x"));
	expect_columns(x, "_time _event _lost sched:sched_switch.x sched:sched_wakeup.x");
	put(0, &s, 0);
	s = switch_sample(2, "\5", 0);
	put(1, &s, 0);
	builder_add_loss(builder, &(struct stream_loss){ .count = 3, .cpu = 1, .start = 3, .cause = STREAM_LOSS_RING });
	s = switch_sample(4, "efgh", 0);
	put(0, &s, 0);
	whole = builder_take(builder);
	return 0;
}

static int end_mixed(void **state)
{
	batch_release(whole);
	return done(state);
}

#define PART_OF(p, losses, ...) part_begin(p, &x->plans, (const char *const[]){ __VA_ARGS__, NULL }, losses)

TEST_WITH(parts, mixed, end_mixed)
{
	struct part p;

	assert_int_equal(PART_OF(&p, true, "sched:sched_switch"), 0);
	part_rows(&p, 0, 4, 2, 3);
	assert_int_equal(out->columns->n, 4);
	assert_string_equal(out->columns->v[3].name, "x");
	ARE(NUMBERS(number(out, "_time", 2), number(out, "_lost", 1)), NUMBERS(4, 3));
	assert_true(is_null(out, "_lost", 0) && is_null(out, "x", 1) && is_null(out, "_lost", 2));
	expect_bytes(out, "x", 0, "abcd");
	expect_bytes(out, "x", 2, "efgh");
	expect_text(out, "_event", 1, "lost:ring");
	assert_int_equal(batch_size(out), 64 * 6 + 8);   /* a part of 64 bytes for each column's values, two have nulls */
	part_rows(&p, 3, 1, 1, 1);
	expect_bytes(out, "x", 0, "efgh");
	part_end(&p);

	assert_int_equal(PART_OF(&p, false, "sched:sched_wakeup"), 0);
	part_rows(&p, 0, 4, 1, 1);
	assert_int_equal(number(out, "x", 0), '\5');
	assert_null(out->v[columns_find(out->columns, "x")].valid);
	part_rows(&p, 2, 2, 0, 0);
	assert_null(out);
	part_end(&p);
}

TEST_WITH(whole_parts, mixed, end_mixed)
{
	struct part p;

	assert_int_equal(PART_OF(&p, true, "sched:sched_wakeup", "sched:sched_switch"), 0);
	part_rows(&p, 0, 4, 3, 4);
	assert_ptr_equal(out, whole);
	part_end(&p);
	assert_int_equal(PART_OF(&p, false, "sched:sched_wakeup", "sched:sched_switch"), 0);
	part_rows(&p, 0, 4, 3, 3);
	assert_string_equal(out->columns->v[3].name, "sched:sched_switch.x");
	part_end(&p);
	assert_int_equal(PART_OF(&p, true, "sched:nothing"), -ENOENT);
	part_end(&p);
}

/* Rows that there is no memory for are counted all the same. */
TEST_WITH(parts_without_memory, mixed, end_mixed)
{
	struct part p;
	size_t events;

	for (long allocations = 0; allocations < 2; allocations++) {   /* which names it takes; the numbers of rows */
		assert_int_equal(PART_OF(&p, true, "sched:sched_switch"), 0);
		fail_after = allocations;
		batch_release(out);
		assert_int_equal(part_take(&p, whole, 0, 4, &out, &events), -ENOMEM);
		assert_int_equal(fail_after, -1);
		assert_null(out);
		assert_int_equal(events, 2);
		part_rows(&p, 0, 4, 2, 3);   /* and then it goes on */
		part_end(&p);
	}
}

/* ---- Arrow --------------------------------------------------------------------------- */

BUILD(arrow)
{
	struct sample s = switch_sample(1, "one", 1);
	struct ArrowSchema schema, moved_schema;
	struct ArrowArray array, moved;

	build(BATCH_ROWS, LIST("_time", "prev_comm"));
	for (int i = 0; i < 3; i++)
		put(0, &s, 0);
	take(3);
	assert_int_equal(export_schema(out->columns, &schema), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(schema.n_children, 4);
	assert_string_equal(schema.children[0]->format, "L");
	assert_string_equal(schema.children[3]->name, "prev_comm");
	assert_string_equal(schema.children[3]->format, "i");
	assert_string_equal(schema.children[3]->dictionary->format, "u");
	assert_int_equal(export_batch(out, 1, 2, &array), 0);
	ARE(NUMBERS(array.length, array.children[0]->offset, array.children[0]->null_count), NUMBERS(2, 1, 0));
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
	done(NULL);
	assert_int_equal(((const uint64_t *)moved.buffers[1])[1], 1);
	assert_string_equal(moved_schema.dictionary->format, "u");
	moved.release(&moved);
	moved_schema.release(&moved_schema);
}
