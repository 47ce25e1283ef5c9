/* SPDX-License-Identifier: Apache-2.0 */
/* Each record in one line. Samples' fields are in test_sample.c. */
#include "checks.h"
#include "records.h"

static const struct pev_format with_ids = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	.sample_id_all = true,
};

#define TRAILER U32(1, 2), 123, U32(3, 0), 44
#define TRAILER_TEXT " | cpu 3 pid 1 tid 2 time 123 id 44"

#define ROW(type, misc, text, ...)                                                                 \
	{ type, misc, text, (const uint64_t[]){ __VA_ARGS__, TRAILER },                            \
	  sizeof((uint64_t[]){ __VA_ARGS__, TRAILER }) / 8 }

static const struct {
	uint32_t type;
	uint16_t misc;
	const char *text;
	const uint64_t *words;
	size_t n;
} rows[] = {
	ROW(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, "MMAP (user) pid 5 tid 6 addr 0x400000 len 0x1000 pgoff 0x2000 file /bin/ls",
	    U32(5, 6), 0x400000, 0x1000, 0x2000, U8('/', 'b', 'i', 'n', '/', 'l', 's', 0)),
	ROW(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
	    "MMAP2 (user data) pid 5 tid 6 addr 0x400000 len 0x1000 pgoff 0x2000 dev 08:01 ino 4242 gen 17 "
	    "r-xp file /bin/ls",
	    U32(5, 6), 0x400000, 0x1000, 0x2000, U32(8, 1), 4242, 17, U32(5, 2),
	    U8('/', 'b', 'i', 'n', '/', 'l', 's', 0)),
	ROW(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID,
	    "MMAP2 (build-id) pid 5 tid 6 addr 0x400000 len 0x1000 pgoff 0x2000 build-id 0102030405 "
	    "rw-s file //anon",
	    U32(5, 6), 0x400000, 0x1000, 0x2000, U8(5, 0, 0, 0, 1, 2, 3, 4), U8(5, 0, 0, 0, 0, 0, 0, 0),
	    0, U32(3, 1), U8('/', '/', 'a', 'n', 'o', 'n', 0, 0)),
	ROW(PERF_RECORD_LOST, 0, "LOST id 7 lost 9", 7, 9),
	ROW(PERF_RECORD_LOST_SAMPLES, 0, "LOST_SAMPLES lost 9", 9),
	ROW(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, "COMM (exec) pid 5 tid 6 comm bash",
	    U32(5, 6), U8('b', 'a', 's', 'h', 0, 0, 0, 0)),
	ROW(PERF_RECORD_COMM, 0, "COMM pid 5 tid 6 comm \"\\x1b[2J \\\"\\x0a\"", U32(5, 6),
	    U8(0x1b, '[', '2', 'J', ' ', '"', '\n', 0)),
	ROW(PERF_RECORD_COMM, 0, "COMM pid 5 tid 6 comm \"\"", U32(5, 6), 0),
	ROW(PERF_RECORD_COMM, 0, "COMM pid 5 tid 6 comm \"\\xc3\\xa9\\x80\\\\\"", U32(5, 6),
	    U8(0xc3, 0xa9, 0x80, '\\', 0, 0, 0, 0)),
	ROW(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, "FORK (exec) pid 2 tid 20 ppid 1 ptid 10 at 99",
	    U32(2, 1), U32(20, 10), 99),
	ROW(PERF_RECORD_EXIT, 0, "EXIT pid 2 tid 20 ppid 1 ptid 10 at 99", U32(2, 1), U32(20, 10), 99),
	ROW(PERF_RECORD_THROTTLE, 0, "THROTTLE at 1 id 2 stream_id 3", 1, 2, 3),
	ROW(PERF_RECORD_UNTHROTTLE, 0, "UNTHROTTLE at 1 id 2 stream_id 3", 1, 2, 3),
	ROW(PERF_RECORD_READ, 0, "READ pid 5 tid 6 read [10/id:1 20/id:2]", U32(5, 6), 2, 10, 1, 20, 2),
	ROW(PERF_RECORD_AUX, 0, "AUX offset 0x1000 size 0x200 flags 0x1(truncated)", 0x1000, 0x200, 1),
	ROW(PERF_RECORD_ITRACE_START, 0, "ITRACE_START pid 5 tid 6", U32(5, 6)),
	ROW(PERF_RECORD_SWITCH_CPU_WIDE, 0, "SWITCH_CPU_WIDE (in) prev pid 5 tid 6", U32(5, 6)),
	ROW(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	    "SWITCH_CPU_WIDE (out preempt) next pid 5 tid 6", U32(5, 6)),
	ROW(PERF_RECORD_NAMESPACES, 0, "NAMESPACES pid 5 tid 6 [net:3/0xf0000000 uts:4/0xf0000001]",
	    U32(5, 6), 2, 3, 0xf0000000, 4, 0xf0000001),
	ROW(PERF_RECORD_KSYMBOL, 0, "KSYMBOL unregister addr 0xffffffffc0000000 len 64 type BPF flags 0x1 name bpf_x",
	    0xffffffffc0000000, U32(64, 0x10001), U8('b', 'p', 'f', '_', 'x', 0, 0, 0)),
	ROW(PERF_RECORD_BPF_EVENT, 0, "BPF_EVENT type PROG_LOAD flags 0x0 id 99 tag 0102030405060708",
	    U16(1, 0, 99, 0), U8(1, 2, 3, 4, 5, 6, 7, 8)),
	ROW(PERF_RECORD_BPF_EVENT, 0, "BPF_EVENT type 77 flags 0x0 id 99 tag 0102030405060708",
	    U16(77, 0, 99, 0), U8(1, 2, 3, 4, 5, 6, 7, 8)),
	ROW(PERF_RECORD_CGROUP, 0, "CGROUP cgroup 1234 path /a/b", 1234, U8('/', 'a', '/', 'b', 0, 0, 0, 0)),
	ROW(PERF_RECORD_TEXT_POKE, 0, "TEXT_POKE addr 0xffffffff81000000 old 5 0102030405 new 2 0607",
	    0xffffffff81000000, U8(5, 0, 2, 0, 1, 2, 3, 4), U8(5, 6, 7, 0, 0, 0, 0, 0)),
	ROW(PERF_RECORD_AUX_OUTPUT_HW_ID, 0, "AUX_OUTPUT_HW_ID hw_id 0xabcd", 0xabcd),
	ROW(PEV_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER,
	    "CALLCHAIN_DEFERRED (user) cookie 0x100000001 callchain [user: 0x401000]",
	    0x100000001, 2, (uint64_t)PERF_CONTEXT_USER, 0x401000),
	ROW(50, 0, "type 50 size 48", 1),
};

