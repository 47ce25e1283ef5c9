/* SPDX-License-Identifier: Apache-2.0 */
/* Heads, trailers and side-band records from bytes; bytes that lie. Samples: test_sample.c. */
#include "checks.h"
#include "records.h"

#include <errno.h>

/* ------------------------------------------------------------------------
 * The head of a record
 */

TEST(sizes_that_no_record_has)
{
	static const uint16_t bad[] = { 0, 1, 7, 17, 24, 65535 };
	struct pev_format fmt = { 0 };
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		head_of(&b)->size = bad[i];
		assert_int_equal(pev_decode(head_of(&b), 16, &fmt, &rec), -EBADMSG);
		ARE(NUMBERS(rec.size, rec.type), NUMBERS(bad[i], PERF_RECORD_SAMPLE));
	}
	for (size_t avail = 0; avail < 8; avail++)
		assert_int_equal(pev_decode(head_of(&b), avail, &fmt, &rec), -EBADMSG);
}

TEST(a_size_off_the_grid_stays_inside)
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

TEST(unknown_types_pass_through)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_TID, .sample_id_all = true };
	struct pev_record rec;
	struct bytes b;

	begin(&b, 63, 0x1234);
	PUT(&b, 1, U32(10, 11));
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	ARE(NUMBERS(rec.type, rec.misc, rec.size, rec.sample_id.tid), NUMBERS(63, 0x1234, 24, 11));
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

TEST(the_trailer_alone_and_together)
{
	static const struct {
		uint64_t bit, word;
	} parts[] = {
		{ PERF_SAMPLE_TID, U32(1, 2) }, { PERF_SAMPLE_TIME, 3 }, { PERF_SAMPLE_ID, 4 }, { PERF_SAMPLE_STREAM_ID, 5 },
		{ PERF_SAMPLE_CPU, U32(6, 0) }, { PERF_SAMPLE_IDENTIFIER, 4 },
	};

	for (unsigned int rows = 0; rows < 1U << COUNT(parts); rows++) {
		struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW, .sample_id_all = true };
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
		ARE(NUMBERS(rec.lost.id, rec.lost.lost, rec.sample_id.present), NUMBERS(70, 80, present));
		ARE(NUMBERS(rec.sample_id.pid, rec.sample_id.tid, rec.sample_id.time, rec.sample_id.id, rec.sample_id.stream_id,
			    rec.sample_id.cpu),
		    NUMBERS(t & PERF_SAMPLE_TID ? 1 : 0, t & PERF_SAMPLE_TID ? 2 : 0, t & PERF_SAMPLE_TIME ? 3 : 0,
			    t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 4 : 0, t & PERF_SAMPLE_STREAM_ID ? 5 : 0,
			    t & PERF_SAMPLE_CPU ? 6 : 0));
	}
}

/* The bodies of records of which the kernel's size is too large for every listener but the first. */
static const struct {
	uint32_t type;
	size_t n;
	uint64_t body[4];
} overstated[] = {
	{ PERF_RECORD_KSYMBOL, 3, { 0x1000, U32(64, 1), U8('b', 'p', 'f', '_', 'x', 0, 0, 0) } },
	{ PERF_RECORD_KSYMBOL, 4, { 0x1000, U32(64, 1), U8('b', 'p', 'f', '_', 'p', 'r', 'o', 'g'), 0 } },
	{ PERF_RECORD_BPF_EVENT, 2, { U16(1, 0, 9, 0), U8(1, 2, 3, 4, 5, 6, 7, 8) } },
	{ PERF_RECORD_TEXT_POKE, 3, { 0x1000, U8(5, 0, 2, 0, 1, 2, 3, 4), U8(5, 6, 7, 0, 0, 0, 0, 0) } },
	{ PERF_RECORD_TEXT_POKE, 2, { 0x1000, U16(1, 1, 0x90eb, 0) } },
};

