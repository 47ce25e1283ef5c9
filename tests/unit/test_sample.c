/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from bytes: each field alone, any two, all, cut anywhere; lengths that lie. */
#include "checks.h"
#include "records.h"

/* ------------------------------------------------------------------------
 * Sample fields, in the order in which the kernel writes them
 */

static void has_read(const struct pev_sample *s)
{
	struct pev_count c;

	assert_int_equal(s->read.nr, 1);
	pev_read_value(&s->read, 0, &c);
	ARE(NUMBERS(c.value, c.time_enabled, c.time_running, c.id, c.lost), NUMBERS(4711, 1000, 999, 77, 5));
}

static void has_callchain(const struct pev_sample *s)
{
	ARE(s->callchain, s->callchain_nr, NUMBERS((uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000));
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
	ARE(NUMBERS(b.from, b.to, b.mispred, b.predicted, b.in_tx, b.abort, b.cycles, b.type, b.spec, b.new_type, b.priv, b.counters),
	    NUMBERS(0x401000, 0x402000, 1, 0, 1, 0, 0x1234, 4, 3, 0, 1, 0x55));
	pev_branch_entry(&s->branches, 1, &b);
	ARE(NUMBERS(b.mispred, b.predicted, b.in_tx, b.abort, b.type, b.new_type, b.counters), NUMBERS(0, 1, 0, 1, 15, 2, 0x66));
	assert_string_equal(pev_branch_type_name(&b), "FAULT_INST");
	pev_branch_entry(&s->branches, 2, &b);
	assert_int_equal(b.from, 0);
}

static void has_regs_user(const struct pev_sample *s)
{
	uint64_t v[4] = { s->regs_user.abi }, none;

	assert_true(pev_regs_value(&s->regs_user, 0, &v[1]) && pev_regs_value(&s->regs_user, 7, &v[2]) &&
		    pev_regs_value(&s->regs_user, 63, &v[3]));
	ARE(v, COUNT(v), NUMBERS(PERF_SAMPLE_REGS_ABI_64, 0xa0, 0xa7, 0xaf));
	assert_false(pev_regs_value(&s->regs_user, 1, &none));
	assert_false(pev_regs_value(&s->regs_user, 64, &none));
}

static void has_stack(const struct pev_sample *s)
{
	assert_int_equal(s->stack_size, 16);
	assert_int_equal(s->stack_dyn_size, 9);
	assert_memory_equal(s->stack, "stack st ack    ", 16);
}

static void has_regs_intr(const struct pev_sample *s)
{
	uint64_t v;

	assert_int_equal(s->regs_intr.abi, PERF_SAMPLE_REGS_ABI_32);
	assert_true(pev_regs_value(&s->regs_intr, 8, &v));
	assert_int_equal(v, 0xb8);
	assert_false(pev_regs_value(&s->regs_intr, 0, &v));
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

#define CHECKED_BY(check) check, 0, 0
#define IS_AT(member) NULL, offsetof(struct pev_sample, member), sizeof(((struct pev_sample *)0)->member)
#define WORDS(...)                                                                                 \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

/* `text` is what pev_record_text() must say of it. Its bytes are those of the first words, where no function checks it. */
static const struct field {
	uint64_t bit;
	void (*check)(const struct pev_sample *s);
	size_t at, size;
	const char *text;
	const uint64_t *words;
	size_t n;
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, IS_AT(identifier), " identifier 7453", WORDS(0x1d1d) },
	{ PERF_SAMPLE_IP, IS_AT(ip), " ip 0xffffffff81000010", WORDS(0xffffffff81000010) },
	{ PERF_SAMPLE_TID, NULL, offsetof(struct pev_sample, pid), 8, " pid 100 tid 4294967294", WORDS(U32(100, 0xfffffffe)) },
	{ PERF_SAMPLE_TIME, IS_AT(time), " time 123456789012", WORDS(123456789012) },
	{ PERF_SAMPLE_ADDR, IS_AT(addr), " addr 0x7fff00001234", WORDS(0x7fff00001234) },
	{ PERF_SAMPLE_ID, IS_AT(id), " id 77", WORDS(77) }, { PERF_SAMPLE_STREAM_ID, IS_AT(stream_id), " stream_id 78", WORDS(78) },
	{ PERF_SAMPLE_CPU, IS_AT(cpu), " cpu 511", WORDS(U32(511, 0xdead)) },
	{ PERF_SAMPLE_PERIOD, IS_AT(period), " period 18446744073709551615", WORDS(UINT64_MAX) },
	{ PERF_SAMPLE_READ, CHECKED_BY(has_read), " enabled 1000 running 999 read [4711/id:77/lost:5]",
	  WORDS(4711, 1000, 999, 77, 5) },
	{ PERF_SAMPLE_CALLCHAIN, CHECKED_BY(has_callchain), " callchain [user: 0x401000 0x402000]",
	  WORDS(3, (uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000) },
	{ PERF_SAMPLE_RAW, CHECKED_BY(has_raw), " raw 12 726177207261772072617721",
	  WORDS(U8(12, 0, 0, 0, 'r', 'a', 'w', ' '), U8('r', 'a', 'w', ' ', 'r', 'a', 'w', '!')) },
	{ PERF_SAMPLE_BRANCH_STACK, CHECKED_BY(has_branches),
	  " hw_index 9 branches [0x401000>0x402000/MX-/cycles:4660/CALL/SPEC_CORRECT_PATH/USER/"
	  "counters:0x55 0x403000>0x404000/P-A/FAULT_INST/counters:0x66]",
	  WORDS(2, 9, 0x401000, 0x402000, BRANCH(1, 0, 1, 0, 0x1234, 4, 3, 0, 1), 0x403000, 0x404000,
		BRANCH(0, 1, 0, 1, 0, 15, 0, 2, 0), 0x55, 0x66) },
	{ PERF_SAMPLE_REGS_USER, CHECKED_BY(has_regs_user), " uregs abi:64 [AX:0xa0 SP:0xa7 XMM15_HI:0xaf]",
	  WORDS(PERF_SAMPLE_REGS_ABI_64, 0xa0, 0xa7, 0xaf) },
	{ PERF_SAMPLE_STACK_USER, CHECKED_BY(has_stack), " stack 9/16 737461636b20737420",
	  WORDS(16, U8('s', 't', 'a', 'c', 'k', ' ', 's', 't'), U8(' ', 'a', 'c', 'k', ' ', ' ', ' ', ' '), 9) },
	{ PERF_SAMPLE_WEIGHT, IS_AT(weight.full), " weight 844433520066561", WORDS(0x0003000200000001) },
	{ PERF_SAMPLE_DATA_SRC, IS_AT(data_src),
	  " data_src 0x68100142(op:load,level:hit|L1,snoop:none,tlb:hit|L1|L2)", WORDS(0x68100142) },
	{ PERF_SAMPLE_TRANSACTION, IS_AT(transaction), " transaction 0x1200000011(elision|retry|abort:0x12)", WORDS(0x1200000011) },
	{ PERF_SAMPLE_REGS_INTR, CHECKED_BY(has_regs_intr), " iregs abi:32 [IP:0xb8]", WORDS(PERF_SAMPLE_REGS_ABI_32, 0xb8) },
	{ PERF_SAMPLE_PHYS_ADDR, IS_AT(phys_addr), " phys_addr 0x1f0001234", WORDS(0x1f0001234) },
	{ PERF_SAMPLE_CGROUP, IS_AT(cgroup), " cgroup 4321", WORDS(4321) },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, IS_AT(data_page_size), " data_page_size 2097152", WORDS(2097152) },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, IS_AT(code_page_size), " code_page_size 4096", WORDS(4096) },
	{ PERF_SAMPLE_AUX, CHECKED_BY(has_aux), " aux 8 4155582041555821", WORDS(8, U8('A', 'U', 'X', ' ', 'A', 'U', 'X', '!')) },
};

