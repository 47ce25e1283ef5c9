/* SPDX-License-Identifier: Apache-2.0 */
/* Heads, trailers and side-band records from bytes; bytes that lie. Samples: test_sample.c. */
#include "records.h"

#include <errno.h>

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

static void the_trailer_lies_behind_the_body(void **state)
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
			assert_int_equal(rec.size, b.n * 8);
			assert_int_equal(rec.sample_id.tid, 2);
			assert_int_equal(rec.sample_id.time, 3);
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

static void read_counts(void **state)
{
	struct pev_format fmt = { .read_format = PERF_FORMAT_ID };
	struct pev_record rec;
	struct pev_count c;
	struct bytes b;

	begin(&b, PERF_RECORD_READ, 0);
	PUT(&b, U32(5, 6), 1000, 9);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
	assert_int_equal(rec.read.pid, 5);
	assert_int_equal(rec.read.tid, 6);
	pev_read_value(&rec.read.read, 0, &c);
	assert_int_equal(c.value, 1000);
	assert_int_equal(c.id, 9);
	assert_int_equal(pev_decode(head_of(&b), 24, &fmt, &rec), -EBADMSG);
}

static void aux_itrace_and_hw_id(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_AUX, 0);
	PUT(&b, 0x1000, 0x200, PERF_AUX_FLAG_TRUNCATED);
	rec = decoded(&b);
	assert_int_equal(rec.aux.offset, 0x1000);
	assert_int_equal(rec.aux.size, 0x200);
	assert_int_equal(rec.aux.flags, PERF_AUX_FLAG_TRUNCATED);
	begin(&b, PERF_RECORD_ITRACE_START, 0);
	PUT(&b, U32(5, 6));
	rec = decoded(&b);
	assert_int_equal(rec.itrace_start.pid, 5);
	assert_int_equal(rec.itrace_start.tid, 6);
	begin(&b, PERF_RECORD_AUX_OUTPUT_HW_ID, 0);
	PUT(&b, 0xabcd);
	assert_int_equal(decoded(&b).aux_output_hw_id.hw_id, 0xabcd);
}

static void switches(void **state)
{
	static const struct {
		uint16_t misc;
		bool out, preempt;
	} rows[] = {
		{ 0, false, false },
		{ PERF_RECORD_MISC_SWITCH_OUT, true, false },
		{ PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_record rec;
		struct bytes b;

		begin(&b, PERF_RECORD_SWITCH, rows[i].misc);
		rec = decoded(&b);
		assert_int_equal(rec.context_switch.out, rows[i].out);
		assert_int_equal(rec.context_switch.preempt, rows[i].preempt);
		begin(&b, PERF_RECORD_SWITCH_CPU_WIDE, rows[i].misc);
		PUT(&b, U32(70, 71));
		rec = decoded(&b);
		assert_int_equal(rec.context_switch.out, rows[i].out);
		assert_int_equal(rec.context_switch.next_prev_pid, 70);
		assert_int_equal(rec.context_switch.next_prev_tid, 71);
	}
}

static void namespaces(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_NAMESPACES, 0);
	PUT(&b, U32(5, 6), 2, 3, 0xf0000000, 4, 0xf0000001);
	rec = decoded(&b);
	assert_int_equal(rec.namespaces.pid, 5);
	assert_int_equal(rec.namespaces.tid, 6);
	assert_int_equal(rec.namespaces.nr, 2);
	assert_int_equal(rec.namespaces.entries[1].dev, 4);
	assert_int_equal(rec.namespaces.entries[1].inode, 0xf0000001);
	for (b.word[2] = 3; b.word[2]; b.word[2] <<= 1)
		assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
	b.word[2] = UINT64_MAX;
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
}

