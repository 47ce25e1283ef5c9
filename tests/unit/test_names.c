/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in records and their names: registers, data_src, branches, misc, flags. */
#include "checks.h"

#include <perfevent.h>

TEST(registers_by_architecture)
{
	static const struct {
		enum pev_arch arch;
		uint64_t abi;
		unsigned int reg;
		const char *name;
	} rows[] = {
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 0, "AX" }, { PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 7, "SP" },
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 8, "IP" }, { PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 23, "R15" },
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 24, NULL }, { PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 32, "XMM0" },
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 63, "XMM15_HI" },
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_64, 64, NULL }, { PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_32, 15, "GS" },
		{ PEV_ARCH_X86_64, PERF_SAMPLE_REGS_ABI_32, 16, NULL }, { PEV_ARCH_I386, PERF_SAMPLE_REGS_ABI_32, 8, "IP" },
		{ PEV_ARCH_I386, PERF_SAMPLE_REGS_ABI_32, 16, NULL }, { PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 0, "x0" },
		{ PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 29, "x29" }, { PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 30, "lr" },
		{ PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 31, "sp" }, { PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 32, "pc" },
		{ PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 33, NULL }, { PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 46, "vg" },
		{ PEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 47, NULL }, { PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 0, "pc" },
		{ PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 2, "sp" }, { PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 10, "a0" },
		{ PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 18, "s2" }, { PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 31, "t6" },
		{ PEV_ARCH_RISCV64, PERF_SAMPLE_REGS_ABI_64, 32, NULL }, { (enum pev_arch)99, 0, 0, NULL },
#ifdef __x86_64__
		{ PEV_ARCH_NATIVE, PERF_SAMPLE_REGS_ABI_64, 16, "R8" },
#endif
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = pev_reg_name(rows[i].arch, rows[i].abi, rows[i].reg);

		if (rows[i].name)
			assert_string_equal(name, rows[i].name);
		else
			assert_null(name);
	}
}

/* ------------------------------------------------------------------------
 * data_src
 */

TEST(data_src_taken_apart)
{
	union perf_mem_data_src u = { 0 };
	struct pev_data_src d;

	u.mem_op = PERF_MEM_OP_STORE;
	u.mem_lvl = PERF_MEM_LVL_MISS | PERF_MEM_LVL_UNC;
	u.mem_snoop = PERF_MEM_SNOOP_HITM;
	u.mem_lock = PERF_MEM_LOCK_LOCKED;
	u.mem_dtlb = PERF_MEM_TLB_OS | PERF_MEM_TLB_MISS;
	u.mem_lvl_num = PERF_MEM_LVLNUM_PMEM;
	u.mem_remote = 1;
	u.mem_snoopx = PERF_MEM_SNOOPX_PEER;
	u.mem_blk = PERF_MEM_BLK_ADDR;
	u.mem_hops = PERF_MEM_HOPS_3;
	pev_data_src(u.val, &d);
	ARE(NUMBERS(d.op, d.level, d.snoop, d.lock, d.tlb, d.level_num, d.remote, d.snoopx, d.blk, d.hops, d.region, d.unknown),
	    NUMBERS(PERF_MEM_OP_STORE, PERF_MEM_LVL_MISS | PERF_MEM_LVL_UNC, PERF_MEM_SNOOP_HITM, PERF_MEM_LOCK_LOCKED,
		    PERF_MEM_TLB_OS | PERF_MEM_TLB_MISS, PERF_MEM_LVLNUM_PMEM, true, PERF_MEM_SNOOPX_PEER, PERF_MEM_BLK_ADDR,
		    PERF_MEM_HOPS_3, 0, 0));
}

/* Any single bit ends up in one part. */
TEST(every_bit_of_data_src_has_a_place)
{
	for (unsigned int i = 0; i < 64; i++) {
		struct pev_data_src d;
		char text[64];

		pev_data_src(1ULL << i, &d);
		assert_int_equal(!!d.op + !!d.level + !!d.snoop + !!d.lock + !!d.tlb + !!d.level_num +
				 !!d.remote + !!d.snoopx + !!d.blk + !!d.hops + !!d.region +
				 !!d.unknown, 1);
		assert_true(pev_data_src_text(1ULL << i, text, sizeof(text)) > 0);
		assert_non_null(strchr(text, ':'));
	}
}