enum { NFIELDS = COUNT(fields) };

static const struct pev_format all_of = {
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | PEV_FORMAT_LOST,
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
		if (rows >> i & 1) {
			if (fields[i].check)
				fields[i].check(s);
			assert_memory_equal((const char *)s + fields[i].at, fields[i].check ? (const void *)s : fields[i].words,
					    fields[i].size);
		}
	check_text(&rec, &fmt, rows);
	if (!rows)
		is_zero(s, sizeof(*s));
	free(copy);
}

TEST(each_field_alone_and_any_two)
{
	check_sample(0);
	for (size_t i = 0; i < NFIELDS; i++)
		for (size_t j = i; j < NFIELDS; j++)
			check_sample(1UL << i | 1UL << j);
}

TEST(all_fields_and_all_but_one)
{
	unsigned long all = (1UL << NFIELDS) - 1;

	check_sample(all);
	for (size_t i = 0; i < NFIELDS; i++)
		check_sample(all & ~(1UL << i));
}

/* Every field has its place and its size, so no byte of a sample can be missing; what decoders may make of one
 * cut short is bounded by its bytes (ASan). */
TEST(a_sample_cut_anywhere_is_bad)
{
	struct pev_record rec;
	struct bytes b;
	void *copy;

	for (size_t i = 0; i <= NFIELDS; i++) {
		struct pev_format fmt = make_sample(&b, i < NFIELDS ? 1UL << i : (1UL << NFIELDS) - 1);

		for (size_t size = i < NFIELDS ? 8 : 0; size < b.n * 8; size++) {
			/* the size is right, the bytes are not all there */
			assert_int_equal(decode_copy(&b, b.n * 8, size, &fmt, &rec, &copy), -EBADMSG);
			free(copy);
			/* the size says that it was cut */
			assert_int_equal(decode_copy(&b, size, size, &fmt, &rec, &copy), -EBADMSG);
			is_zero(&rec.sample, i < NFIELDS ? sizeof(rec.sample) : 0);
			assert_int_equal(rec.sample.time, 0);
			free(copy);
		}
	}
}

