/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from bytes: each field alone, any two, all, cut anywhere; lengths that lie. */
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

static void has_branches(const struct pev_sample *s)
{
	struct pev_branch b;

	assert_int_equal(s->branches.nr, 2);
	assert_true(s->branches.has_hw_index);
	assert_int_equal(s->branches.hw_index, 9);
	pev_branch_entry(&s->branches, 0, &b);
	assert_int_equal(b.from, 0x401000);
	assert_int_equal(b.to, 0x402000);
	assert_true(b.mispred && !b.predicted && b.in_tx && !b.abort);
	assert_int_equal(b.cycles, 0x1234);
	assert_int_equal(b.type, 4);
	assert_int_equal(b.spec, 3);
	assert_int_equal(b.new_type, 0);
	assert_int_equal(b.priv, 1);
	assert_int_equal(b.counters, 0x55);
	pev_branch_entry(&s->branches, 1, &b);
	assert_true(!b.mispred && b.predicted && !b.in_tx && b.abort);
	assert_int_equal(b.type, 15);
	assert_int_equal(b.new_type, 2);
	assert_string_equal(pev_branch_type_name(&b), "FAULT_INST");
	assert_int_equal(b.counters, 0x66);
	pev_branch_entry(&s->branches, 2, &b);
	assert_int_equal(b.from, 0);
}

static void has_regs_user(const struct pev_sample *s)
{
	uint64_t v;

	assert_int_equal(s->regs_user.abi, PERF_SAMPLE_REGS_ABI_64);
	assert_true(pev_regs_value(&s->regs_user, 0, &v));
	assert_int_equal(v, 0xa0);
	assert_true(pev_regs_value(&s->regs_user, 7, &v));
	assert_int_equal(v, 0xa7);
	assert_true(pev_regs_value(&s->regs_user, 63, &v));
	assert_int_equal(v, 0xaf);
	assert_false(pev_regs_value(&s->regs_user, 1, &v));
	assert_false(pev_regs_value(&s->regs_user, 64, &v));
}

static void has_stack(const struct pev_sample *s)
{
	assert_int_equal(s->stack_size, 16);
	assert_int_equal(s->stack_dyn_size, 9);
	assert_memory_equal(s->stack, "stack st ack    ", 16);
}

static void has_weight(const struct pev_sample *s)
{
	assert_int_equal(s->weight.full, 0x0003000200000001);
}

static void has_data_src(const struct pev_sample *s)
{
	assert_int_equal(s->data_src, 0x68100142);
}

static void has_transaction(const struct pev_sample *s)
{
	assert_int_equal(s->transaction, 0x1200000011);
}

static void has_regs_intr(const struct pev_sample *s)
{
	uint64_t v;

	assert_int_equal(s->regs_intr.abi, PERF_SAMPLE_REGS_ABI_32);
	assert_true(pev_regs_value(&s->regs_intr, 8, &v));
	assert_int_equal(v, 0xb8);
	assert_false(pev_regs_value(&s->regs_intr, 0, &v));
}

static void has_phys_addr(const struct pev_sample *s)
{
	assert_int_equal(s->phys_addr, 0x1f0001234);
}

static void has_cgroup(const struct pev_sample *s)
{
	assert_int_equal(s->cgroup, 4321);
}

static void has_data_page_size(const struct pev_sample *s)
{
	assert_int_equal(s->data_page_size, 2097152);
}

static void has_code_page_size(const struct pev_sample *s)
{
	assert_int_equal(s->code_page_size, 4096);
}

static void has_aux(const struct pev_sample *s)
{
	assert_int_equal(s->aux_size, 8);
	assert_memory_equal(s->aux, "AUX AUX!", 8);
}

/* The bits of a branch's third word: from the low end on, as GCC lays out bit fields. */
#define BRANCH(m, p, tx, ab, cycles, type, spec, new, priv)                                        \
	((uint64_t)(m) | (p) << 1 | (tx) << 2 | (ab) << 3 | (uint64_t)(cycles) << 4 |              \
	 (uint64_t)(type) << 20 | (uint64_t)(spec) << 24 | (uint64_t)(new) << 26 |                 \
	 (uint64_t)(priv) << 30)

