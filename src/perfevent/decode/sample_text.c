/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a sample as text: " key value" for each field present. */
#include "perfevent/decode/text.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { MAX_BYTES = 64 };

typedef unsigned long long ull;

/* ---- fields that are one number ------------------------------------------------ */

enum base { DEC, HEX };

struct scalar {
	uint64_t bit;
	enum base base;
	const char *key;
	size_t offset;
	bool wide;          /* u64, else u32 */
};

#define U64(bit, base, key, field)                                                                 \
	{ PERF_SAMPLE_##bit, base, key, offsetof(struct pev_sample, field), true }
#define U32(bit, base, key, field)                                                                 \
	{ PERF_SAMPLE_##bit, base, key, offsetof(struct pev_sample, field), false }

static const struct scalar first[] = {
	U32(CPU, DEC, "cpu", cpu),
	U32(TID, DEC, "pid", pid),
	U32(TID, DEC, "tid", tid),
	U64(TIME, DEC, "time", time),
	U64(IDENTIFIER, DEC, "identifier", identifier),
	U64(ID, DEC, "id", id),
	U64(STREAM_ID, DEC, "stream_id", stream_id),
	U64(PERIOD, DEC, "period", period),
	U64(IP, HEX, "ip", ip),
	U64(ADDR, HEX, "addr", addr),
	U64(PHYS_ADDR, HEX, "phys_addr", phys_addr),
	U64(DATA_PAGE_SIZE, DEC, "data_page_size", data_page_size),
	U64(CODE_PAGE_SIZE, DEC, "code_page_size", code_page_size),
	U64(CGROUP, DEC, "cgroup", cgroup),
};

static void put_scalar(struct text *t, const struct pev_sample *s, const struct scalar *f)
{
	const char *at = (const char *)s + f->offset;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (f->wide)
		memcpy(&wide, at, sizeof(wide));
	else
		memcpy(&narrow, at, sizeof(narrow));
	pev_text_put_(t, f->base == HEX ? " %s 0x%llx" : " %s %llu", f->key, (ull)(wide | narrow));
}

/* ---- composite fields ------------------------------------------------------------- */

void pev_text_read_(struct text *t, const struct pev_read *read)
{
	struct pev_count c;

	if (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		pev_text_put_(t, " enabled %llu", (ull)read->time_enabled);
	if (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		pev_text_put_(t, " running %llu", (ull)read->time_running);
	pev_text_put_(t, " read [");
	for (uint64_t i = 0; i < read->nr; i++) {
		pev_read_value(read, i, &c);
		pev_text_put_(t, "%s%llu", i ? " " : "", (ull)c.value);
		if (read->format & PERF_FORMAT_ID)
			pev_text_put_(t, "/id:%llu", (ull)c.id);
		if (read->format & PEV_FORMAT_LOST)
			pev_text_put_(t, "/lost:%llu", (ull)c.lost);
	}
	pev_text_put_(t, "]");
}

static void put_read(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	pev_text_read_(t, &s->read);
}

void pev_text_callchain_(struct text *t, const uint64_t *ips, uint64_t nr)
{
	pev_text_put_(t, " callchain [");
	for (uint64_t i = 0; i < nr; i++) {
		const char *context = pev_context_name(ips[i]);

		if (context)
			pev_text_put_(t, "%s%s:", i ? " " : "", context);
		else
			pev_text_put_(t, "%s0x%llx", i ? " " : "", (ull)ips[i]);
	}
	pev_text_put_(t, "]");
}

static void put_callchain(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	pev_text_callchain_(t, s->callchain, s->callchain_nr);
}

static void put_name(struct text *t, const char *key, const char *name, unsigned int number)
{
	if (name)
		pev_text_put_(t, "/%s", name);
	else
		pev_text_put_(t, "/%s:%u", key, number);
}

static void put_branch(struct text *t, const struct pev_branch *b)
{
	pev_text_put_(t, "0x%llx>0x%llx/%s%s%s", (ull)b->from, (ull)b->to,
		      b->mispred ? "M" : b->predicted ? "P" : "-", b->in_tx ? "X" : "-",
		      b->abort ? "A" : "-");
	if (b->cycles)
		pev_text_put_(t, "/cycles:%u", b->cycles);
	if (b->type)
		put_name(t, "type", pev_branch_type_name(b), b->type << 4 | b->new_type);
	if (b->spec)
		put_name(t, "spec", pev_branch_spec_name(b->spec), b->spec);
	if (b->priv)
		put_name(t, "priv", pev_branch_priv_name(b->priv), b->priv);
	if (b->counters)
		pev_text_put_(t, "/counters:0x%llx", (ull)b->counters);
}

static void put_branches(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	struct pev_branch b;

	if (s->branches.has_hw_index)
		pev_text_put_(t, " hw_index %lld", (long long)s->branches.hw_index);
	pev_text_put_(t, " branches [");
	for (uint64_t i = 0; i < s->branches.nr; i++) {
		pev_branch_entry(&s->branches, i, &b);
		pev_text_put_(t, "%s", i ? " " : "");
		put_branch(t, &b);
	}
	pev_text_put_(t, "]");
}

static void put_regs(struct text *t, const char *key, const struct pev_regs *regs, uint8_t arch)
{
	static const char *const abis[] = { "none", "32", "64" };
	const char *name;
	uint64_t value;

	if (regs->abi < COUNT(abis))
		pev_text_put_(t, " %s abi:%s [", key, abis[regs->abi]);
	else
		pev_text_put_(t, " %s abi:0x%llx [", key, (ull)regs->abi);
	for (unsigned int reg = 0, n = 0; reg < 64; reg++) {
		if (!pev_regs_value(regs, reg, &value))
			continue;
		name = pev_reg_name(arch, regs->abi, reg);
		pev_text_put_(t, "%s", n++ ? " " : "");
		if (name)
			pev_text_put_(t, "%s:0x%llx", name, (ull)value);
		else
			pev_text_put_(t, "r%u:0x%llx", reg, (ull)value);
	}
	pev_text_put_(t, "]");
}

static void put_regs_user(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	put_regs(t, "uregs", &s->regs_user, fmt->arch);
}

static void put_regs_intr(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	put_regs(t, "iregs", &s->regs_intr, fmt->arch);
}

static void put_stack(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	pev_text_put_(t, " stack %llu/%llu ", (ull)s->stack_dyn_size, (ull)s->stack_size);
	pev_text_bytes_(t, s->stack, s->stack_dyn_size, MAX_BYTES);
}

static void put_weight(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	if (fmt->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		pev_text_put_(t, " weight %u,%u,%u", s->weight.var1, s->weight.var2, s->weight.var3);
	else
		pev_text_put_(t, " weight %llu", (ull)s->weight.full);
}

static void put_data_src(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	char words[512];

	pev_data_src_text(s->data_src, words, sizeof(words));
	pev_text_put_(t, " data_src 0x%llx(%s)", (ull)s->data_src, words);
}

static void put_transaction(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	char words[256];

	pev_transaction_text(s->transaction, words, sizeof(words));
	pev_text_put_(t, " transaction 0x%llx(%s)", (ull)s->transaction, words);
}

static void put_raw(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	pev_text_put_(t, " raw %u ", s->raw_size);
	pev_text_bytes_(t, s->raw, s->raw_size, MAX_BYTES);
}

static void put_aux(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	pev_text_put_(t, " aux %llu ", (ull)s->aux_size);
	pev_text_bytes_(t, s->aux, s->aux_size, MAX_BYTES);
}

static const struct {
	uint64_t bits;
	void (*put)(struct text *t, const struct pev_sample *s, const struct pev_format *fmt);
} others[] = {
	{ PERF_SAMPLE_READ, put_read },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, put_weight },
	{ PERF_SAMPLE_DATA_SRC, put_data_src },
	{ PERF_SAMPLE_TRANSACTION, put_transaction },
	{ PERF_SAMPLE_CALLCHAIN, put_callchain },
	{ PERF_SAMPLE_BRANCH_STACK, put_branches },
	{ PERF_SAMPLE_REGS_USER, put_regs_user },
	{ PERF_SAMPLE_REGS_INTR, put_regs_intr },
	{ PERF_SAMPLE_STACK_USER, put_stack },
	{ PERF_SAMPLE_RAW, put_raw },
	{ PERF_SAMPLE_AUX, put_aux },
};

static void put_undecoded(struct text *t, uint64_t bits)
{
	for (const char *sep = " undecoded "; bits; bits &= bits - 1, sep = "|") {
		const char *name = pev_sample_name(bits & -bits);

		if (name)
			pev_text_put_(t, "%s%s", sep, name);
		else
			pev_text_put_(t, "%s0x%llx", sep, (ull)(bits & -bits));
	}
}

void pev_text_sample_(struct text *t, const struct pev_sample *s, const struct pev_format *fmt)
{
	uint64_t there = fmt->sample_type & ~s->undecoded;

	for (size_t i = 0; i < COUNT(first); i++)
		if (there & first[i].bit)
			put_scalar(t, s, &first[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		if (there & others[i].bits)
			others[i].put(t, s, fmt);
	put_undecoded(t, s->undecoded);
}
