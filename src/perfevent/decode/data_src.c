/* SPDX-License-Identifier: Apache-2.0 */
/* Packed words as text: memory accesses (data_src), transaction aborts, AUX flags. */
#include "perfevent/decode/text.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* op:5 lvl:14 snoop:5 lock:2 dtlb:7 lvl_num:4 remote:1 snoopx:2 blk:3 hops:3 region:5. The
 * positions in the number are the same in both byte orders. */
enum { REGION_END = PEV_MEM_REGION_SHIFT + 5 };

static uint64_t part(uint64_t word, unsigned int shift, unsigned int bits)
{
	return word >> shift & ((1ULL << bits) - 1);
}

void pev_data_src(uint64_t word, struct pev_data_src *out)
{
	*out = (struct pev_data_src){
		.op = (uint8_t)part(word, PERF_MEM_OP_SHIFT, 5),
		.level = (uint16_t)part(word, PERF_MEM_LVL_SHIFT, 14),
		.snoop = (uint8_t)part(word, PERF_MEM_SNOOP_SHIFT, 5),
		.lock = (uint8_t)part(word, PERF_MEM_LOCK_SHIFT, 2),
		.tlb = (uint8_t)part(word, PERF_MEM_TLB_SHIFT, 7),
		.level_num = (uint8_t)part(word, PERF_MEM_LVLNUM_SHIFT, 4),
		.remote = part(word, PERF_MEM_REMOTE_SHIFT, 1),
		.snoopx = (uint8_t)part(word, PERF_MEM_SNOOPX_SHIFT, 2),
		.blk = (uint8_t)part(word, PERF_MEM_BLK_SHIFT, 3),
		.hops = (uint8_t)part(word, PERF_MEM_HOPS_SHIFT, 3),
		.region = (uint8_t)part(word, PEV_MEM_REGION_SHIFT, 5),
		.unknown = word >> REGION_END << REGION_END,
	};
}

/* ---- text of data_src ------------------------------------------------------- */

static const struct bit_name ops[] = {
	{ PERF_MEM_OP_NA, "n/a" },         { PERF_MEM_OP_LOAD, "load" },
	{ PERF_MEM_OP_STORE, "store" },    { PERF_MEM_OP_PFETCH, "prefetch" },
	{ PERF_MEM_OP_EXEC, "exec" },
};
static const struct bit_name levels[] = {
	{ PERF_MEM_LVL_NA, "n/a" },        { PERF_MEM_LVL_HIT, "hit" },
	{ PERF_MEM_LVL_MISS, "miss" },     { PERF_MEM_LVL_L1, "L1" },
	{ PERF_MEM_LVL_LFB, "LFB" },       { PERF_MEM_LVL_L2, "L2" },
	{ PERF_MEM_LVL_L3, "L3" },         { PERF_MEM_LVL_LOC_RAM, "local-RAM" },
	{ PERF_MEM_LVL_REM_RAM1, "remote-RAM-1-hop" },
	{ PERF_MEM_LVL_REM_RAM2, "remote-RAM-2-hops" },
	{ PERF_MEM_LVL_REM_CCE1, "remote-cache-1-hop" },
	{ PERF_MEM_LVL_REM_CCE2, "remote-cache-2-hops" },
	{ PERF_MEM_LVL_IO, "IO" },         { PERF_MEM_LVL_UNC, "uncached" },
};
static const struct bit_name snoops[] = {
	{ PERF_MEM_SNOOP_NA, "n/a" },      { PERF_MEM_SNOOP_NONE, "none" },
	{ PERF_MEM_SNOOP_HIT, "hit" },     { PERF_MEM_SNOOP_MISS, "miss" },
	{ PERF_MEM_SNOOP_HITM, "hit-modified" },
};
static const struct bit_name snoopxs[] = {
	{ PERF_MEM_SNOOPX_FWD, "forward" }, { PERF_MEM_SNOOPX_PEER, "peer" },
};
static const struct bit_name locks[] = {
	{ PERF_MEM_LOCK_NA, "n/a" },       { PERF_MEM_LOCK_LOCKED, "locked" },
};
static const struct bit_name tlbs[] = {
	{ PERF_MEM_TLB_NA, "n/a" },        { PERF_MEM_TLB_HIT, "hit" },
	{ PERF_MEM_TLB_MISS, "miss" },     { PERF_MEM_TLB_L1, "L1" },
	{ PERF_MEM_TLB_L2, "L2" },         { PERF_MEM_TLB_WK, "walker" },
	{ PERF_MEM_TLB_OS, "OS" },
};
static const struct bit_name blks[] = {
	{ PERF_MEM_BLK_NA, "n/a" },        { PERF_MEM_BLK_DATA, "data" },
	{ PERF_MEM_BLK_ADDR, "address" },
};
static const char *const level_nums[16] = {
	[PERF_MEM_LVLNUM_L1] = "L1", [PERF_MEM_LVLNUM_L2] = "L2", [PERF_MEM_LVLNUM_L3] = "L3",
	[PERF_MEM_LVLNUM_L4] = "L4", [PEV_MEM_LVLNUM_L2_MHB] = "L2-MHB",
	[PEV_MEM_LVLNUM_MSC] = "memory-side-cache", [PEV_MEM_LVLNUM_L0] = "L0",
	[PEV_MEM_LVLNUM_UNC] = "uncached", [PERF_MEM_LVLNUM_CXL] = "CXL",
	[PERF_MEM_LVLNUM_IO] = "IO", [PERF_MEM_LVLNUM_ANY_CACHE] = "any-cache",
	[PERF_MEM_LVLNUM_LFB] = "LFB", [PERF_MEM_LVLNUM_RAM] = "RAM",
	[PERF_MEM_LVLNUM_PMEM] = "PMEM", [PERF_MEM_LVLNUM_NA] = "n/a",
};
static const char *const hops[8] = {
	[PERF_MEM_HOPS_0] = "other-core", [PERF_MEM_HOPS_1] = "other-node",
	[PERF_MEM_HOPS_2] = "other-socket", [PERF_MEM_HOPS_3] = "other-board",
};
static const char *const regions[16] = {
	NULL, "reserved", "local-shared", "local-unshared", "other-IO", "other-shared",
	"other-unshared", "MMIO", "memory-0", "memory-1", "memory-2", "memory-3", "memory-4",
	"memory-5", "memory-6", "memory-7",
};

