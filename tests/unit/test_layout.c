/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of a sample lie, and samples that contradict themselves. */
#include "records.h"

#include "events/layout.h"

#define TRACE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

static const struct {
	uint64_t bit;
	size_t member;
} rows[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct layout, identifier) },
	{ PERF_SAMPLE_IP, offsetof(struct layout, ip) },
	{ PERF_SAMPLE_TID, offsetof(struct layout, tid) },
	{ PERF_SAMPLE_TIME, offsetof(struct layout, time) },
	{ PERF_SAMPLE_ADDR, offsetof(struct layout, addr) },
	{ PERF_SAMPLE_ID, offsetof(struct layout, id) },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct layout, stream_id) },
	{ PERF_SAMPLE_CPU, offsetof(struct layout, cpu) },
	{ PERF_SAMPLE_PERIOD, offsetof(struct layout, period) },
	{ PERF_SAMPLE_CALLCHAIN, offsetof(struct layout, callchain) },
	{ PERF_SAMPLE_RAW, offsetof(struct layout, raw) },
};

static uint8_t member(const struct layout *l, size_t offset)
{
	return *((const uint8_t *)l + offset);
}

/* Every combination of bits: each part follows the one before, as the kernel writes them. */
static void every_sample_type(void **state)
{
	for (uint32_t set = 0; set < 1u << COUNT(rows); set++) {
		uint64_t type = 0;
		struct layout l;
		uint8_t at = 8;

		for (size_t i = 0; i < COUNT(rows); i++)
			type |= set >> i & 1 ? rows[i].bit : 0;
		layout_from_sample_type(&l, type);
		assert_int_equal(l.sample_type, type);
		for (size_t i = 0; i < COUNT(rows); i++) {
			assert_int_equal(member(&l, rows[i].member), set >> i & 1 ? at : 0);
			at += set >> i & 1 ? 8 : 0;
		}
		assert_int_equal(l.fixed_end, at);
	}
}

/* It is found from the end: what is before it may be of any length. */
static void control_groups(void **state)
{
	const uint64_t pages = PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	struct {
		struct perf_event_header header;
		uint64_t words[4];
	} rec = { { .type = PERF_RECORD_SAMPLE, .size = 40 }, { 1, 2, 3, 4 } };
	struct layout l;
	uint64_t id = 0;

	layout_from_sample_type(&l, PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP);
	assert_true(layout_cgroup(&l, &rec.header, &id));
	assert_int_equal(id, 4);
	layout_from_sample_type(&l, PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP | pages);
	assert_true(layout_cgroup(&l, &rec.header, &id));
	assert_int_equal(id, 2);
	rec.header.size = 32;
	assert_false(layout_cgroup(&l, &rec.header, &id));
	layout_from_sample_type(&l, PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP | PERF_SAMPLE_AUX);
	assert_false(layout_cgroup(&l, &rec.header, &id));
	layout_from_sample_type(&l, PERF_SAMPLE_TID);
	assert_false(layout_cgroup(&l, &rec.header, &id));
}

/* A layout says the same as pev_decode(), which has tests of its own. */
static void as_decoded(void **state)
{
	static const uint64_t type = TRACE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU |
				     PERF_SAMPLE_CALLCHAIN;
	const struct pev_format fmt = { .sample_type = type };
	struct pev_record out;
	struct layout l;
	struct bytes b;
	uint64_t nr;
	uint32_t size;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 77, U32(12, 13), 1000, U32(3, 0), 5);
	PUT(&b, 2, 0xffffffff81000000, 0xffffffff82000000);
	PUT(&b, U32(12, 0x11223344), 0x5566778899aabbcc);
	layout_from_sample_type(&l, type);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &out), 0);
	assert_int_equal(layout_u64(head_of(&b), l.identifier), out.sample.identifier);
	assert_int_equal(layout_u32(head_of(&b), l.tid), out.sample.pid);
	assert_int_equal(layout_u32(head_of(&b), l.tid + 4), out.sample.tid);
	assert_int_equal(layout_u64(head_of(&b), l.time), out.sample.time);
	assert_int_equal(layout_u32(head_of(&b), l.cpu), out.sample.cpu);
	assert_int_equal(layout_u64(head_of(&b), l.period), out.sample.period);
	assert_ptr_equal(layout_callchain(&l, head_of(&b), &nr), out.sample.callchain);
	assert_int_equal(nr, out.sample.callchain_nr);
	assert_ptr_equal(layout_raw(&l, head_of(&b), &size), out.sample.raw);
	assert_int_equal(size, out.sample.raw_size);
}

static void what_is_not_there(void **state)
{
	struct layout l;
	struct bytes b;
	uint64_t nr;
	uint32_t size;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 1, 2, 3, 4, 5);
	layout_from_sample_type(&l, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	assert_null(layout_callchain(&l, head_of(&b), &nr));
	assert_null(layout_raw(&l, head_of(&b), &size));
	layout_from_sample_type(&l, 0);
	assert_null(layout_callchain(&l, head_of(&b), &nr));
	assert_null(layout_raw(&l, head_of(&b), &size));
}

