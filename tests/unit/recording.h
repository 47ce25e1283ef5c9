/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made byte by byte, and read as tests do. */
#ifndef TESTS_UNIT_RECORDING_H
#define TESTS_UNIT_RECORDING_H

#include "cmocka_all.h"

#include "perfdata/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUND = 68, ATTR = 64, AUXTRACE = 71, COMPRESSED = 81 };

/* ---- making one ------------------------------------------------------------- */

struct file {
	char *bytes;
	size_t n, room;
};

static inline void put(struct file *f, const void *data, size_t n)
{
	if (!n)
		return;
	if (f->n + n > f->room) {
		f->room = 2 * (f->n + n);
		f->bytes = realloc(f->bytes, f->room);
		assert_non_null(f->bytes);
	}
	memcpy(f->bytes + f->n, data, n);
	f->n += n;
}

static inline void put64(struct file *f, uint64_t v)
{
	put(f, &v, 8);
}

static inline void put_head(struct file *f, uint32_t type, size_t size)
{
	struct perf_event_header h = { type, 0, (uint16_t)size };

	put(f, &h, sizeof(h));
}

static inline void put_pipe_head(struct file *f)
{
	put(f, "PERFILE2", 8);
	put64(f, 16);
}

static inline struct perf_event_attr an_attr(uint64_t sample_type)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type = sample_type;
	attr.sample_id_all = 1;
	return attr;
}

enum { TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME };

static inline void put_attr(struct file *f, uint64_t config, uint64_t id)
{
	struct perf_event_attr attr = an_attr(TYPE);

	attr.config = config;
	put_head(f, ATTR, 8 + attr.size + 8);
	put(f, &attr, attr.size);
	put64(f, id);
}

static inline void put_sample(struct file *f, uint64_t id, uint64_t time)
{
	put_head(f, PERF_RECORD_SAMPLE, 24);
	put64(f, id);
	put64(f, time);
}

/* Two events, n samples of them in turn. */
static inline void put_recording(struct file *f, uint64_t n)
{
	put_pipe_head(f);
	put_attr(f, 0, 7);
	put_attr(f, 1, 8);
	for (uint64_t i = 0; i < n; i++)
		put_sample(f, 7 + i % 2, i);
}

/* The layout of files, of one event. */
struct head { uint64_t words[13]; };

static inline struct head make_head(uint64_t attr_size, uint64_t attrs_at, uint64_t attrs_size, uint64_t data_at,
			     uint64_t data_size)
{
	struct head h = { { 0, 104, attr_size, attrs_at, attrs_size, data_at, data_size } };

	memcpy(h.words, "PERFILE2", 8);
	return h;
}

enum { ATTRS_AT = 104, ATTR_SIZE = 128 + 16, DATA_AT = ATTRS_AT + ATTR_SIZE };

static inline void put_file(struct file *f, const struct head *head, uint64_t ids_at, uint64_t ids_size)
{
	struct perf_event_attr attr = an_attr(TYPE);

	attr.size = 128;
	put(f, head, sizeof(*head));
	put(f, &attr, 128);
	put64(f, ids_at);
	put64(f, ids_size);
	put_sample(f, 7, 1);
	put_sample(f, 7, 2);
}

/* ---- reading it ------------------------------------------------------------- */

static struct fault fault;

static inline struct perfdata_reader *open_bytes(const struct file *f)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	memset(&fault, 0, sizeof(fault));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, f->n), f->n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return perfdata_reader_open(fd, "some.data", &fault);
}

static inline void refused(struct file *f, const char *words)
{
	struct perfdata_reader *r = open_bytes(f);

	assert_null(r);
	assert_int_equal(fault.exit_code, EXIT_FAILED);
	if (!strstr(fault.text, words) || strncmp(fault.text, "some.data: at offset 0", 21))
		fail_msg("%s\nexpected: %s", fault.text, words);
	free(f->bytes);
	*f = (struct file){ 0 };
}

/* How many samples there are; their times grow. */
static inline uint64_t read_samples(struct perfdata_reader *r, int *rc)
{
	const struct perf_event_header *rec;
	uint64_t n = 0;

	while ((*rc = perfdata_next(r, &rec, &fault)) > 0)
		n += rec->type == PERF_RECORD_SAMPLE;
	return n;
}

static inline uint64_t samples_of(struct file *f, int wanted)
{
	struct perfdata_reader *r = open_bytes(f);
	uint64_t n;
	int rc;

	if (!r)
		fail_msg("%s", fault.text);
	n = read_samples(r, &rc);
	assert_int_equal(rc, wanted);
	perfdata_reader_close(r);
	free(f->bytes);
	*f = (struct file){ 0 };
	return n;
}
/* Zeros behind its first record are being passed over when the user says that it is enough. */
static inline bool says_stop(void *ctx)
{
	(void)ctx;
	return true;
}

static inline void stops_within_zeros(struct file *f, uint64_t zeros)
{
	const struct perfdata_reader_opts opts = { .stopped = says_stop };
	struct perfdata_reader *r = open_bytes(f);
	int rc;

	assert_non_null(r);
	perfdata_reader_set_wait(r, &opts);
	assert_int_equal(read_samples(r, &rc), 1);
	assert_int_equal(rc, 0);
	assert_true(perfdata_counts(r)->damaged_bytes < zeros);
	perfdata_reader_close(r);
	free(f->bytes);
}

#endif