TEST(the_trailer_lies_behind_the_body)
{
	const struct pev_format fmt = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = true };

	for (size_t i = 0; i < COUNT(overstated); i++)
		for (size_t others = 0; others < 3; others++) {
			struct pev_record rec;
			struct bytes b;
			void *copy;

			begin(&b, overstated[i].type, 0);
			append(&b, overstated[i].body, overstated[i].n);
			PUT(&b, U32(1, 2), 3);
			for (size_t k = 0; k < others; k++)
				PUT(&b, U32(77, 78), 79);
			assert_int_equal(decode_copy(&b, b.n * 8, b.n * 8, &fmt, &rec, &copy), 0);
			ARE(NUMBERS(rec.size, rec.sample_id.tid, rec.sample_id.time), NUMBERS(b.n * 8, 2, 3));
			free(copy);
			/* none of it can be missing */
			for (size_t n = 1; n < overstated[i].n + 3; n++) {
				assert_int_equal(decode_copy(&b, n * 8, n * 8, &fmt, &rec, &copy), -EBADMSG);
				free(copy);
			}
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
	/* not a word of it can be missing */
	for (size_t n = 1; n < b->n; n++) {
		struct pev_record cut;
		void *copy;

		assert_int_equal(decode_copy(b, n * 8, n * 8, &plain, &cut, &copy), -EBADMSG);
		free(copy);
	}
	return rec;
}

/* Such a record, which is whole. */
#define WHOLE(b, type, misc, ...) (begin(b, type, misc), PUT(b, __VA_ARGS__), decoded(b))

static void is_bad(struct bytes *b)
{
	struct pev_record rec;

	assert_int_equal(pev_decode(head_of(b), b->n * 8, &plain, &rec), -EBADMSG);
}

TEST(comm)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, U32(7, 8), U8('b', 'a', 's', 'h', 0, 0, 0, 0));

	ARE(NUMBERS(rec.comm.pid, rec.comm.tid, rec.comm.exec), NUMBERS(7, 8, true));
	assert_string_equal(rec.comm.comm, "bash");
	head_of(&b)->misc = 0;
	assert_false(decoded(&b).comm.exec);
}

TEST(a_name_without_end_is_bad)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = true };
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_COMM, 0);
	PUT(&b, U32(7, 8), U8('b', 'a', 's', 'h', 'b', 'a', 's', 'h'));
	is_bad(&b);
	/* nor may it end in the trailer, whose zero bytes are not the name's */
	PUT(&b, 0);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), 0);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), -EBADMSG);
}

TEST(fork_and_exit)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT };

	for (size_t i = 0; i < COUNT(types); i++) {
		struct bytes b;
		struct pev_record rec = WHOLE(&b, types[i], 0, U32(2, 1), U32(20, 10), 999);

		ARE(NUMBERS(rec.task.pid, rec.task.ppid, rec.task.tid, rec.task.ptid, rec.task.time), NUMBERS(2, 1, 20, 10, 999));
	}
}

#define BIN_LS U8('/', 'b', 'i', 'n', '/', 'l', 's', 0)

TEST(mmap_of_code_and_data)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_MMAP, 0, U32(5, 6), 0x400000, 0x1000, 0x2000, BIN_LS);

	ARE(NUMBERS(rec.mmap.pid, rec.mmap.tid, rec.mmap.addr, rec.mmap.len, rec.mmap.pgoff, rec.mmap.data),
	    NUMBERS(5, 6, 0x400000, 0x1000, 0x2000, false));
	assert_string_equal(rec.mmap.filename, "/bin/ls");
	head_of(&b)->misc = PERF_RECORD_MISC_MMAP_DATA;
	assert_true(decoded(&b).mmap.data);
}

TEST(mmap2_by_inode)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_MMAP2, 0, U32(5, 6), 0x400000, 0x1000, 0x2000, U32(8, 1), 4242, 17, U32(5, 2),
				      BIN_LS);

	ARE(NUMBERS(rec.mmap.has_build_id, rec.mmap.maj, rec.mmap.min, rec.mmap.ino, rec.mmap.ino_generation, rec.mmap.prot,
		    rec.mmap.flags), NUMBERS(false, 8, 1, 4242, 17, 5, 2));
	assert_string_equal(rec.mmap.filename, "/bin/ls");
}

