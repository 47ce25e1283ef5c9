/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a SAMPLE record, in the kernel's order (perf_output_sample()). Fields of nearly
 * every sample are decoded by straight code, the others by a table.
 */
#include "perfevent.h"
#include "perfevent/decode/cursor.h"

#include <string.h>

/* ---- branch ----------------------------------------------------------------------------- */

/* Entries of a branch stack. */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Value of `type` that means: see `new_type`. Linux 6.1. */
enum { EXTEND_ABI = 15 };

void pev_branch_entry(const struct pev_branches *branches, uint64_t i, struct pev_branch *out)
{
	struct perf_branch_entry e;

	memset(out, 0, sizeof(*out));
	if (i >= branches->nr)
		return;
	memcpy(&e, branches->entries + i * 3, sizeof(e));
	*out = (struct pev_branch){
		.from = e.from, .to = e.to, .mispred = e.mispred, .predicted = e.predicted,
		.in_tx = e.in_tx, .abort = e.abort, .cycles = e.cycles, .type = e.type,
		.spec = e.spec, .new_type = e.new_type, .priv = e.priv,
		.counters = branches->counters ? branches->counters[i] : 0,
	};
}

const char *pev_branch_type_name(const struct pev_branch *branch)
{
	static const char *const types[] = {
		"UNKNOWN", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX",
	};
	static const char *const new_types[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};

	if (branch->type == EXTEND_ABI)
		return branch->new_type < COUNT(new_types) ? new_types[branch->new_type] : NULL;
	return branch->type < COUNT(types) ? types[branch->type] : NULL;
}

const char *pev_branch_spec_name(uint8_t spec)
{
	static const char *const names[] = {
		"NA", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH",
	};

	return spec < COUNT(names) ? names[spec] : NULL;
}

const char *pev_branch_priv_name(uint8_t priv)
{
	static const char *const names[] = { "UNKNOWN", "USER", "KERNEL", "HV" };

	return priv < COUNT(names) ? names[priv] : NULL;
}

/* ---- values ----------------------------------------------------------------------------- */

/* Counter values in the layout of read(2), samples and READ records. */

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static bool take_times(struct cursor *c, struct pev_read *r)
{
	return (!(r->format & PERF_FORMAT_TOTAL_TIME_ENABLED) || take_u64(c, &r->time_enabled)) &&
	       (!(r->format & PERF_FORMAT_TOTAL_TIME_RUNNING) || take_u64(c, &r->time_running));
}

/* nr, times, then for each counter: value, id, lost */
static bool take_group(struct cursor *c, struct pev_read *r)
{
	if (!take_u64(c, &r->nr) || !take_times(c, r))
		return false;
	if (r->nr > left(c) / 8)   /* also prevents overflow of the product below */
		return false;
	r->values = take_words(c, r->nr * r->stride);
	return r->values != NULL;
}

bool pev_take_read_(struct cursor *c, uint64_t read_format, struct pev_read *r)
{
	r->format = read_format;
	r->nr = 1;
	r->stride = 1 + !!(read_format & PERF_FORMAT_ID) + !!(read_format & PEV_FORMAT_LOST);
	if (read_format & PERF_FORMAT_GROUP)
		return take_group(c, r);
	/* value, times, id, lost: used in place */
	r->values = take_words(c, 1);
	return r->values && take_times(c, r) && take_words(c, r->stride - 1);
}

void pev_read_value(const struct pev_read *read, uint64_t i, struct pev_count *out)
{
	const uint64_t *v;

	memset(out, 0, sizeof(*out));
	if (i >= read->nr)
		return;
	v = read->values + i * read->stride;
	out->value = *v++;
	out->time_enabled = read->time_enabled;
	out->time_running = read->time_running;
	out->timed = !(~read->format & TIMES);
	if (!(read->format & PERF_FORMAT_GROUP))
		v += __builtin_popcountll(read->format & TIMES);
	if (read->format & PERF_FORMAT_ID)
		out->id = *v++;
	if (read->format & PEV_FORMAT_LOST)
		out->lost = *v;
}

/* ---- regs ------------------------------------------------------------------------------- */

/* Sampled registers: values by number, names by architecture (arch/…/asm/perf_regs.h). */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* 32-bit tasks have the first 16 of these; XMM registers take two words each. */
static const char *const x86[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS",
	"GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
	[32] = "XMM0", "XMM0_HI", "XMM1", "XMM1_HI", "XMM2", "XMM2_HI", "XMM3", "XMM3_HI", "XMM4",
	"XMM4_HI", "XMM5", "XMM5_HI", "XMM6", "XMM6_HI", "XMM7", "XMM7_HI", "XMM8", "XMM8_HI",
	"XMM9", "XMM9_HI", "XMM10", "XMM10_HI", "XMM11", "XMM11_HI", "XMM12", "XMM12_HI", "XMM13",
	"XMM13_HI", "XMM14", "XMM14_HI", "XMM15", "XMM15_HI",
};