/* A sample of these words, which stay until the next one. */
static struct pev_sample decode(const struct pev_format *fmt, const uint64_t *words, size_t n)
{
	static struct bytes b;
	struct pev_record rec;

	begin(&b, PERF_RECORD_SAMPLE, 0);
	append(&b, words, n);
	assert_int_equal(pev_decode(head_of(&b), b.n * 8, fmt, &rec), 0);
	return rec.sample;
}

TEST(fields_of_a_newer_kernel_are_told)
{
	const struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP | 1ULL << 40 };
	struct pev_sample s = decode(&fmt, WORDS(0x1234, 0xabcdef));

	ARE(NUMBERS(s.ip, s.undecoded), NUMBERS(0x1234, 1ULL << 40));
}

TEST(lengths_that_lie_are_bad)
{
	static const struct {
		uint64_t type, read_format;
		uint64_t word[3];
	} rows[] = {
		{ PERF_SAMPLE_CALLCHAIN, 0, { 3, 1, 2 } }, { PERF_SAMPLE_CALLCHAIN, 0, { UINT64_MAX } },
		{ PERF_SAMPLE_CALLCHAIN, 0, { 1ULL << 61 } }, { PERF_SAMPLE_RAW, 0, { U32(21, 0) } },
		{ PERF_SAMPLE_RAW, 0, { U32(UINT32_MAX, 0) } }, { PERF_SAMPLE_RAW, 0, { U32(UINT32_MAX - 3, 0) } },
		{ PERF_SAMPLE_BRANCH_STACK, 0, { 1, 2, 3 } }, { PERF_SAMPLE_BRANCH_STACK, 0, { UINT64_MAX } },
		{ PERF_SAMPLE_BRANCH_STACK, 0, { 0x5555555555555556 } },
		{ PERF_SAMPLE_REGS_USER, 0, { PERF_SAMPLE_REGS_ABI_64, 1, 2 } },
		{ PERF_SAMPLE_REGS_INTR, 0, { PERF_SAMPLE_REGS_ABI_32, 1, 2 } },
		{ PERF_SAMPLE_STACK_USER, 0, { 16, 1, 2 } },         /* no dyn_size */
		{ PERF_SAMPLE_STACK_USER, 0, { 8, 1, 9 } },          /* more than there is */
		{ PERF_SAMPLE_STACK_USER, 0, { 7, 1, 0 } },          /* off the grid */
		{ PERF_SAMPLE_STACK_USER, 0, { UINT64_MAX - 7 } }, { PERF_SAMPLE_AUX, 0, { 17, 1, 2 } },
		{ PERF_SAMPLE_AUX, 0, { UINT64_MAX } }, { PERF_SAMPLE_READ, PERF_FORMAT_GROUP, { 3, 1, 2 } },
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

TEST(raw_of_any_size)
{
	static const uint32_t bytes[] = { 1, 2, 0, 3, 0 };
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_RAW };

	for (uint32_t size = 0; size <= 20; size++) {
		struct pev_sample s = decode(&fmt, WORDS(U32(size, 1), 2, 3));

		assert_int_equal(s.raw_size, size);
		assert_memory_equal(s.raw, bytes, sizeof(bytes));
	}
}

/* ------------------------------------------------------------------------
 * Counter values inside samples
 */

TEST(group_of_counters)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | all_of.read_format,
	};
	struct pev_sample s = decode(&fmt, WORDS(2, 500, 400, /* value, id, lost */ 10, 1, 0, 20, 2, 7));
	struct pev_count c;

	assert_int_equal(s.read.nr, 2);
	pev_read_value(&s.read, 1, &c);
	ARE(NUMBERS(c.value, c.time_enabled, c.time_running, c.id, c.lost), NUMBERS(20, 500, 400, 2, 7));
	pev_read_value(&s.read, 2, &c);
	assert_int_equal(c.value, 0);
}

