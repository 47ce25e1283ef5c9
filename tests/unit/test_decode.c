/* SPDX-License-Identifier: Apache-2.0 */
/* Samples and side-band records from bytes; bytes that lie. */
#include "records.h"

#include <errno.h>

/* ------------------------------------------------------------------------
 * Sample fields, in the order in which the kernel writes them
 */

static void has_identifier(const struct pev_sample *s)
{
	assert_int_equal(s->identifier, 0x1d1d);
}

static void has_ip(const struct pev_sample *s)
{
	assert_int_equal(s->ip, 0xffffffff81000010);
}

static void has_tid(const struct pev_sample *s)
{
	assert_int_equal(s->pid, 100);
	assert_int_equal(s->tid, 0xfffffffe);
}

static void has_time(const struct pev_sample *s)
{
	assert_int_equal(s->time, 123456789012);
}

static void has_addr(const struct pev_sample *s)
{
	assert_int_equal(s->addr, 0x7fff00001234);
}

static void has_id(const struct pev_sample *s)
{
	assert_int_equal(s->id, 77);
}

static void has_stream_id(const struct pev_sample *s)
{
	assert_int_equal(s->stream_id, 78);
}

static void has_cpu(const struct pev_sample *s)
{
	assert_int_equal(s->cpu, 511);
}

static void has_period(const struct pev_sample *s)
{
	assert_int_equal(s->period, UINT64_MAX);
}

static void has_read(const struct pev_sample *s)
{
	struct pev_count c;

	assert_int_equal(s->read.nr, 1);
	pev_read_value(&s->read, 0, &c);
	assert_int_equal(c.value, 4711);
	assert_int_equal(c.time_enabled, 1000);
	assert_int_equal(c.time_running, 999);
	assert_int_equal(c.id, 77);
	assert_int_equal(c.lost, 5);
}

static void has_callchain(const struct pev_sample *s)
{
	assert_int_equal(s->callchain_nr, 3);
	assert_int_equal(s->callchain[0], PERF_CONTEXT_USER);
	assert_int_equal(s->callchain[1], 0x401000);
	assert_int_equal(s->callchain[2], 0x402000);
}

static void has_raw(const struct pev_sample *s)
{
	assert_int_equal(s->raw_size, 12);
	assert_memory_equal(s->raw, "raw raw raw!", 12);
}

#define WORDS(...)                                                                                 \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

static const struct field {
	uint64_t bit;
	void (*check)(const struct pev_sample *s);
	const uint64_t *words;
	size_t n;
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, has_identifier, WORDS(0x1d1d) },
	{ PERF_SAMPLE_IP, has_ip, WORDS(0xffffffff81000010) },
	{ PERF_SAMPLE_TID, has_tid, WORDS(U32(100, 0xfffffffe)) },
	{ PERF_SAMPLE_TIME, has_time, WORDS(123456789012) },
	{ PERF_SAMPLE_ADDR, has_addr, WORDS(0x7fff00001234) },
	{ PERF_SAMPLE_ID, has_id, WORDS(77) },
	{ PERF_SAMPLE_STREAM_ID, has_stream_id, WORDS(78) },
	{ PERF_SAMPLE_CPU, has_cpu, WORDS(U32(511, 0xdead)) },
	{ PERF_SAMPLE_PERIOD, has_period, WORDS(UINT64_MAX) },
	{ PERF_SAMPLE_READ, has_read, WORDS(4711, 1000, 999, 77, 5) },
	{ PERF_SAMPLE_CALLCHAIN, has_callchain, WORDS(3, (uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000) },
	{ PERF_SAMPLE_RAW, has_raw, WORDS(U8(12, 0, 0, 0, 'r', 'a', 'w', ' '), U8('r', 'a', 'w', ' ', 'r', 'a', 'w', '!')) },
};

enum { NFIELDS = COUNT(fields) };

static const struct pev_format all_of = {
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		       PERF_FORMAT_ID | PEV_FORMAT_LOST,
};

/* A sample with the fields whose rows are set in `rows`. */
static struct pev_format make_sample(struct bytes *b, unsigned long rows)
{
	struct pev_format fmt = all_of;

	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	for (size_t i = 0; i < NFIELDS; i++) {
		if (!(rows >> i & 1))
			continue;
		fmt.sample_type |= fields[i].bit;
		append(b, fields[i].words, fields[i].n);
	}
	return fmt;
}