/* Copies that end where the allocation does, so that ASan sees any step beyond. */
static void cut_anywhere(uint64_t type, const struct bytes *b)
{
	struct layout l;

	layout_from_sample_type(&l, type);
	for (uint16_t size = 8; size <= b->n * 8; size += 8) {
		struct perf_event_header *rec = malloc(size);
		const uint64_t *ips;
		const void *raw;
		uint64_t nr;
		uint32_t raw_size;

		assert_non_null(rec);
		memcpy(rec, b->word, size);
		rec->size = size;
		ips = layout_callchain(&l, rec, &nr);
		raw = layout_raw(&l, rec, &raw_size);
		if (ips)
			assert_true((const char *)(ips + nr) <= (const char *)rec + size);
		if (raw)
			assert_true((const char *)raw + raw_size <= (const char *)rec + size);
		assert_int_equal(raw != NULL, size == b->n * 8);
		free(rec);
	}
}

static void cut_records_have_no_raw_data(void **state)
{
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(12, 13), 1000, 5, U32(12, 1), 2);
	cut_anywhere(TRACE, &b);
	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(12, 13), 1000, 5, 3, 1, 2, 3, U32(20, 1), 2, 3);
	cut_anywhere(TRACE | PERF_SAMPLE_CALLCHAIN, &b);
}

static void lengths_that_lie(void **state)
{
	static const uint64_t chains[] = { 2, 3, 0x2000, 0x1fffffff, 0x20000000, 0x1fffffffffffffff,
					   0x2000000000000000, UINT64_MAX - 1, UINT64_MAX };
	static const uint32_t raws[] = { 5, 12, 13, 0xffff, 0x7fffffff, 0xfffffffb, UINT32_MAX };
	struct layout l;
	struct bytes b;
	uint64_t nr;
	uint32_t size;

	layout_from_sample_type(&l, TRACE | PERF_SAMPLE_CALLCHAIN);
	for (size_t i = 0; i < COUNT(chains); i++) {
		begin(&b, PERF_RECORD_SAMPLE, 0);
		PUT(&b, U32(12, 13), 1000, 5, chains[i], U32(4, 0));
		assert_null(layout_callchain(&l, head_of(&b), &nr));
		assert_null(layout_raw(&l, head_of(&b), &size));
	}
	layout_from_sample_type(&l, TRACE);
	for (size_t i = 0; i < COUNT(raws); i++) {
		begin(&b, PERF_RECORD_SAMPLE, 0);
		PUT(&b, U32(12, 13), 1000, 5, U32(raws[i], 0));
		assert_null(layout_raw(&l, head_of(&b), &size));
	}
}

/* The callchain eats all but the last word; raw data of four bytes, then of none. */
static void lengths_that_just_fit(void **state)
{
	struct layout l;
	struct bytes b;
	uint64_t nr;
	uint32_t size;

	layout_from_sample_type(&l, TRACE | PERF_SAMPLE_CALLCHAIN);
	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(12, 13), 1000, 5, 2, 1, 2, U32(4, 9));
	assert_non_null(layout_raw(&l, head_of(&b), &size));
	assert_int_equal(size, 4);
	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(12, 13), 1000, 5, 2, 1, 2, U32(0, 9));
	assert_non_null(layout_raw(&l, head_of(&b), &size));
	assert_int_equal(size, 0);
	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(12, 13), 1000, 5, 3, 1, 2, U32(4, 9));   /* the chain's, not raw data's */
	assert_non_null(layout_callchain(&l, head_of(&b), &nr));
	assert_null(layout_raw(&l, head_of(&b), &size));
}

static void the_largest_record(void **state)
{
	uint64_t *rec = calloc(8192, 8);
	struct perf_event_header *header = (struct perf_event_header *)rec;
	struct layout l;
	uint64_t nr;
	uint32_t size;

	assert_non_null(rec);
	layout_from_sample_type(&l, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW);
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, 65528 };
	rec[1] = 8188;
	rec[8190] = U32(4, 0);
	assert_non_null(layout_callchain(&l, header, &nr));
	assert_ptr_equal(layout_raw(&l, header, &size), (char *)(rec + 8190) + 4);
	rec[1] = 8189;
	assert_non_null(layout_callchain(&l, header, &nr));
	assert_null(layout_raw(&l, header, &size));
	rec[1] = 8190;
	assert_null(layout_callchain(&l, header, &nr));
	free(rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_type),
		cmocka_unit_test(control_groups),
		cmocka_unit_test(as_decoded),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(cut_records_have_no_raw_data),
		cmocka_unit_test(lengths_that_lie),
		cmocka_unit_test(lengths_that_just_fit),
		cmocka_unit_test(the_largest_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