#define WORDS(...)                                                                                 \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

/* `text` is what pev_record_text() must say of it. */
static const struct field {
	uint64_t bit;
	void (*check)(const struct pev_sample *s);
	const char *text;
	const uint64_t *words;
	size_t n;
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, has_identifier, " identifier 7453", WORDS(0x1d1d) },
	{ PERF_SAMPLE_IP, has_ip, " ip 0xffffffff81000010", WORDS(0xffffffff81000010) },
	{ PERF_SAMPLE_TID, has_tid, " pid 100 tid 4294967294", WORDS(U32(100, 0xfffffffe)) },
	{ PERF_SAMPLE_TIME, has_time, " time 123456789012", WORDS(123456789012) },
	{ PERF_SAMPLE_ADDR, has_addr, " addr 0x7fff00001234", WORDS(0x7fff00001234) },
	{ PERF_SAMPLE_ID, has_id, " id 77", WORDS(77) },
	{ PERF_SAMPLE_STREAM_ID, has_stream_id, " stream_id 78", WORDS(78) },
	{ PERF_SAMPLE_CPU, has_cpu, " cpu 511", WORDS(U32(511, 0xdead)) },
	{ PERF_SAMPLE_PERIOD, has_period, " period 18446744073709551615", WORDS(UINT64_MAX) },
	{ PERF_SAMPLE_READ, has_read, " enabled 1000 running 999 read [4711/id:77/lost:5]",
	  WORDS(4711, 1000, 999, 77, 5) },
	{ PERF_SAMPLE_CALLCHAIN, has_callchain, " callchain [user: 0x401000 0x402000]",
	  WORDS(3, (uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000) },
	{ PERF_SAMPLE_RAW, has_raw, " raw 12 726177207261772072617721",
	  WORDS(U8(12, 0, 0, 0, 'r', 'a', 'w', ' '), U8('r', 'a', 'w', ' ', 'r', 'a', 'w', '!')) },
	{ PERF_SAMPLE_BRANCH_STACK, has_branches,
	  " hw_index 9 branches [0x401000>0x402000/MX-/cycles:4660/CALL/SPEC_CORRECT_PATH/USER/"
	  "counters:0x55 0x403000>0x404000/P-A/FAULT_INST/counters:0x66]",
	  WORDS(2, 9, 0x401000, 0x402000, BRANCH(1, 0, 1, 0, 0x1234, 4, 3, 0, 1), 0x403000, 0x404000,
		BRANCH(0, 1, 0, 1, 0, 15, 0, 2, 0), 0x55, 0x66) },
	{ PERF_SAMPLE_REGS_USER, has_regs_user, " uregs abi:64 [AX:0xa0 SP:0xa7 XMM15_HI:0xaf]",
	  WORDS(PERF_SAMPLE_REGS_ABI_64, 0xa0, 0xa7, 0xaf) },
	{ PERF_SAMPLE_STACK_USER, has_stack, " stack 9/16 737461636b20737420",
	  WORDS(16, U8('s', 't', 'a', 'c', 'k', ' ', 's', 't'), U8(' ', 'a', 'c', 'k', ' ', ' ', ' ', ' '), 9) },
	{ PERF_SAMPLE_WEIGHT, has_weight, " weight 844433520066561", WORDS(0x0003000200000001) },
	{ PERF_SAMPLE_DATA_SRC, has_data_src,
	  " data_src 0x68100142(op:load,level:hit|L1,snoop:none,tlb:hit|L1|L2)", WORDS(0x68100142) },
	{ PERF_SAMPLE_TRANSACTION, has_transaction, " transaction 0x1200000011(elision|retry|abort:0x12)",
	  WORDS(0x1200000011) },
	{ PERF_SAMPLE_REGS_INTR, has_regs_intr, " iregs abi:32 [IP:0xb8]",
	  WORDS(PERF_SAMPLE_REGS_ABI_32, 0xb8) },
	{ PERF_SAMPLE_PHYS_ADDR, has_phys_addr, " phys_addr 0x1f0001234", WORDS(0x1f0001234) },
	{ PERF_SAMPLE_CGROUP, has_cgroup, " cgroup 4321", WORDS(4321) },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, has_data_page_size, " data_page_size 2097152", WORDS(2097152) },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, has_code_page_size, " code_page_size 4096", WORDS(4096) },
	{ PERF_SAMPLE_AUX, has_aux, " aux 8 4155582041555821", WORDS(8, U8('A', 'U', 'X', ' ', 'A', 'U', 'X', '!')) },
};