/* What must come out of make_sample(rows): those fields, and nothing of the others. */
static void check_sample(unsigned long rows)
{
	struct bytes b;
	struct pev_format fmt = make_sample(&b, rows);
	struct pev_record rec;
	struct pev_sample *s = &rec.sample;
	void *copy;

	assert_int_equal(decode_copy(&b, b.n * 8, b.n * 8, &fmt, &rec, &copy), 0);
	assert_int_equal(rec.type, PERF_RECORD_SAMPLE);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(rec.size, b.n * 8);
	assert_ptr_equal(rec.header, copy);
	assert_int_equal(s->undecoded, 0);
	for (size_t i = 0; i < NFIELDS; i++)
		if (rows >> i & 1)
			fields[i].check(s);
	if (!(fmt.sample_type & PERF_SAMPLE_TIME))
		assert_int_equal(s->time, 0);
	if (!(fmt.sample_type & PERF_SAMPLE_CALLCHAIN))
		assert_null(s->callchain);
	if (!(fmt.sample_type & PERF_SAMPLE_RAW))
		assert_null(s->raw);
	free(copy);
}

static void each_field_alone(void **state)
{
	check_sample(0);
	for (size_t i = 0; i < NFIELDS; i++)
		check_sample(1UL << i);
}

static void any_two_fields(void **state)
{
	for (size_t i = 0; i < NFIELDS; i++)
		for (size_t j = i + 1; j < NFIELDS; j++)
			check_sample(1UL << i | 1UL << j);
}

static void all_fields_and_all_but_one(void **state)
{
	unsigned long all = (1UL << NFIELDS) - 1;

	check_sample(all);
	for (size_t i = 0; i < NFIELDS; i++)
		check_sample(all & ~(1UL << i));
}

/* Every field has its place and its size, so no byte of a sample can be missing. */
static void a_sample_cut_anywhere_is_bad(void **state)
{
	struct bytes b;
	struct pev_format fmt = make_sample(&b, (1UL << NFIELDS) - 1);
	struct pev_record rec;
	void *copy;

	for (size_t size = 0; size < b.n * 8; size++) {
		/* the size is right, the bytes are not all there */
		assert_int_equal(decode_copy(&b, b.n * 8, size, &fmt, &rec, &copy), -EBADMSG);
		free(copy);
		/* the size says that it was cut */
		assert_int_equal(decode_copy(&b, size, size, &fmt, &rec, &copy), -EBADMSG);
		assert_int_equal(rec.sample.time, 0);
		free(copy);
	}
}

static void fields_of_a_newer_kernel_are_told(void **state)
{
	struct bytes b;
	struct pev_format fmt = make_sample(&b, 2);
	struct pev_record rec;

	fmt.sample_type |= 1ULL << 40;
	PUT(&b, 0xabcdef);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	assert_int_equal(rec.sample.ip, 0xffffffff81000010);
	assert_int_equal(rec.sample.undecoded, 1ULL << 40);
}

