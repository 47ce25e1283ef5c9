/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a SAMPLE record, in the kernel's order (perf_output_sample()). Fields of nearly
 * every sample are decoded by straight code, the others by a table.
 */
#include "perfevent/decode/cursor.h"

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