TEST(texts_of_words)
{
	static const struct {
		uint64_t word;
		const char *text;
		int (*text_of)(uint64_t word, char *buf, size_t size);   /* NULL: pev_data_src_text */
	} rows[] = {
		{ 0, "n/a" }, { PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT), "op:load,level:hit|L1" },
		{ PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVLNUM, ANY_CACHE) | PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(HOPS, 2),
		  "op:store,at:any-cache,remote:yes,hops:other-socket" },
		{ PERF_MEM_S(SNOOPX, FWD) | PERF_MEM_S(TLB, WK) | PERF_MEM_S(LOCK, LOCKED) | PERF_MEM_S(BLK, DATA),
		  "snoopx:forward,tlb:walker,lock:locked,blocked:data" },
		{ (uint64_t)PEV_MEM_LVLNUM_MSC << PERF_MEM_LVLNUM_SHIFT, "at:memory-side-cache" },
		{ 7ULL << PEV_MEM_REGION_SHIFT, "region:MMIO" }, { 31ULL << PEV_MEM_REGION_SHIFT, "region:31" },
		{ 7ULL << PERF_MEM_HOPS_SHIFT, "hops:7" }, { 1ULL << 60, "unknown:0x1000000000000000" },
		{ 0, "", pev_transaction_text },
		{ PERF_TXN_TRANSACTION | PERF_TXN_SYNC | PERF_TXN_CONFLICT, "transaction|sync|conflict", pev_transaction_text },
		{ PERF_TXN_ASYNC | PERF_TXN_CAPACITY_READ | 0xff00000000, "async|capacity-read|abort:0xff", pev_transaction_text },
		{ 1 << 20, "0x100000", pev_transaction_text }, { 0, "", pev_aux_flags_text },
		{ 0xf, "truncated|overwrite|partial|collision", pev_aux_flags_text },
		{ 0x10100, "0x10000|format:0x1", pev_aux_flags_text },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[256];
		int n = (rows[i].text_of ? rows[i].text_of : pev_data_src_text)(rows[i].word, text, sizeof(text));

		assert_int_equal(n, strlen(rows[i].text));
		assert_string_equal(text, rows[i].text);
	}
}

/* ------------------------------------------------------------------------
 * Flags and small tables
 */

TEST(misc_depends_on_the_type)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		const char *text;
	} rows[] = {
		{ PERF_RECORD_SAMPLE, 0, "" }, { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, "kernel" },
		{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER | PERF_RECORD_MISC_EXACT_IP, "guest-user exact-ip" },
		{ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, "exec" }, { PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, "exec" },
		{ PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, "user data" },
		{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, "user build-id" },
		{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, "out preempt" },
		{ PERF_RECORD_LOST, PERF_RECORD_MISC_EXACT_IP, "0x4000" }, { PERF_RECORD_SAMPLE, 7, "0x7" },
		{ 1000, PERF_RECORD_MISC_USER | 0x8000, "user 0x8000" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];

		assert_int_equal(pev_misc_text(rows[i].type, rows[i].misc, text, sizeof(text)), strlen(rows[i].text));
		assert_string_equal(text, rows[i].text);
	}
}

TEST(small_tables_end)
{
	struct pev_branch b = { .type = 8 };

	for (uint32_t type = 1; type <= PEV_RECORD_MAX_KNOWN; type++)
		assert_non_null(pev_record_name(type));
	assert_string_equal(pev_record_name(PERF_RECORD_MMAP2), "MMAP2");
	assert_null(pev_record_name(0));
	assert_null(pev_record_name(PEV_RECORD_MAX_KNOWN + 1));
	assert_null(pev_record_name(UINT32_MAX));
	for (uint64_t bit = 1; bit < PERF_SAMPLE_MAX; bit <<= 1)
		assert_non_null(pev_sample_name(bit));
	assert_string_equal(pev_sample_name(PERF_SAMPLE_WEIGHT_STRUCT), "WEIGHT_STRUCT");
	assert_string_equal(pev_sample_name(PERF_SAMPLE_IDENTIFIER), "IDENTIFIER");
	assert_null(pev_sample_name(0));
	assert_null(pev_sample_name(3));
	assert_null(pev_sample_name(1ULL << 63));
	assert_string_equal(pev_context_name((uint64_t)PERF_CONTEXT_KERNEL), "kernel");
	assert_string_equal(pev_context_name(PEV_CONTEXT_USER_DEFERRED), "user-deferred");
	assert_null(pev_context_name(0x401000));
	assert_string_equal(pev_namespace_name(0), "net");
	assert_string_equal(pev_namespace_name(6), "cgroup");
	assert_null(pev_namespace_name(7));
	assert_null(pev_namespace_name(UINT64_MAX));
	assert_string_equal(pev_ksymbol_type_name(1), "BPF");
	assert_null(pev_ksymbol_type_name(3));
	assert_string_equal(pev_bpf_event_name(2), "PROG_UNLOAD");
	assert_null(pev_bpf_event_name(3));
	assert_string_equal(pev_branch_type_name(&b), "SYSRET");
	b = (struct pev_branch){ .type = 15, .new_type = 8 };
	assert_null(pev_branch_type_name(&b));
	assert_string_equal(pev_branch_spec_name(1), "SPEC_WRONG_PATH");
	assert_null(pev_branch_spec_name(4));
	assert_string_equal(pev_branch_priv_name(3), "HV");
	assert_null(pev_branch_priv_name(4));
	assert_null(pev_cpu_mode_name(0));
	assert_string_equal(pev_cpu_mode_name(PERF_RECORD_MISC_USER | 0x4000), "user");
}