static void lengths_that_lie_are_bad(void **state)
{
	static const struct {
		uint64_t type, read_format;
		uint64_t word[3];
	} rows[] = {
		{ PERF_SAMPLE_CALLCHAIN, 0, { 3, 1, 2 } },
		{ PERF_SAMPLE_CALLCHAIN, 0, { UINT64_MAX } },
		{ PERF_SAMPLE_CALLCHAIN, 0, { 1ULL << 61 } },
		{ PERF_SAMPLE_RAW, 0, { U32(21, 0) } },
		{ PERF_SAMPLE_RAW, 0, { U32(UINT32_MAX, 0) } },
		{ PERF_SAMPLE_RAW, 0, { U32(UINT32_MAX - 3, 0) } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP, { 3, 1, 2 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP, { UINT64_MAX } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID, { 2, 1, 2 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID, { 1ULL << 63 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID | PEV_FORMAT_LOST,
		  { 0x5555555555555556 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_format fmt = { .sample_type = rows[i].type, .read_format = rows[i].read_format };
		struct pev_record rec;
		struct bytes b;
		void *copy;

		begin(&b, PERF_RECORD_SAMPLE, 0);
		append(&b, rows[i].word, 3);
		assert_int_equal(decode_copy(&b, 32, 32, &fmt, &rec, &copy), -EBADMSG);
		free(copy);
	}
}

static void raw_of_any_size(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_RAW };

	for (uint32_t size = 0; size <= 20; size++) {
		struct pev_record rec;
		struct bytes b;

		begin(&b, PERF_RECORD_SAMPLE, 0);
		PUT(&b, U32(size, 1), 2, 3);
		assert_int_equal(pev_decode(head_of(&b), 32, &fmt, &rec), 0);
		assert_int_equal(rec.sample.raw_size, size);
		assert_ptr_equal(rec.sample.raw, (char *)b.word + 12);
	}
}

/* ------------------------------------------------------------------------
 * Counter values inside samples
 */

static void group_of_counters(void **state)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | all_of.read_format,
	};
	struct pev_record rec;
	struct pev_count c;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 2, 500, 400, /* value, id, lost */ 10, 1, 0, 20, 2, 7);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	assert_int_equal(rec.sample.read.nr, 2);
	pev_read_value(&rec.sample.read, 1, &c);
	assert_int_equal(c.value, 20);
	assert_int_equal(c.time_enabled, 500);
	assert_int_equal(c.time_running, 400);
	assert_int_equal(c.id, 2);
	assert_int_equal(c.lost, 7);
	pev_read_value(&rec.sample.read, 2, &c);
	assert_int_equal(c.value, 0);
}

/* Every read_format: words that count up from 1 come out at their places. */
static void every_read_format(void **state)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct pev_format fmt = { .sample_type = PERF_SAMPLE_READ, .read_format = format };
		bool group = format & PERF_FORMAT_GROUP;
		uint64_t w = 1, value;
		struct pev_record rec;
		struct pev_count c;
		struct bytes b;

		begin(&b, PERF_RECORD_SAMPLE, 0);
		PUT(&b, 1, 2, 3, 4, 5, 6, 7);
		b.n = 2 + (size_t)__builtin_popcountll(format);
		assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), -EBADMSG);
		head_of(&b)->size = (uint16_t)(b.n * 8);
		assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
		pev_read_value(&rec.sample.read, 0, &c);
		value = group ? 0 : w++;
		w += group;
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			assert_int_equal(c.time_enabled, w++);
		if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			assert_int_equal(c.time_running, w++);
		assert_int_equal(c.value, group ? w++ : value);
		if (format & PERF_FORMAT_ID)
			assert_int_equal(c.id, w++);
		if (format & PEV_FORMAT_LOST)
			assert_int_equal(c.lost, w++);
	}
}

/* ------------------------------------------------------------------------
 * The head of a record
 */

static void sizes_that_no_record_has(void **state)
{
	static const uint16_t bad[] = { 0, 1, 7, 17, 24, 65535 };
	struct pev_format fmt = { 0 };
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		head_of(&b)->size = bad[i];
		assert_int_equal(pev_decode(head_of(&b), 16, &fmt, &rec), -EBADMSG);
		assert_int_equal(rec.size, bad[i]);
		assert_int_equal(rec.type, PERF_RECORD_SAMPLE);
	}
	for (size_t avail = 0; avail < 8; avail++)
		assert_int_equal(pev_decode(head_of(&b), avail, &fmt, &rec), -EBADMSG);
}

static void a_size_off_the_grid_stays_inside(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN };
	struct pev_record rec;
	struct bytes b;
	void *copy;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 1, 1, 2);
	for (size_t size = 25; size < 32; size++) {
		assert_int_equal(decode_copy(&b, size, size, &fmt, &rec, &copy), -EBADMSG);
		free(copy);
	}
}

static void unknown_types_pass_through(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_TID, .sample_id_all = true };
	struct pev_record rec;
	struct bytes b;

	begin(&b, 63, 0x1234);
	PUT(&b, 1, U32(10, 11));
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	assert_int_equal(rec.type, 63);
	assert_int_equal(rec.misc, 0x1234);
	assert_int_equal(rec.size, 24);
	assert_int_equal(rec.sample_id.tid, 11);
	/* what perf's own tools write into files has no trailer */
	head_of(&b)->type = 68;
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	assert_int_equal(rec.sample_id.present, 0);
	head_of(&b)->type = UINT32_MAX;
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
}

/* ------------------------------------------------------------------------
 * The trailer of side-band records
 */