static void put_bits(struct text *t, const char *key, uint64_t word, const struct bit_name *names,
		     size_t count)
{
	if (!word)
		return;
	pev_text_put_(t, "%s%s:", t->n ? "," : "", key);
	pev_text_bits_(t, word, names, count);
}

static void put_number(struct text *t, const char *key, unsigned int number, const char *const *names,
		       size_t count)
{
	if (!number)
		return;
	pev_text_put_(t, "%s%s:", t->n ? "," : "", key);
	if (number < count && names[number])
		pev_text_put_(t, "%s", names[number]);
	else
		pev_text_put_(t, "%u", number);
}

int pev_data_src_text(uint64_t word, char *buf, size_t size)
{
	struct text t = pev_text_(buf, size);
	struct pev_data_src d;

	pev_data_src(word, &d);
	put_bits(&t, "op", d.op, ops, COUNT(ops));
	put_bits(&t, "level", d.level, levels, COUNT(levels));
	put_number(&t, "at", d.level_num, level_nums, COUNT(level_nums));
	put_bits(&t, "remote", d.remote, &(struct bit_name){ 1, "yes" }, 1);
	put_number(&t, "hops", d.hops, hops, COUNT(hops));
	put_bits(&t, "snoop", d.snoop, snoops, COUNT(snoops));
	put_bits(&t, "snoopx", d.snoopx, snoopxs, COUNT(snoopxs));
	put_bits(&t, "tlb", d.tlb, tlbs, COUNT(tlbs));
	put_bits(&t, "lock", d.lock, locks, COUNT(locks));
	put_bits(&t, "blocked", d.blk, blks, COUNT(blks));
	put_number(&t, "region", d.region, regions, COUNT(regions));
	put_bits(&t, "unknown", d.unknown, NULL, 0);
	if (!t.n)
		pev_text_put_(&t, "n/a");
	return (int)t.n;
}

/* ---- transactions, AUX flags -------------------------------------------------- */

int pev_transaction_text(uint64_t word, char *buf, size_t size)
{
	static const struct bit_name flags[] = {
		{ PERF_TXN_ELISION, "elision" },   { PERF_TXN_TRANSACTION, "transaction" },
		{ PERF_TXN_SYNC, "sync" },         { PERF_TXN_ASYNC, "async" },
		{ PERF_TXN_RETRY, "retry" },       { PERF_TXN_CONFLICT, "conflict" },
		{ PERF_TXN_CAPACITY_WRITE, "capacity-write" },
		{ PERF_TXN_CAPACITY_READ, "capacity-read" },
	};
	struct text t = pev_text_(buf, size);
	uint64_t code = word >> PERF_TXN_ABORT_SHIFT;

	pev_text_bits_(&t, word & ~(uint64_t)PERF_TXN_ABORT_MASK, flags, COUNT(flags));
	if (code)
		pev_text_put_(&t, "%sabort:0x%llx", t.n ? "|" : "", (unsigned long long)code);
	return (int)t.n;
}

int pev_aux_flags_text(uint64_t flags, char *buf, size_t size)
{
	static const struct bit_name names[] = {
		{ PERF_AUX_FLAG_TRUNCATED, "truncated" }, { PERF_AUX_FLAG_OVERWRITE, "overwrite" },
		{ PERF_AUX_FLAG_PARTIAL, "partial" },     { PERF_AUX_FLAG_COLLISION, "collision" },
	};
	struct text t = pev_text_(buf, size);
	uint64_t format = flags & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;

	pev_text_bits_(&t, flags & ~(uint64_t)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK, names, COUNT(names));
	if (format)
		pev_text_put_(&t, "%sformat:0x%llx", t.n ? "|" : "", (unsigned long long)(format >> 8));
	return (int)t.n;
}