static struct pev_record decode_row(size_t i, struct bytes *b)
{
	struct pev_record rec;

	begin(b, rows[i].type, rows[i].misc);
	append(b, rows[i].words, rows[i].n);
	assert_int_equal(pev_decode(head_of(b), b->n * 8, &with_ids, &rec), 0);
	return rec;
}

/* Whatever the buffer's size, the text is its beginning, and the length is that of all. */
TEST(a_line_per_record)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[512];
		struct pev_record rec;
		struct bytes b;
		int len = snprintf(want, sizeof(want), "%s%s", rows[i].text, TRAILER_TEXT);

		rec = decode_row(i, &b);
		assert_int_equal(pev_record_text(&rec, &with_ids, NULL, 0), len);
		for (size_t size = 1; size <= (size_t)len + 1; size++) {
			char *small = malloc(size);

			assert_int_equal(pev_record_text(&rec, &with_ids, small, size), len);
			assert_int_equal(strlen(small), size - 1);
			assert_memory_equal(small, want, size - 1);
			free(small);
		}
	}
}

/* A record that did not decode has a type and no pointers. */
TEST(what_did_not_decode)
{
	for (uint32_t type = 0; type <= PEV_RECORD_MAX_KNOWN; type++) {
		struct pev_record rec = { .type = type, .size = 8 };
		char text[256];

		assert_true(pev_record_text(&rec, &with_ids, text, sizeof(text)) > 0);
	}
}

static void has_text(struct bytes *b, const struct pev_format *fmt, const char *expected)
{
	struct pev_record rec;
	char text[512];

	assert_int_equal(pev_decode(head_of(b), b->n * 8, fmt, &rec), 0);
	pev_record_text(&rec, fmt, text, sizeof(text));
	assert_string_equal(text, expected);
}

TEST(a_switch_is_told_by_misc_alone)
{
	struct pev_format plain = { 0 };
	struct bytes b;

	begin(&b, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	has_text(&b, &plain, "SWITCH (out)");
	head_of(&b)->misc = 0;
	has_text(&b, &plain, "SWITCH (in)");
}

TEST(long_bytes_are_cut_and_told)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_RAW };
	static const uint64_t zeroes[32];
	char expected[512];
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, U32(252, 0));
	append(&b, zeroes, 31);
	snprintf(expected, sizeof(expected), "SAMPLE raw 252 %0128d+188", 0);
	has_text(&b, &fmt, expected);
}

TEST(undecoded_fields_are_told)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_AUX | 1ULL << 40,
	};
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 1, 77, 3);
	has_text(&b, &fmt, "SAMPLE ip 0x1 undecoded REGS_USER|AUX|0x10000000000");
}