enum { NFIELDS = COUNT(fields) };

static const struct pev_format all_of = {
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
		       PERF_FORMAT_ID | PEV_FORMAT_LOST,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PEV_SAMPLE_BRANCH_COUNTERS,
	.regs_user = 1ULL << 63 | 1 << 7 | 1,
	.regs_intr = 1 << 8,
	.arch = PEV_ARCH_X86_64,
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

/* Each field's text once, and nothing of the others. */
static void check_text(const struct pev_record *rec, const struct pev_format *fmt, unsigned long rows)
{
	size_t len = strlen("SAMPLE (user)");
	char text[2048];

	assert_in_range(pev_record_text(rec, fmt, text, sizeof(text)), 1, sizeof(text) - 1);
	for (size_t i = 0; i < NFIELDS; i++)
		if (rows >> i & 1) {
			assert_non_null(strstr(text, fields[i].text));
			len += strlen(fields[i].text);
		}
	assert_int_equal(strlen(text), len);
}

static void is_zero(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(((const char *)p)[i], 0);
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
	check_text(&rec, &fmt, rows);
	if (!rows)
		is_zero(s, sizeof(*s));
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
		{ PERF_SAMPLE_BRANCH_STACK, 0, { 1, 2, 3 } },
		{ PERF_SAMPLE_BRANCH_STACK, 0, { UINT64_MAX } },
		{ PERF_SAMPLE_BRANCH_STACK, 0, { 0x5555555555555556 } },
		{ PERF_SAMPLE_REGS_USER, 0, { PERF_SAMPLE_REGS_ABI_64, 1, 2 } },
		{ PERF_SAMPLE_REGS_INTR, 0, { PERF_SAMPLE_REGS_ABI_32, 1, 2 } },
		{ PERF_SAMPLE_STACK_USER, 0, { 16, 1, 2 } },         /* no dyn_size */
		{ PERF_SAMPLE_STACK_USER, 0, { 8, 1, 9 } },          /* more than there is */
		{ PERF_SAMPLE_STACK_USER, 0, { 7, 1, 0 } },          /* off the grid */
		{ PERF_SAMPLE_STACK_USER, 0, { UINT64_MAX - 7 } },
		{ PERF_SAMPLE_AUX, 0, { 17, 1, 2 } },
		{ PERF_SAMPLE_AUX, 0, { UINT64_MAX } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP, { 3, 1, 2 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP, { UINT64_MAX } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID, { 2, 1, 2 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID, { 1ULL << 63 } },
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID | PEV_FORMAT_LOST,
		  { 0x5555555555555556 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_format fmt = { .sample_type = rows[i].type, .read_format = rows[i].read_format,
					  .regs_user = 7, .regs_intr = 7 };
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
 * Fields whose presence or size hangs on other things
 */

static struct pev_sample decode(struct bytes *b, const struct pev_format *fmt)
{
	struct pev_record rec;

	assert_int_equal(pev_decode(head_of(b), b->n * 8, fmt, &rec), 0);
	return rec.sample;
}

static void weight_in_three_parts(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_WEIGHT_STRUCT };
	struct pev_sample s;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 0x0003000200000001);
	s = decode(&b, &fmt);
	assert_int_equal(s.weight.var1, 1);
	assert_int_equal(s.weight.var2, 2);
	assert_int_equal(s.weight.var3, 3);
}

static void no_registers_and_no_stack(void **state)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR,
		.regs_user = 0xff,
	};
	struct pev_sample s;
	struct bytes b;
	uint64_t v;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, PERF_SAMPLE_REGS_ABI_NONE, 0, 0x1234);
	s = decode(&b, &fmt);
	assert_int_equal(s.regs_user.mask, 0);
	assert_false(pev_regs_value(&s.regs_user, 0, &v));
	assert_int_equal(s.stack_size, 0);
	assert_null(s.stack);
	assert_int_equal(s.phys_addr, 0x1234);
}