TEST(mmap2_by_build_id)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, U32(5, 6), 0x400000, 0x1000, 0x2000,
				      U8(20, 0, 0, 0, 1, 2, 3, 4), U8(5, 6, 7, 8, 9, 10, 11, 12),
				      U8(13, 14, 15, 16, 17, 18, 19, 20), U32(5, 2), BIN_LS);

	ARE(NUMBERS(rec.mmap.has_build_id, rec.mmap.build_id_size, rec.mmap.ino, rec.mmap.prot), NUMBERS(true, 20, 0, 5));
	assert_memory_equal(rec.mmap.build_id, id, 20);
	assert_string_equal(rec.mmap.filename, "/bin/ls");
	/* longer than its place */
	b.word[5] = U8(21, 0, 0, 0, 1, 2, 3, 4);
	is_bad(&b);
}

TEST(lost_and_throttled)
{
	static const uint32_t types[] = { PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE };
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_LOST, 0, 3, 1000000);

	ARE(NUMBERS(rec.lost.id, rec.lost.lost), NUMBERS(3, 1000000));
	rec = WHOLE(&b, PERF_RECORD_LOST_SAMPLES, 0, 12);
	ARE(NUMBERS(rec.lost.id, rec.lost.lost), NUMBERS(0, 12));
	for (size_t i = 0; i < COUNT(types); i++) {
		rec = WHOLE(&b, types[i], 0, 1, 2, 3);
		ARE(NUMBERS(rec.throttle.time, rec.throttle.id, rec.throttle.stream_id), NUMBERS(1, 2, 3));
	}
}

TEST(read_counts)
{
	struct pev_format fmt = { .read_format = PERF_FORMAT_ID };
	struct pev_record rec;
	struct pev_count c;
	struct bytes b;

	begin(&b, PERF_RECORD_READ, 0);
	PUT(&b, U32(5, 6), 1000, 9);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	pev_read_value(&rec.read.read, 0, &c);
	ARE(NUMBERS(rec.read.pid, rec.read.tid, c.value, c.id), NUMBERS(5, 6, 1000, 9));
	assert_int_equal(pev_decode(head_of(&b), 24, &fmt, &rec), -EBADMSG);
}

TEST(aux_itrace_and_hw_id)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_AUX, 0, 0x1000, 0x200, PERF_AUX_FLAG_TRUNCATED);

	ARE(NUMBERS(rec.aux.offset, rec.aux.size, rec.aux.flags), NUMBERS(0x1000, 0x200, PERF_AUX_FLAG_TRUNCATED));
	rec = WHOLE(&b, PERF_RECORD_ITRACE_START, 0, U32(5, 6));
	ARE(NUMBERS(rec.itrace_start.pid, rec.itrace_start.tid), NUMBERS(5, 6));
	rec = WHOLE(&b, PERF_RECORD_AUX_OUTPUT_HW_ID, 0, 0xabcd);
	assert_int_equal(rec.aux_output_hw_id.hw_id, 0xabcd);
}

TEST(switches)
{
	static const struct {
		uint16_t misc;
		bool out, preempt;
	} rows[] = {
		{ 0, false, false }, { PERF_RECORD_MISC_SWITCH_OUT, true, false },
		{ PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_record rec;
		struct bytes b;

		begin(&b, PERF_RECORD_SWITCH, rows[i].misc);
		rec = decoded(&b);
		ARE(NUMBERS(rec.context_switch.out, rec.context_switch.preempt), NUMBERS(rows[i].out, rows[i].preempt));
		rec = WHOLE(&b, PERF_RECORD_SWITCH_CPU_WIDE, rows[i].misc, U32(70, 71));
		ARE(NUMBERS(rec.context_switch.out, rec.context_switch.next_prev_pid, rec.context_switch.next_prev_tid),
		    NUMBERS(rows[i].out, 70, 71));
	}
}

TEST(namespaces)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_NAMESPACES, 0, U32(5, 6), 2, 3, 0xf0000000, 4, 0xf0000001);

	ARE(NUMBERS(rec.namespaces.pid, rec.namespaces.tid, rec.namespaces.nr, rec.namespaces.entries[1].dev,
		    rec.namespaces.entries[1].inode), NUMBERS(5, 6, 2, 4, 0xf0000001));
	for (b.word[2] = 3; b.word[2]; b.word[2] <<= 1)
		is_bad(&b);
	b.word[2] = UINT64_MAX;
	is_bad(&b);
}

