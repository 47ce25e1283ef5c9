/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of a sample lie, and samples that contradict themselves. */
#include "checks.h"
#include "records.h"

#include "events/layout.h"

#define TRACE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

static const struct {
	uint64_t bit;
	size_t member;
} rows[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct layout, identifier) }, { PERF_SAMPLE_IP, offsetof(struct layout, ip) },
	{ PERF_SAMPLE_TID, offsetof(struct layout, tid) }, { PERF_SAMPLE_TIME, offsetof(struct layout, time) },
	{ PERF_SAMPLE_ADDR, offsetof(struct layout, addr) }, { PERF_SAMPLE_ID, offsetof(struct layout, id) },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct layout, stream_id) }, { PERF_SAMPLE_CPU, offsetof(struct layout, cpu) },
	{ PERF_SAMPLE_PERIOD, offsetof(struct layout, period) }, { PERF_SAMPLE_CALLCHAIN, offsetof(struct layout, callchain) },
	{ PERF_SAMPLE_RAW, offsetof(struct layout, raw) },
};

static uint8_t member(const struct layout *l, size_t offset)
{
	return *((const uint8_t *)l + offset);
}

/* Every combination of bits: each part follows the one before, as the kernel writes them. */
TEST(every_sample_type)
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
TEST(control_groups)
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

static struct layout l;
static struct bytes b;
static uint64_t nr;
static uint32_t size;

/* A sample of these parts and words; its raw data, and its call chain. */
#define SAMPLE(type, ...) (layout_from_sample_type(&l, type), begin(&b, PERF_RECORD_SAMPLE, 0), PUT(&b, __VA_ARGS__))

static const void *raw(void)
{
	return layout_raw(&l, head_of(&b), &size);
}

static const void *chain(void)
{
	return layout_callchain(&l, head_of(&b), &nr);
}

/* A layout says the same as pev_decode(), which has tests of its own. */
TEST(as_decoded)
{
	static const uint64_t type = TRACE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	const struct pev_format fmt = { .sample_type = type };
	const struct perf_event_header *rec = head_of(&b);
	struct pev_record out;

	SAMPLE(type, 77, U32(12, 13), 1000, U32(3, 0), 5, 2, 0xffffffff81000000, 0xffffffff82000000, U32(12, 0x11223344),
	       0x5566778899aabbcc);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &out), 0);
	ARE(NUMBERS(layout_u64(rec, l.identifier), layout_u32(rec, l.tid), layout_u32(rec, l.tid + 4), layout_u64(rec, l.time),
		    layout_u32(rec, l.cpu), layout_u64(rec, l.period)),
	    NUMBERS(out.sample.identifier, out.sample.pid, out.sample.tid, out.sample.time, out.sample.cpu, out.sample.period));
	assert_ptr_equal(chain(), out.sample.callchain);
	assert_ptr_equal(raw(), out.sample.raw);
	ARE(NUMBERS(nr, size), NUMBERS(out.sample.callchain_nr, out.sample.raw_size));
}

TEST(what_is_not_there)
{
	SAMPLE(PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 1, 2, 3, 4, 5);
	assert_true(!chain() && !raw());
	SAMPLE(0, 1, 2, 3, 4, 5);
	assert_true(!chain() && !raw());
}

/* Copies that end where the allocation does, so that ASan sees any step beyond. */
static void cut_anywhere(void)
{
	for (uint16_t n = 8; n <= b.n * 8; n += 8) {
		struct perf_event_header *rec = malloc(n);
		const uint64_t *ips;
		const void *data;

		assert_non_null(rec);
		memcpy(rec, b.word, n);
		rec->size = n;
		ips = layout_callchain(&l, rec, &nr);
		data = layout_raw(&l, rec, &size);
		if (ips)
			assert_true((const char *)(ips + nr) <= (const char *)rec + n);
		if (data)
			assert_true((const char *)data + size <= (const char *)rec + n);
		assert_int_equal(data != NULL, n == b.n * 8);
		free(rec);
	}
}

TEST(cut_records_have_no_raw_data)
{
	SAMPLE(TRACE, U32(12, 13), 1000, 5, U32(12, 1), 2);
	cut_anywhere();
	SAMPLE(TRACE | PERF_SAMPLE_CALLCHAIN, U32(12, 13), 1000, 5, 3, 1, 2, 3, U32(20, 1), 2, 3);
	cut_anywhere();
}

TEST(lengths_that_lie)
{
	static const uint64_t chains[] = { 2, 3, 0x2000, 0x1fffffff, 0x20000000, 0x1fffffffffffffff,
					   0x2000000000000000, UINT64_MAX - 1, UINT64_MAX };
	static const uint32_t raws[] = { 5, 12, 13, 0xffff, 0x7fffffff, 0xfffffffb, UINT32_MAX };

	for (size_t i = 0; i < COUNT(chains); i++) {
		SAMPLE(TRACE | PERF_SAMPLE_CALLCHAIN, U32(12, 13), 1000, 5, chains[i], U32(4, 0));
		assert_true(!chain() && !raw());
	}
	for (size_t i = 0; i < COUNT(raws); i++) {
		SAMPLE(TRACE, U32(12, 13), 1000, 5, U32(raws[i], 0));
		assert_null(raw());
	}
}

/* The callchain eats all but the last word; raw data of four bytes, then of none. */
TEST(lengths_that_just_fit)
{
	for (uint32_t n = 0; n <= 4; n += 4) {
		SAMPLE(TRACE | PERF_SAMPLE_CALLCHAIN, U32(12, 13), 1000, 5, 2, 1, 2, U32(n, 9));
		assert_non_null(raw());
		assert_int_equal(size, n);
	}
	SAMPLE(TRACE | PERF_SAMPLE_CALLCHAIN, U32(12, 13), 1000, 5, 3, 1, 2, U32(4, 9));   /* the chain's, not raw data's */
	assert_non_null(chain());
	assert_null(raw());
}

TEST(the_largest_record)
{
	uint64_t *rec = calloc(8192, 8);
	struct perf_event_header *header = (struct perf_event_header *)rec;

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