/* Where the ABI is not known, neither is how many words there are: nothing is guessed. */
static void registers_of_an_unknown_abi(void **state)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT |
			       PERF_SAMPLE_REGS_INTR,
		.regs_user = 3, .regs_intr = 3,
	};
	struct pev_sample s;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 1, 6, 2, 3, 4, 5, 6, 7, 8);
	s = decode(&b, &fmt);
	assert_int_equal(s.ip, 1);
	assert_int_equal(s.regs_user.mask, 0);
	assert_int_equal(s.undecoded, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR);
}

/* The kernel leaves the index out where the PMU delivered no stack; only the size of the
 * record tells. */
static void an_empty_branch_stack_with_and_without_index(void **state)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_PHYS_ADDR,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs_user = 1,
	};
	struct pev_sample s;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 0, 17, 2, 0xa0, 0x1234);
	s = decode(&b, &fmt);
	assert_true(s.branches.has_hw_index);
	assert_int_equal(s.branches.hw_index, 17);
	assert_int_equal(s.phys_addr, 0x1234);
	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 0, 2, 0xa0, 0x1234);
	s = decode(&b, &fmt);
	assert_false(s.branches.has_hw_index);
	assert_int_equal(s.branches.nr, 0);
	assert_int_equal(s.regs_user.abi, 2);
	assert_int_equal(s.phys_addr, 0x1234);
	assert_int_equal(s.undecoded, 0);
}

static void branches_without_extras(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_BRANCH_STACK };
	struct pev_branch branch;
	struct pev_sample s;
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	PUT(&b, 1, 10, 20, 0);
	s = decode(&b, &fmt);
	assert_int_equal(s.branches.nr, 1);
	assert_false(s.branches.has_hw_index);
	assert_null(s.branches.counters);
	pev_branch_entry(&s.branches, 0, &branch);
	assert_int_equal(branch.to, 20);
	assert_int_equal(branch.counters, 0);
}

static void exact_ip(void **state)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP };
	struct bytes b;

	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP | PERF_RECORD_MISC_KERNEL);
	PUT(&b, 1);
	assert_true(decode(&b, &fmt).exact_ip);
	head_of(&b)->misc = PERF_RECORD_MISC_KERNEL;
	assert_false(decode(&b, &fmt).exact_ip);
}

/* What decoders may make of a sample cut short is bounded by its bytes (ASan), whatever
 * the format. */
static void every_field_cut_anywhere(void **state)
{
	for (size_t i = 0; i < NFIELDS; i++) {
		struct bytes b;
		struct pev_format fmt = make_sample(&b, 1UL << i);

		for (size_t size = 8; size < b.n * 8; size++) {
			struct pev_record rec;
			void *copy;

			assert_int_equal(decode_copy(&b, size, size, &fmt, &rec, &copy), -EBADMSG);
			is_zero(&rec.sample, sizeof(rec.sample));
			free(copy);
		}
	}
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
		cmocka_unit_test(weight_in_three_parts),
		cmocka_unit_test(no_registers_and_no_stack),
		cmocka_unit_test(registers_of_an_unknown_abi),
		cmocka_unit_test(an_empty_branch_stack_with_and_without_index),
		cmocka_unit_test(branches_without_extras),
		cmocka_unit_test(exact_ip),
		cmocka_unit_test(every_field_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
