/* SPDX-License-Identifier: Apache-2.0 */
/* Each of the kernel's constants that a user may meet in a record has its own name, and
 * stands where the library takes it from. */
#include "checks.h"

#include <perfevent.h>

enum part { OP, LVL, SNOOP, SNOOPX, LOCK, TLB, LVLNUM, REMOTE };

static uint64_t part_of(const struct pev_data_src *d, enum part part)
{
	switch (part) {
	case OP: return d->op;
	case LVL: return d->level;
	case SNOOP: return d->snoop;
	case SNOOPX: return d->snoopx;
	case LOCK: return d->lock;
	case TLB: return d->tlb;
	case LVLNUM: return d->level_num;
	case REMOTE: return d->remote;
	}
	return 0;
}

TEST(parts_of_data_src)
{
#define ROW(part, value, text) { PERF_MEM_S(part, value), part, PERF_MEM_##part##_##value, text }
	static const struct {
		uint64_t word;
		enum part part;
		uint64_t value;
		const char *text;
	} rows[] = {
		ROW(OP, NA, "op:n/a"), ROW(OP, LOAD, "op:load"), ROW(OP, STORE, "op:store"),
		ROW(OP, PFETCH, "op:prefetch"), ROW(OP, EXEC, "op:exec"),
		ROW(LVL, NA, "level:n/a"), ROW(LVL, HIT, "level:hit"), ROW(LVL, MISS, "level:miss"),
		ROW(LVL, L1, "level:L1"), ROW(LVL, LFB, "level:LFB"), ROW(LVL, L2, "level:L2"),
		ROW(LVL, L3, "level:L3"), ROW(LVL, LOC_RAM, "level:local-RAM"),
		ROW(LVL, REM_RAM1, "level:remote-RAM-1-hop"),
		ROW(LVL, REM_RAM2, "level:remote-RAM-2-hops"),
		ROW(LVL, REM_CCE1, "level:remote-cache-1-hop"),
		ROW(LVL, REM_CCE2, "level:remote-cache-2-hops"),
		ROW(LVL, IO, "level:IO"), ROW(LVL, UNC, "level:uncached"),
		ROW(SNOOP, NA, "snoop:n/a"), ROW(SNOOP, NONE, "snoop:none"),
		ROW(SNOOP, HIT, "snoop:hit"), ROW(SNOOP, MISS, "snoop:miss"),
		ROW(SNOOP, HITM, "snoop:hit-modified"),
		ROW(SNOOPX, FWD, "snoopx:forward"), ROW(SNOOPX, PEER, "snoopx:peer"),
		ROW(LOCK, NA, "lock:n/a"), ROW(LOCK, LOCKED, "lock:locked"),
		ROW(TLB, NA, "tlb:n/a"), ROW(TLB, HIT, "tlb:hit"), ROW(TLB, MISS, "tlb:miss"),
		ROW(TLB, L1, "tlb:L1"), ROW(TLB, L2, "tlb:L2"), ROW(TLB, WK, "tlb:walker"),
		ROW(TLB, OS, "tlb:OS"),
		ROW(LVLNUM, L1, "at:L1"), ROW(LVLNUM, L2, "at:L2"), ROW(LVLNUM, L3, "at:L3"),
		ROW(LVLNUM, L4, "at:L4"), ROW(LVLNUM, ANY_CACHE, "at:any-cache"),
		ROW(LVLNUM, LFB, "at:LFB"), ROW(LVLNUM, RAM, "at:RAM"), ROW(LVLNUM, PMEM, "at:PMEM"),
		ROW(LVLNUM, NA, "at:n/a"), ROW(REMOTE, REMOTE, "remote:yes"),
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_data_src d;
		char text[80];

		pev_data_src(rows[i].word, &d);
		assert_int_equal(part_of(&d, rows[i].part), rows[i].value);
		pev_data_src_text(rows[i].word, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

TEST(kinds_of_branches)
{
#define KIND(name) { PERF_BR_##name, #name }
	static const struct {
		uint64_t type;
		const char *name;
	} rows[] = {
		KIND(UNKNOWN), KIND(COND), KIND(UNCOND), KIND(IND), KIND(CALL), KIND(IND_CALL),
		KIND(RET), KIND(SYSCALL), KIND(SYSRET), KIND(COND_CALL), KIND(COND_RET),
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct perf_branch_entry raw = { .from = 1, .to = 2, .type = rows[i].type };
		struct pev_branches all = { .nr = 1, .entries = (const uint64_t *)&raw };
		struct pev_branch b;

		pev_branch_entry(&all, 0, &b);
		assert_int_equal(b.type, rows[i].type);
		assert_string_equal(pev_branch_type_name(&b), rows[i].name);
	}
}

TEST(modes_of_the_cpu)
{
	static const struct {
		uint16_t misc;
		const char *name;
	} rows[] = {
		{ PERF_RECORD_MISC_KERNEL, "kernel" }, { PERF_RECORD_MISC_USER, "user" },
		{ PERF_RECORD_MISC_HYPERVISOR, "hypervisor" }, { PERF_RECORD_MISC_GUEST_KERNEL, "guest-kernel" },
		{ PERF_RECORD_MISC_GUEST_USER, "guest-user" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(pev_cpu_mode_name(rows[i].misc | PERF_RECORD_MISC_EXACT_IP), rows[i].name);
	assert_null(pev_cpu_mode_name(PERF_RECORD_MISC_CPUMODE_UNKNOWN));
}

TEST(reasons_of_transactions_and_flags_of_the_aux_area)
{
	static const struct {
		int (*tell)(uint64_t word, char *buf, size_t size);
		uint64_t word;
		const char *text;
	} rows[] = {
		{ pev_transaction_text, PERF_TXN_ELISION, "elision" },
		{ pev_transaction_text, PERF_TXN_TRANSACTION, "transaction" }, { pev_transaction_text, PERF_TXN_SYNC, "sync" },
		{ pev_transaction_text, PERF_TXN_ASYNC, "async" }, { pev_transaction_text, PERF_TXN_RETRY, "retry" },
		{ pev_transaction_text, PERF_TXN_CONFLICT, "conflict" },
		{ pev_transaction_text, PERF_TXN_CAPACITY_WRITE, "capacity-write" },
		{ pev_transaction_text, PERF_TXN_CAPACITY_READ, "capacity-read" },
		{ pev_transaction_text, 5ULL << PERF_TXN_ABORT_SHIFT, "abort:0x5" },
		{ pev_transaction_text, PERF_TXN_ABORT_MASK, "abort:0xffffffff" },
		{ pev_aux_flags_text, PERF_AUX_FLAG_TRUNCATED, "truncated" },
		{ pev_aux_flags_text, PERF_AUX_FLAG_OVERWRITE, "overwrite" },
		{ pev_aux_flags_text, PERF_AUX_FLAG_PARTIAL, "partial" },
		{ pev_aux_flags_text, PERF_AUX_FLAG_COLLISION, "collision" },
	};
	char text[64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		rows[i].tell(rows[i].word, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}
