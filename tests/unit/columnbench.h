/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of two events, its samples, and what batches of them have. */
#ifndef COLUMNBENCH_H
#define COLUMNBENCH_H

#include "cmocka_all.h"
#include "formats.h"

#include "columns/builder.h"
#include "stream/state/state.h"

#include <stdlib.h>

struct bench {
	struct stream stream;
	struct stream_opts opts;
	struct stream_event events[2];
	struct event_naming naming;
	struct tracefmt_db *db;
	struct plans plans;
	struct fault f;
};

static const char *comm_now = "worker";

static const char *comm_of(void *stream, const struct stream_event *event, const struct perf_event_header *rec,
			   const void *raw)
{
	return comm_now;
}

#define PARTS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

static struct bench *bench(const char *first, const char *second)
{
	struct bench *b = calloc(1, sizeof(*b));
	const char *texts[] = { first, second };
	static const char *const names[] = { "sched:sched_switch", "sched:sched_wakeup" };
	static const char *const words[] = { "sched__sched_switch", "sched__sched_wakeup" };

	assert_non_null(b);
	b->db = tracefmt_db_new();
	b->naming.comm = comm_of;
	b->stream.opts = &b->opts;
	b->stream.list.events = b->events;
	for (int i = 0; i < 2 && texts[i]; i++) {
		struct stream_event *event = &b->events[b->stream.list.nshown++];

		event->name = names[i];
		event->word = words[i];
		event->fmt = tracefmt_parse(b->db, texts[i], strlen(texts[i]), "sched", &b->f);
		assert_non_null(event->fmt);
		event->naming = &b->naming;
		event->wanted = true;
		layout_from_sample_type(&event->layout, PARTS);
	}
	b->stream.list.nevents = b->stream.list.nshown;
	return b;
}

static void bench_end(struct bench *b)
{
	plans_free(&b->plans);
	tracefmt_db_free(b->db);
	free(b);
}

static int make(struct bench *b, const char *const *fields, size_t n)
{
	plans_free(&b->plans);
	return plans_make(&b->plans, &b->stream, fields, n, &b->f);
}

static void expect_columns(const struct bench *b, const char *expected)
{
	char all[1024] = "";

	for (size_t i = 0; i < b->plans.columns->n; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "", b->plans.columns->v[i].name);
	assert_string_equal(all, expected);
}

/* ---- samples and rows ----------------------------------------------------------------- */

struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_size;
	uint8_t raw[68];
} __attribute__((packed, aligned(8)));

static struct sample switch_sample(uint64_t time, const char *prev, int32_t next_pid)
{
	struct sample s = {
		.header = { PERF_RECORD_SAMPLE, 0, sizeof(s) }, .pid = 7, .tid = 8, .time = time, .raw_size = sizeof(s.raw),
	};

	memcpy(s.raw + 8, prev, strnlen(prev, 16));
	memcpy(s.raw + 56, &next_pid, sizeof(next_pid));
	return s;
}

static bool add(struct builder *b, const struct bench *x, size_t event, const struct sample *s, uint32_t cpu)
{
	return builder_add(b, &x->plans.v[event], &s->header, s->raw, s->raw_size, cpu);
}

static void expect_text(const struct batch *b, const char *column, size_t row, const char *expected)
{
	ssize_t c = columns_find(b->columns, column);
	const char *text;
	size_t len;

	assert_true(c >= 0);
	assert_false(batch_is_null(b, (size_t)c, row));
	text = batch_bytes(b, (size_t)c, row, &len);
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
}

static int64_t number(const struct batch *b, const char *column, size_t row)
{
	ssize_t c = columns_find(b->columns, column);

	assert_true(c >= 0);
	assert_false(batch_is_null(b, (size_t)c, row));
	return (int64_t)batch_number(b, (size_t)c, row);
}

static bool is_null(const struct batch *b, const char *column, size_t row)
{
	return batch_is_null(b, (size_t)columns_find(b->columns, column), row);
}
#endif
