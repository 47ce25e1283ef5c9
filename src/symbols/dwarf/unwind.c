/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/unwind.h"

#include <linux/perf_event.h>
#include <string.h>

/* Pointer authentication may use the other bits of a pointer. */
#define ARM64_ADDRESS ((UINT64_C(1) << 52) - 1)

struct machine {
	uint8_t sp, fp;          /* DWARF's numbers */
	uint8_t pc;              /* index in struct frame; on x86-64 also DWARF's number */
	uint8_t perf_pc;         /* perf's number */
	uint8_t word;            /* bytes of an address */
	unsigned int nregs;
	uint8_t perf[CFI_REGS];  /* perf's numbers, by DWARF's */
};

/* arch/x86/include/uapi/asm/perf_regs.h, and arm64's */
static const struct machine machines[] = {
	[UNWIND_X86_64] = { .sp = 7, .fp = 6, .pc = 16, .perf_pc = 8, .word = 8, .nregs = 16,
			    .perf = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 } },
	[UNWIND_I386] = { .sp = 4, .fp = 5, .pc = 8, .perf_pc = 8, .word = 4, .nregs = 8,
			  .perf = { 0, 2, 3, 1, 7, 6, 4, 5 } },
	[UNWIND_ARM64] = { .sp = 31, .fp = 29, .pc = 32, .perf_pc = 32, .word = 8, .nregs = 32,
			   .perf = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
				     20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
};

struct frame {
	uint64_t regs[CFI_REGS];
	uint64_t known;          /* a bit per register */
	bool interrupted;        /* the IP is where it was interrupted; else it is a return address */
};

/* Addresses further beyond the copied bytes are not on the stack (its usual limit is 8 MiB): the
 * register with the address held something else. */
enum { STACK_LIMIT = 8 << 20 };

struct thread {
	const struct machine *machine;
	const struct unwind_sample *sample;
	uint64_t stack;          /* address of the first byte copied */
	bool *cut;               /* the last word read lies beyond the last byte copied */
};

/* ---- contents of the sample ------------------------------------------------- */

static bool perf_reg(const struct unwind_sample *s, unsigned int reg, uint64_t *value)
{
	if (!(s->mask >> reg & 1))
		return false;
	*value = s->regs[__builtin_popcountll(s->mask & ((UINT64_C(1) << reg) - 1))];
	return true;
}

static void set(struct frame *f, unsigned int reg, uint64_t value)
{
	f->regs[reg] = value;
	f->known |= UINT64_C(1) << reg;
}

static bool has(const struct frame *f, unsigned int reg)
{
	return f->known >> reg & 1;
}

static bool begin(struct thread *t, struct frame *f)
{
	const struct machine *m = t->machine;
	uint64_t value;

	*f = (struct frame){ .interrupted = true };
	for (unsigned int i = 0; i < m->nregs; i++)
		if (perf_reg(t->sample, m->perf[i], &value))
			set(f, i, value);
	if (perf_reg(t->sample, m->perf_pc, &value))
		set(f, m->pc, value);
	t->stack = f->regs[m->sp];
	return m->nregs && has(f, m->pc) && has(f, m->sp);
}

static bool read_word(const struct thread *t, uint64_t addr, uint64_t *value)
{
	const size_t size = t->machine->word;
	uint64_t at = addr - t->stack;

	*t->cut = false;
	if (addr < t->stack || t->sample->stack_size < size || at > t->sample->stack_size - size) {
		*t->cut = addr >= t->stack && at < t->sample->stack_size + STACK_LIMIT;
		return false;
	}
	*value = 0;
	memcpy(value, (const char *)t->sample->stack + at, size);
	return true;
}

/* ---- rules ------------------------------------------------------------------ */

static bool evaluate(const struct thread *t, const struct frame *f, const struct cfi_place *p,
		     uint64_t cfa, unsigned int self, uint64_t *value)
{
	uint64_t base = f->regs[p->reg] + (uint64_t)(int64_t)p->offset;

	switch (p->kind) {
	case CFI_SAME:
		*value = f->regs[self];
		return has(f, self);
	case CFI_AT_CFA:
		return read_word(t, cfa + (uint64_t)(int64_t)p->offset, value);
	case CFI_CFA:
		*value = cfa + (uint64_t)(int64_t)p->offset;
		return true;
	case CFI_IN_REG:
		*value = f->regs[p->reg];
		return has(f, p->reg);
	case CFI_AT_REG:
		return has(f, p->reg) && read_word(t, base, value);
	case CFI_REG:
		*value = base;
		return has(f, p->reg);
	case CFI_PUSHED:
		*value = f->regs[self];
		return has(f, self) && (f->regs[p->reg] != *value || read_word(t, *value, value));
	case CFI_PLT:
		*value = f->regs[p->reg] + 8 +
			 ((f->regs[t->machine->pc] & 15) >= (uint64_t)p->offset ? 8 : 0);
		return has(f, p->reg);
	default:
		return false;
	}
}

static bool by_rule(const struct thread *t, const struct cfi_rule *rule, const struct frame *f,
		    struct frame *caller)
{
	const struct machine *m = t->machine;
	uint64_t cfa, value;