/* Every read_format: words that count up from 1 come out at their places. */
TEST(every_read_format)
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

TEST(weight_in_three_parts)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_WEIGHT_STRUCT };
	struct pev_sample s = decode(&fmt, WORDS(0x0003000200000001));

	ARE(NUMBERS(s.weight.var1, s.weight.var2, s.weight.var3), NUMBERS(1, 2, 3));
}

TEST(no_registers_and_no_stack)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR,
		.regs_user = 0xff,
	};
	struct pev_sample s = decode(&fmt, WORDS(PERF_SAMPLE_REGS_ABI_NONE, 0, 0x1234));
	uint64_t v;

	ARE(NUMBERS(s.regs_user.mask, s.stack_size, s.phys_addr), NUMBERS(0, 0, 0x1234));
	assert_false(pev_regs_value(&s.regs_user, 0, &v));
	assert_null(s.stack);
}

/* Where the ABI is not known, neither is how many words there are: nothing is guessed. */
TEST(registers_of_an_unknown_abi)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR,
		.regs_user = 3, .regs_intr = 3,
	};
	struct pev_sample s = decode(&fmt, WORDS(1, 6, 2, 3, 4, 5, 6, 7, 8));

	ARE(NUMBERS(s.ip, s.regs_user.mask, s.undecoded),
	    NUMBERS(1, 0, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR));
}

/* The kernel leaves the index out where the PMU delivered no stack; only the size of the
 * record tells. */
TEST(an_empty_branch_stack_with_and_without_index)
{
	struct pev_format fmt = {
		.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_PHYS_ADDR,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.regs_user = 1,
	};
	struct pev_sample s = decode(&fmt, WORDS(0, 17, 2, 0xa0, 0x1234));

	ARE(NUMBERS(s.branches.has_hw_index, s.branches.hw_index, s.phys_addr), NUMBERS(true, 17, 0x1234));
	s = decode(&fmt, WORDS(0, 2, 0xa0, 0x1234));
	ARE(NUMBERS(s.branches.has_hw_index, s.branches.nr, s.regs_user.abi, s.phys_addr, s.undecoded),
	    NUMBERS(false, 0, 2, 0x1234, 0));
}

TEST(branches_without_extras)
{
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_BRANCH_STACK };
	struct pev_sample s = decode(&fmt, WORDS(1, 10, 20, 0));
	struct pev_branch branch;

	assert_null(s.branches.counters);
	pev_branch_entry(&s.branches, 0, &branch);
	ARE(NUMBERS(s.branches.nr, s.branches.has_hw_index, branch.to, branch.counters), NUMBERS(1, false, 20, 0));
}

TEST(exact_ip)
{
	static const uint16_t miscs[] = { PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_EXACT_IP | PERF_RECORD_MISC_KERNEL };
	struct pev_format fmt = { .sample_type = PERF_SAMPLE_IP };
	struct pev_record rec;
	struct bytes b;

	for (size_t i = 0; i < COUNT(miscs); i++) {
		begin(&b, PERF_RECORD_SAMPLE, miscs[i]);
		PUT(&b, 1);
		assert_int_equal(pev_decode(head_of(&b), b.n * 8, &fmt, &rec), 0);
		assert_int_equal(rec.sample.exact_ip, i);
	}
}