TEST(ksymbol)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_KSYMBOL, 0, 0xffffffffc0000000, U32(64, PERF_RECORD_KSYMBOL_TYPE_BPF),
				      U8('b', 'p', 'f', '_', 'x', 0, 0, 0));

	ARE(NUMBERS(rec.ksymbol.addr, rec.ksymbol.len, rec.ksymbol.type, rec.ksymbol.unregister),
	    NUMBERS(0xffffffffc0000000, 64, PERF_RECORD_KSYMBOL_TYPE_BPF, false));
	assert_string_equal(rec.ksymbol.name, "bpf_x");
	b.word[2] = U32(64, PERF_RECORD_KSYMBOL_TYPE_OOL | PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER << 16);
	rec = decoded(&b);
	ARE(NUMBERS(rec.ksymbol.type, rec.ksymbol.unregister), NUMBERS(PERF_RECORD_KSYMBOL_TYPE_OOL, true));
}

TEST(bpf_event_and_cgroup)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_BPF_EVENT, 0, U16(PERF_BPF_EVENT_PROG_LOAD, 3, 99, 0), U8(1, 2, 3, 4, 5, 6, 7, 8));

	ARE(NUMBERS(rec.bpf_event.type, rec.bpf_event.flags, rec.bpf_event.id), NUMBERS(PERF_BPF_EVENT_PROG_LOAD, 3, 99));
	assert_memory_equal(rec.bpf_event.tag, "\1\2\3\4\5\6\7\10", 8);
	rec = WHOLE(&b, PERF_RECORD_CGROUP, 0, 1234, U8('/', 'a', '/', 'b', 0, 0, 0, 0));
	assert_int_equal(rec.cgroup.id, 1234);
	assert_string_equal(rec.cgroup.path, "/a/b");
}

TEST(text_poke)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PERF_RECORD_TEXT_POKE, 0, 0xffffffff81000000, U8(5, 0, 2, 0, 1, 2, 3, 4),
				      U8(5, 6, 7, 0, 0, 0, 0, 0));

	ARE(NUMBERS(rec.text_poke.addr, rec.text_poke.old_len, rec.text_poke.new_len), NUMBERS(0xffffffff81000000, 5, 2));
	assert_memory_equal(rec.text_poke.old_bytes, "\1\2\3\4\5", 5);
	assert_memory_equal(rec.text_poke.new_bytes, "\6\7", 2);
	b.word[2] = U8(5, 0, 8, 0, 1, 2, 3, 4);
	is_bad(&b);
	b.word[2] = U8(255, 255, 0, 0, 1, 2, 3, 4);
	is_bad(&b);
}

TEST(callchain_deferred)
{
	struct bytes b;
	struct pev_record rec = WHOLE(&b, PEV_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER, 0x100000001, 2, 0x401000, 0x402000);

	ARE(NUMBERS(rec.callchain_deferred.cookie, rec.callchain_deferred.nr, rec.callchain_deferred.ips[1]),
	    NUMBERS(0x100000001, 2, 0x402000));
	b.word[2] = 3;
	is_bad(&b);
	b.word[2] = 1ULL << 61;
	is_bad(&b);
}

/* Any type cut after any byte: an answer, and no byte beyond (ASan). */
TEST(every_type_cut_anywhere)
{
	struct bytes b;

	begin(&b, 0, 0);
	for (size_t i = 0; i < 24; i++)
		PUT(&b, i);
	for (uint32_t type = 0; type < 70; type++)
		for (size_t size = 0; size <= b.n * 8; size++) {
			struct pev_format fmt = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = size & 1 };
			struct pev_record rec;
			void *copy;

			head_of(&b)->type = type;
			decode_copy(&b, size, size, &fmt, &rec, &copy);
			free(copy);
		}
}

TEST(format_from_attr)
{
	struct perf_event_attr attr = {
		.sample_type = 1, .read_format = 2, .branch_sample_type = 3, .sample_regs_user = 4,
		.sample_regs_intr = 5, .sample_id_all = 1,
	};
	struct pev_format fmt;

	pev_format_from_attr(&fmt, &attr);
	ARE(NUMBERS(fmt.sample_type, fmt.read_format, fmt.branch_sample_type, fmt.regs_user, fmt.regs_intr), NUMBERS(1, 2, 3, 4, 5));
	assert_true(fmt.sample_id_all);
}