	caller->known = 0;       /* other registers are not read */
	caller->interrupted = rule->signal;
	if (!evaluate(t, f, &rule->cfa, 0, m->sp, &cfa))
		return false;
	for (unsigned int i = 0; i < m->nregs; i++) {
		const struct cfi_place *p = &rule->regs[i];

		if (p->kind == CFI_UNDEFINED)
			continue;   /* most registers */
		if (evaluate(t, f, p, cfa, i, &value))
			set(caller, i, value);
	}
	/* by default the caller's stack pointer is the CFA */
	if (rule->regs[m->sp].kind <= CFI_SAME)
		set(caller, m->sp, cfa);
	if (!evaluate(t, f, &rule->regs[rule->ra], cfa, rule->ra, &value))
		return false;
	set(caller, m->pc, value);
	return true;
}

/* On all machines the frame pointer points to the caller's frame pointer and the return address after it. */
static bool by_frame_pointer(const struct thread *t, const struct frame *f, struct frame *caller)
{
	const struct machine *m = t->machine;
	uint64_t at = f->regs[m->fp], fp, pc;

	caller->known = 0;
	caller->interrupted = false;
	if (!has(f, m->fp) || at % m->word || at < f->regs[m->sp] || !read_word(t, at, &fp) ||
	    !read_word(t, at + m->word, &pc))
		return false;
	set(caller, m->fp, fp);
	set(caller, m->sp, at + 2u * m->word);
	set(caller, m->pc, pc);
	return true;
}

/* ---- the walk --------------------------------------------------------------- */

/* A caller's stack pointer must be higher. Exceptions: a function interrupted at its first
 * instruction may have no frame yet, and a signal handler may have its own stack. */
static bool goes_on(const struct thread *t, const struct frame *f, const struct frame *caller)
{
	uint64_t before = f->regs[t->machine->sp], now = caller->regs[t->machine->sp];

	if (!has(caller, t->machine->sp) || !caller->regs[t->machine->pc])
		return false;
	return caller->interrupted || now > before ||
	       (now == before && f->interrupted && caller->regs[t->machine->pc] != f->regs[t->machine->pc]);
}

static bool step(const struct thread *t, const struct cfi_rule *rule, const struct frame *f,
		 struct frame *caller)
{
	if (!(rule ? by_rule(t, rule, f, caller) : by_frame_pointer(t, f, caller)))
		return false;
	if (t->sample->machine == UNWIND_ARM64)
		caller->regs[t->machine->pc] &= ARM64_ADDRESS;
	return goes_on(t, f, caller);
}

/* False: there is no room. */
static bool put(uint64_t *ips, size_t max, size_t *n, uint64_t pc, bool saved)
{
	if (*n + saved >= max)
		return false;
	if (saved)
		ips[(*n)++] = (uint64_t)PERF_CONTEXT_USER;
	ips[(*n)++] = pc;
	return true;
}

/* Tables need not say where a frame pointer was saved (those of Go do not): then it is that of a frame further in, which is gone. */
static void end_at(struct unwind_last *last, const struct thread *t, const struct frame *f)
{
	last->has_fp = has(f, t->machine->fp) && f->regs[t->machine->fp] >= f->regs[t->machine->sp];
	last->fp = f->regs[t->machine->fp];
}

/* The first address is used as it is; a caller's address must be in code. A call that never returns
 * may be the last instruction of its function, so the byte before a return address is looked up. */
size_t unwind(const struct unwind_sample *s, unwind_code *code, void *ctx, uint64_t *ips, size_t max,
	      struct unwind_last *last)
{
	bool behind = false, ruled = true;
	struct thread t = { &machines[s->machine], s, 0, &behind };
	struct frame frames[2] = { 0 };
	struct unwind_last at = { 0 };
	size_t n = 0;

	if (!begin(&t, &frames[0]))
		return 0;
	for (size_t depth = 0;;) {
		const struct frame *f = &frames[depth % 2];
		const struct cfi_rule *rule = NULL;
		uint64_t pc = f->regs[t.machine->pc];
		bool is_code = code(ctx, f->interrupted ? pc : pc - 1, &rule);

		if (is_code || !n) {
			if (!put(ips, max, &n, pc, n && (f->interrupted || (rule && rule->signal))))
				break;
			end_at(&at, &t, f);
		}
		ruled &= rule != NULL;
		if (n == max || !is_code || !step(&t, rule, f, &frames[++depth % 2]))
			break;
		behind = false;
	}
	at.end = !behind ? UNWIND_OUTERMOST : ruled ? UNWIND_SURELY_BEHIND : UNWIND_BEHIND;
	if (last)
		*last = at;
	return n;
}

bool unwind_frame_return(const struct unwind_sample *s, uint64_t *ret)
{
	bool behind = false;
	struct thread t = { &machines[s->machine], s, 0, &behind };
	struct frame f;

	return begin(&t, &f) && has(&f, t.machine->fp) && read_word(&t, f.regs[t.machine->fp] + t.machine->word, ret);
}

bool unwind_hops(const struct unwind_sample *s, uint64_t fp, size_t *hops)
{
	bool behind = false;
	struct thread t = { &machines[s->machine], s, 0, &behind };
	struct frame f;
	uint64_t at, next;

	*hops = 0;
	if (!begin(&t, &f) || !has(&f, t.machine->fp))
		return false;
	for (at = f.regs[t.machine->fp]; at != fp; at = next, ++*hops)
		if (!read_word(&t, at, &next) || next <= at)
			return false;
	return true;
}