static const char *const arm64[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
	"x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
	"x28", "x29", "lr", "sp", "pc",
	[46] = "vg",   /* length of SVE vectors, in 64-bit granules. Linux 6.1 */
};

static const char *const riscv64[] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

enum { I386_REGS = 16 };

static const struct {
	const char *const *names;
	size_t count;
} tables[] = {
	[PEV_ARCH_X86_64] = { x86, COUNT(x86) },
	[PEV_ARCH_I386] = { x86, COUNT(x86) },
	[PEV_ARCH_ARM64] = { arm64, COUNT(arm64) },
	[PEV_ARCH_RISCV64] = { riscv64, COUNT(riscv64) },
};

static enum pev_arch native(void)
{
#if defined(__x86_64__)
	return PEV_ARCH_X86_64;
#elif defined(__i386__)
	return PEV_ARCH_I386;
#elif defined(__aarch64__)
	return PEV_ARCH_ARM64;
#elif defined(__riscv) && __riscv_xlen == 64
	return PEV_ARCH_RISCV64;
#else
	return PEV_ARCH_NATIVE;
#endif
}

const char *pev_reg_name(enum pev_arch arch, uint64_t abi, unsigned int reg)
{
	if (arch == PEV_ARCH_NATIVE)
		arch = native();
	if ((size_t)arch >= COUNT(tables) || reg >= tables[arch].count)
		return NULL;
	/* a 32-bit task on a 64-bit machine, or a 32-bit machine */
	if (tables[arch].names == x86 && reg >= I386_REGS && reg < 32 &&
	    (arch == PEV_ARCH_I386 || abi == PERF_SAMPLE_REGS_ABI_32))
		return NULL;
	return tables[arch].names[reg];
}

bool pev_regs_value(const struct pev_regs *regs, unsigned int reg, uint64_t *value)
{
	uint64_t below;

	if (reg >= 64 || !(regs->mask >> reg & 1))
		return false;
	below = regs->mask & ((1ULL << reg) - 1);
	*value = regs->values[__builtin_popcountll(below)];
	return true;
}

#define HEAD                                                                                       \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)

/* After registers with an unknown ABI, the position of the next field is unknown. */
#define MAX_ABI PERF_SAMPLE_REGS_ABI_64

static bool take_head(struct cursor *c, uint64_t type, struct pev_sample *s)
{
	uint32_t reserved;

	return (!(type & PERF_SAMPLE_IDENTIFIER) || take_u64(c, &s->identifier)) &&
	       (!(type & PERF_SAMPLE_IP) || take_u64(c, &s->ip)) &&
	       (!(type & PERF_SAMPLE_TID) || take_2u32(c, &s->pid, &s->tid)) &&
	       (!(type & PERF_SAMPLE_TIME) || take_u64(c, &s->time)) &&
	       (!(type & PERF_SAMPLE_ADDR) || take_u64(c, &s->addr)) &&
	       (!(type & PERF_SAMPLE_ID) || take_u64(c, &s->id)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || take_u64(c, &s->stream_id)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_2u32(c, &s->cpu, &reserved)) &&
	       (!(type & PERF_SAMPLE_PERIOD) || take_u64(c, &s->period));
}

static bool take_callchain(struct cursor *c, struct pev_sample *s)
{
	if (!take_u64(c, &s->callchain_nr))
		return false;
	s->callchain = take_words(c, s->callchain_nr);
	return s->callchain != NULL;
}

static bool take_raw(struct cursor *c, struct pev_sample *s)
{
	size_t padded;

	if (!take(c, &s->raw_size, sizeof(s->raw_size)) || s->raw_size > left(c))
		return false;
	s->raw = c->p;
	/* size and data are padded to u64 together, if the record is long enough */
	padded = ((s->raw_size + 4 + 7) & ~(size_t)7) - 4;
	c->p += padded < left(c) ? padded : left(c);
	return true;
}

/* ---- the table ------------------------------------------------------------- */

#define WORD(field)                                                                                \
	static bool take_##field(struct cursor *c, const struct pev_format *fmt,                   \
				 struct pev_sample *s)                                             \
	{                                                                                          \
		(void)fmt;                                                                         \
		return take_u64(c, &s->field);                                                     \
	}

WORD(data_src)
WORD(transaction)
WORD(phys_addr)
WORD(cgroup)
WORD(data_page_size)
WORD(code_page_size)