static void the_trailer_alone_and_together(void **state)
{
	static const struct {
		uint64_t bit, word;
	} parts[] = {
		{ PERF_SAMPLE_TID, U32(1, 2) }, { PERF_SAMPLE_TIME, 3 }, { PERF_SAMPLE_ID, 4 },
		{ PERF_SAMPLE_STREAM_ID, 5 },   { PERF_SAMPLE_CPU, U32(6, 0) },
		{ PERF_SAMPLE_IDENTIFIER, 4 },
	};

	for (unsigned int rows = 0; rows < 1U << COUNT(parts); rows++) {
		struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
					  .sample_id_all = true };
		uint64_t t, present = 0;
		struct pev_record rec;
		struct bytes b;

		begin(&b, PERF_RECORD_LOST, 0);
		PUT(&b, 70, 80);
		for (size_t i = 0; i < COUNT(parts); i++)
			if (rows >> i & 1) {
				present |= parts[i].bit;
				append(&b, &parts[i].word, 1);
			}
		fmt.sample_type |= t = present;
		assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
		assert_int_equal(rec.lost.id, 70);
		assert_int_equal(rec.lost.lost, 80);
		assert_int_equal(rec.sample_id.present, present);
		assert_int_equal(rec.sample_id.pid, t & PERF_SAMPLE_TID ? 1 : 0);
		assert_int_equal(rec.sample_id.tid, t & PERF_SAMPLE_TID ? 2 : 0);
		assert_int_equal(rec.sample_id.time, t & PERF_SAMPLE_TIME ? 3 : 0);
		assert_int_equal(rec.sample_id.id,
				 t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 4 : 0);
		assert_int_equal(rec.sample_id.stream_id, t & PERF_SAMPLE_STREAM_ID ? 5 : 0);
		assert_int_equal(rec.sample_id.cpu, t & PERF_SAMPLE_CPU ? 6 : 0);
	}
}

/* ------------------------------------------------------------------------
 * Side-band records
 */

static const struct pev_format plain = { 0 };

static struct pev_record decoded(struct bytes *b)
{
	struct pev_record rec;

	assert_int_equal(pev_decode(head_of(b), b->n * 8, &plain, &rec), 0);
	/* cut at any word, it is not that record any more, but for strings' padding */
	for (size_t n = 1; n < b->n; n++) {
		struct pev_record cut;
		void *copy;

		decode_copy(b, n * 8, n * 8, &plain, &cut, &copy);
		free(copy);
	}
	return rec;
}

static void comm(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	PUT(&b, U32(7, 8), U8('b', 'a', 's', 'h', 0, 0, 0, 0));
	rec = decoded(&b);
	assert_int_equal(rec.comm.pid, 7);
	assert_int_equal(rec.comm.tid, 8);
	assert_string_equal(rec.comm.comm, "bash");
	assert_true(rec.comm.exec);
	head_of(&b)->misc = 0;
	assert_false(decoded(&b).comm.exec);
}

static void a_name_without_end_is_bad(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = true };
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_COMM, 0);
	PUT(&b, U32(7, 8), U8('b', 'a', 's', 'h', 'b', 'a', 's', 'h'));
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
	/* nor may it end in the trailer, whose zero bytes are not the name's */
	PUT(&b, 0);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), 0);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), -EBADMSG);
}

static void fork_and_exit(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };

	for (size_t i = 0; i < COUNT(types); i++) {
		struct pev_record rec;
		struct bytes b;

		begin(&b, types[i], 0);
		PUT(&b, U32(2, 1), U32(20, 10), 999);
		rec = decoded(&b);
		assert_int_equal(rec.task.pid, 2);
		assert_int_equal(rec.task.ppid, 1);
		assert_int_equal(rec.task.tid, 20);
		assert_int_equal(rec.task.ptid, 10);
		assert_int_equal(rec.task.time, 999);
	}
}

static void mmap_of_code_and_data(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_MMAP, 0);
	PUT(&b, U32(5, 6), 0x400000, 0x1000, 0x2000, U8('/', 'b', 'i', 'n', '/', 'l', 's', 0));
	rec = decoded(&b);
	assert_int_equal(rec.mmap.pid, 5);
	assert_int_equal(rec.mmap.tid, 6);
	assert_int_equal(rec.mmap.addr, 0x400000);
	assert_int_equal(rec.mmap.len, 0x1000);
	assert_int_equal(rec.mmap.pgoff, 0x2000);
	assert_string_equal(rec.mmap.filename, "/bin/ls");
	assert_false(rec.mmap.data);
	head_of(&b)->misc = PERF_RECORD_MISC_MMAP_DATA;
	assert_true(decoded(&b).mmap.data);
}

static void mmap2_by_inode(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_MMAP2, 0);
	PUT(&b, U32(5, 6), 0x400000, 0x1000, 0x2000, U32(8, 1), 4242, 17, U32(5, 2),
	    U8('/', 'b', 'i', 'n', '/', 'l', 's', 0));
	rec = decoded(&b);
	assert_false(rec.mmap.has_build_id);
	assert_int_equal(rec.mmap.maj, 8);
	assert_int_equal(rec.mmap.min, 1);
	assert_int_equal(rec.mmap.ino, 4242);
	assert_int_equal(rec.mmap.ino_generation, 17);
	assert_int_equal(rec.mmap.prot, 5);
	assert_int_equal(rec.mmap.flags, 2);
	assert_string_equal(rec.mmap.filename, "/bin/ls");
}