static void ksymbol(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_KSYMBOL, 0);
	PUT(&b, 0xffffffffc0000000, U32(64, PERF_RECORD_KSYMBOL_TYPE_BPF), U8('b', 'p', 'f', '_', 'x', 0, 0, 0));
	rec = decoded(&b);
	assert_int_equal(rec.ksymbol.addr, 0xffffffffc0000000);
	assert_int_equal(rec.ksymbol.len, 64);
	assert_int_equal(rec.ksymbol.type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	assert_false(rec.ksymbol.unregister);
	assert_string_equal(rec.ksymbol.name, "bpf_x");
	b.word[2] = U32(64, PERF_RECORD_KSYMBOL_TYPE_OOL | PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER << 16);
	rec = decoded(&b);
	assert_int_equal(rec.ksymbol.type, PERF_RECORD_KSYMBOL_TYPE_OOL);
	assert_true(rec.ksymbol.unregister);
}

static void bpf_event(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_BPF_EVENT, 0);
	PUT(&b, U16(PERF_BPF_EVENT_PROG_LOAD, 3, 99, 0), U8(1, 2, 3, 4, 5, 6, 7, 8));
	rec = decoded(&b);
	assert_int_equal(rec.bpf_event.type, PERF_BPF_EVENT_PROG_LOAD);
	assert_int_equal(rec.bpf_event.flags, 3);
	assert_int_equal(rec.bpf_event.id, 99);
	assert_memory_equal(rec.bpf_event.tag, "\1\2\3\4\5\6\7\10", 8);
}

static void cgroup(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_CGROUP, 0);
	PUT(&b, 1234, U8('/', 'a', '/', 'b', 0, 0, 0, 0));
	rec = decoded(&b);
	assert_int_equal(rec.cgroup.id, 1234);
	assert_string_equal(rec.cgroup.path, "/a/b");
}

static void text_poke(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PERF_RECORD_TEXT_POKE, 0);
	PUT(&b, 0xffffffff81000000, U8(5, 0, 2, 0, 1, 2, 3, 4), U8(5, 6, 7, 0, 0, 0, 0, 0));
	rec = decoded(&b);
	assert_int_equal(rec.text_poke.addr, 0xffffffff81000000);
	assert_int_equal(rec.text_poke.old_len, 5);
	assert_int_equal(rec.text_poke.new_len, 2);
	assert_memory_equal(rec.text_poke.old_bytes, "\1\2\3\4\5", 5);
	assert_memory_equal(rec.text_poke.new_bytes, "\6\7", 2);
	b.word[2] = U8(5, 0, 8, 0, 1, 2, 3, 4);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
	b.word[2] = U8(255, 255, 0, 0, 1, 2, 3, 4);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
}

static void callchain_deferred(void **state)
{
	struct pev_record rec;
	struct bytes b;

	begin(&b, PEV_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	PUT(&b, 0x100000001, 2, 0x401000, 0x402000);
	rec = decoded(&b);
	assert_int_equal(rec.callchain_deferred.cookie, 0x100000001);
	assert_int_equal(rec.callchain_deferred.nr, 2);
	assert_int_equal(rec.callchain_deferred.ips[1], 0x402000);
	b.word[2] = 3;
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
	b.word[2] = 1ULL << 61;
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, &plain, &rec), -EBADMSG);
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
		cmocka_unit_test(sizes_that_no_record_has),
		cmocka_unit_test(a_size_off_the_grid_stays_inside),
		cmocka_unit_test(unknown_types_pass_through),
		cmocka_unit_test(the_trailer_alone_and_together),
		cmocka_unit_test(the_trailer_lies_behind_the_body),
		cmocka_unit_test(comm),
		cmocka_unit_test(a_name_without_end_is_bad),
		cmocka_unit_test(fork_and_exit),
		cmocka_unit_test(mmap_of_code_and_data),
		cmocka_unit_test(mmap2_by_inode),
		cmocka_unit_test(mmap2_by_build_id),
		cmocka_unit_test(lost_and_lost_samples),
		cmocka_unit_test(throttle_and_unthrottle),
		cmocka_unit_test(read_counts),
		cmocka_unit_test(aux_itrace_and_hw_id),
		cmocka_unit_test(switches),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(ksymbol),
		cmocka_unit_test(bpf_event),
		cmocka_unit_test(cgroup),
		cmocka_unit_test(text_poke),
		cmocka_unit_test(callchain_deferred),
		cmocka_unit_test(every_type_cut_anywhere),
		cmocka_unit_test(format_from_attr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