static bool take_branches(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	struct pev_branches *b = &s->branches;

	b->has_hw_index = fmt->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX;
	if (!take_u64(c, &b->nr) || (b->has_hw_index && !take_u64(c, &b->hw_index)))
		return false;
	if (b->nr > left(c) / sizeof(struct perf_branch_entry))
		return false;
	b->entries = take_words(c, b->nr * 3);
	if (!(fmt->branch_sample_type & PEV_SAMPLE_BRANCH_COUNTERS))
		return true;
	b->counters = take_words(c, b->nr);
	return b->counters != NULL;
}

static bool take_regs(struct cursor *c, uint64_t mask, struct pev_regs *r)
{
	if (!take_u64(c, &r->abi))
		return false;
	if (r->abi == PERF_SAMPLE_REGS_ABI_NONE || r->abi > MAX_ABI)
		return true;
	r->mask = mask;
	r->values = take_words(c, (uint64_t)__builtin_popcountll(mask));
	return r->values != NULL;
}

static bool take_regs_user(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	return take_regs(c, fmt->regs_user, &s->regs_user);
}

static bool take_regs_intr(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	return take_regs(c, fmt->regs_intr, &s->regs_intr);
}

/* Without a user stack (kernel threads) there is only a size of 0. The kernel writes multiples of
 * 8 only, and others are refused, so that all that follows stays aligned. */
static bool take_stack(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	if (!take_u64(c, &s->stack_size) || s->stack_size % 8)
		return false;
	if (!s->stack_size)
		return true;
	s->stack = take_bytes(c, s->stack_size);
	return s->stack && take_u64(c, &s->stack_dyn_size) && s->stack_dyn_size <= s->stack_size;
}

static bool take_weight(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	struct pev_weight *w = &s->weight;

	if (!take_u64(c, &w->full))
		return false;
	if (fmt->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) {
		w->var1 = (uint32_t)w->full;
		w->var2 = (uint16_t)(w->full >> 32);
		w->var3 = (uint16_t)(w->full >> 48);
	}
	return true;
}

static bool take_aux(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	if (!take_u64(c, &s->aux_size))
		return false;
	s->aux = take_bytes(c, s->aux_size);
	return s->aux != NULL;
}

static const struct {
	uint64_t bits;
	bool (*take)(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s);
} rare[] = {
	{ PERF_SAMPLE_BRANCH_STACK, take_branches },
	{ PERF_SAMPLE_REGS_USER, take_regs_user },
	{ PERF_SAMPLE_STACK_USER, take_stack },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, take_weight },
	{ PERF_SAMPLE_DATA_SRC, take_data_src },
	{ PERF_SAMPLE_TRANSACTION, take_transaction },
	{ PERF_SAMPLE_REGS_INTR, take_regs_intr },
	{ PERF_SAMPLE_PHYS_ADDR, take_phys_addr },
	{ PERF_SAMPLE_CGROUP, take_cgroup },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, take_data_page_size },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, take_code_page_size },
	{ PERF_SAMPLE_AUX, take_aux },
};

/* Stops at an unknown ABI: its field and all later ones are reported as undecoded. */
static bool take_rare(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	for (size_t i = 0; i < sizeof(rare) / sizeof(*rare); i++) {
		if (!(s->undecoded & rare[i].bits))
			continue;
		if (!rare[i].take(c, fmt, s))
			return false;
		if (s->regs_user.abi > MAX_ABI || s->regs_intr.abi > MAX_ABI)
			return true;
		s->undecoded &= ~rare[i].bits;
	}
	return true;
}

/*
 * A sample without branches may or may not have the word hw_index: the kernel omits it if the PMU
 * delivered no branch stack, and only the record's size shows that. If the fields fill the record
 * without this word, but not with it, the word is not there.
 */
static bool take_rare_by_size(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	struct pev_format no_index = *fmt;
	struct pev_sample without = *s;
	struct cursor second = *c;
	bool good = take_rare(c, fmt, s);

	if (s->branches.nr || (good && c->p == c->end))
		return good;
	no_index.branch_sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_HW_INDEX;
	if (!take_rare(&second, &no_index, &without) || second.p != second.end)
		return good;
	*c = second;
	*s = without;
	return true;
}

bool pev_take_sample_(struct cursor *c, const struct pev_format *fmt, struct pev_sample *s)
{
	uint64_t type = fmt->sample_type;

	if (!take_head(c, type, s) ||
	    (type & PERF_SAMPLE_READ && !pev_take_read_(c, fmt->read_format, &s->read)) ||
	    (type & PERF_SAMPLE_CALLCHAIN && !take_callchain(c, s)) ||
	    (type & PERF_SAMPLE_RAW && !take_raw(c, s)))
		return false;
	s->undecoded = type & ~(uint64_t)(HEAD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW);
	if (!s->undecoded)
		return true;
	if (type & PERF_SAMPLE_BRANCH_STACK && fmt->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		return take_rare_by_size(c, fmt, s);
	return take_rare(c, fmt, s);
}