static void mmap2_by_build_id(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	PUT(&b, U32(5, 6), 0x400000, 0x1000, 0x2000, U8(20, 0, 0, 0, 1, 2, 3, 4),
	    U8(5, 6, 7, 8, 9, 10, 11, 12), U8(13, 14, 15, 16, 17, 18, 19, 20), U32(5, 2),
	    U8('/', 'b', 'i', 'n', '/', 'l', 's', 0));
	rec = decoded(&b);
	assert_true(rec.mmap.has_build_id);
	assert_int_equal(rec.mmap.build_id_size, 20);
	assert_memory_equal(rec.mmap.build_id, id, 20);
	assert_int_equal(rec.mmap.ino, 0);
	assert_int_equal(rec.mmap.prot, 5);
	assert_string_equal(rec.mmap.filename, "/bin/ls");
	/* longer than its place */
	b.word[5] = U8(21, 0, 0, 0, 1, 2, 3, 4);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
}

static void lost_and_lost_samples(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_LOST, 0);
	PUT(&b, 3, 1000000);
	rec = decoded(&b);
	assert_int_equal(rec.lost.id, 3);
	assert_int_equal(rec.lost.lost, 1000000);
	begin(&b, PERF_RECORD_LOST_SAMPLES, 0);
	PUT(&b, 12);
	rec = decoded(&b);
	assert_int_equal(rec.lost.id, 0);
	assert_int_equal(rec.lost.lost, 12);
}

static void throttle_and_unthrottle(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE };

	for (size_t i = 0; i < COUNT(types); i++) {
		struct pev_record rec;
		struct bytes b;

		begin(&b, types[i], 0);
		PUT(&b, 1, 2, 3);
		rec = decoded(&b);
		assert_int_equal(rec.throttle.time, 1);
		assert_int_equal(rec.throttle.id, 2);
		assert_int_equal(rec.throttle.stream_id, 3);
	}
}

/* Any type cut after any byte: an answer, and no byte beyond (ASan). */
static void every_type_cut_anywhere(void **state)
{
	struct bytes b;

	begin(&b, 0, 0);
	for (size_t i = 0; i < 24; i++)
		PUT(&b, i);
	for (uint32_t type = 0; type < 70; type++)
		for (size_t size = 0; size <= b.n * 8; size++) {
			struct pev_format fmt = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
						  .sample_id_all = size & 1 };
			struct pev_record rec;
			void *copy;

			head_of(&b)->type = type;
			decode_copy(&b, size, size, &fmt, &rec, &copy);
			free(copy);
		}
}

static void format_from_attr(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = 1, .read_format = 2, .branch_sample_type = 3, .sample_regs_user = 4,
		.sample_regs_intr = 5, .sample_id_all = 1,
	};
	struct pev_format fmt;

	pev_format_from_attr(&fmt, &attr);
	assert_int_equal(fmt.sample_type, 1);
	assert_int_equal(fmt.read_format, 2);
	assert_int_equal(fmt.branch_sample_type, 3);
	assert_int_equal(fmt.regs_user, 4);
	assert_int_equal(fmt.regs_intr, 5);
	assert_true(fmt.sample_id_all);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_alone),
		cmocka_unit_test(any_two_fields),
		cmocka_unit_test(all_fields_and_all_but_one),
		cmocka_unit_test(a_sample_cut_anywhere_is_bad),
		cmocka_unit_test(fields_of_a_newer_kernel_are_told),
		cmocka_unit_test(lengths_that_lie_are_bad),
		cmocka_unit_test(raw_of_any_size),
		cmocka_unit_test(group_of_counters),
		cmocka_unit_test(every_read_format),
		cmocka_unit_test(sizes_that_no_record_has),
		cmocka_unit_test(a_size_off_the_grid_stays_inside),
		cmocka_unit_test(unknown_types_pass_through),
		cmocka_unit_test(the_trailer_alone_and_together),
		cmocka_unit_test(comm),
		cmocka_unit_test(a_name_without_end_is_bad),
		cmocka_unit_test(fork_and_exit),
		cmocka_unit_test(mmap_of_code_and_data),
		cmocka_unit_test(mmap2_by_inode),
		cmocka_unit_test(mmap2_by_build_id),
		cmocka_unit_test(lost_and_lost_samples),
		cmocka_unit_test(throttle_and_unthrottle),
		cmocka_unit_test(every_type_cut_anywhere),
		cmocka_unit_test(format_from_attr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
