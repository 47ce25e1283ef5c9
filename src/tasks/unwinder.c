/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/unwinder.h"

#include "base/hash.h"
#include "symbols/dwarf/cfi_known.h"
#include "symbols/elf/vdso.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_KERNEL = 512, MAX_USER = UNWINDER_FRAMES,   /* words of a call chain */
	STEPS = 4096,                       /* entries of the cache; a power of two */
	ANSWERS_SHIFT = 44,
	ENDS = 16,
};

/* Cached lookup of one address, valid for one version of the process's mappings. */
struct step {
	uint64_t version;        /* of the mappings; 0: empty */
	uint64_t addr;
	bool is_code, has_rule;
	struct cfi_rule rule;
};

struct unwinder {
	struct maps *maps;
	struct dsos *dsos;
	uint64_t stacks, cut;    /* stacks walked; those cut off */
	uint64_t deep;           /* cut off after UNWINDER_FRAMES */
	uint64_t torn;           /* cut off because the kernel copied fewer bytes than requested */
	uint64_t asked;          /* most bytes of stack requested in a sample that is cut off */
	struct step steps[STEPS], last;     /* last: for times without a version */
	struct chain_end {
		pid_t pid;
		uint64_t ip;
	} ends[ENDS];            /* see remember_end() */
	size_t nends;
	uint64_t chain[MAX_KERNEL + 1 + MAX_USER];
};

/* State of one walk. */
struct walk {
	struct unwinder *u;
	const struct unwinder_sample *s;
	uint64_t version;
};

struct unwinder *unwinder_new(struct maps *maps, struct dsos *dsos)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->maps = maps;
	u->dsos = dsos;
	return u;
}

void unwinder_free(struct unwinder *u)
{
	free(u);
}

/* ---- from an address to its rule ----------------------------------------------- */

/* Size of the function that begins there; stops above the size of any trampoline. */
static uint64_t size_at(struct unwinder *u, struct dso *dso, uint64_t start)
{
	uint64_t size = 0, into;
	const char *name;

	while (size <= CFI_KNOWN_TRAMPOLINE && dso_find(u->dsos, dso, start + size, &name, &into) && into == size)
		size++;
	return size;
}

static const struct cfi_rule *trampoline_rule(struct unwinder *u, struct dso *dso, uint64_t offset)
{
	const char *name;
	uint64_t into;

	return dso_is_jit(dso) && dso_find(u->dsos, dso, offset, &name, &into) && cfi_known_is_trampoline(name) ?
	       cfi_known_trampoline(into, size_at(u, dso, offset - into)) : NULL;
}

/* Rules for code without CFI. */
static const struct cfi_rule *known_rule(struct unwinder *u, const struct unwinder_sample *s,
					 const struct mapping *m, uint64_t addr)
{
	bool arm64 = s->stack.machine == UNWIND_ARM64;
	uint64_t into, offset = addr - m->start + m->pgoff;
	const char *name;

	if (!arm64)
		return trampoline_rule(u, m->dso, offset);
	/* a return goes to its first byte, and the lookup is for the byte before */
	return !strcmp(dso_mapped_name(m->dso), VDSO_NAME) &&
	       dso_find(u->dsos, m->dso, offset + 1, &name, &into) && !into &&
	       !strcmp(name, CFI_KNOWN_ARM64_SIGRETURN) ? &cfi_known_arm64_sigreturn : NULL;
}

static const struct cfi_rule *rule_at(const struct walk *w, const struct mapping *m, uint64_t addr)
{
	const struct cfi_rule *rule = NULL;
	struct cfi *cfi = NULL;
	uint64_t vaddr;

	if (dso_cfi(w->u->dsos, m->dso, addr - m->start + m->pgoff, &cfi, &vaddr) && cfi)
		rule = cfi_find(cfi, vaddr);
	return rule ? rule : known_rule(w->u, w->s, m, addr);
}

/* False: the result may change later (JIT), so it is not cached. */
static bool look_up(const struct walk *w, uint64_t addr, struct step *step)
{
	const struct mapping *m = w->u->maps ? maps_find(w->u->maps, w->s->pid, addr, w->s->time) : NULL;
	bool is_code = m && !m->data;
	const struct cfi_rule *rule = is_code ? rule_at(w, m, addr) : NULL;

	*step = (struct step){ .addr = addr, .is_code = is_code };
	if (rule) {
		step->has_rule = true;
		step->rule = *rule;
	}
	return !is_code || !dso_is_late(m->dso);
}

static struct step *slot_of(const struct walk *w, uint64_t addr)
{
	const uint64_t h = hash_number(addr ^ w->version << 48);

	return w->version ? &w->u->steps[h & (STEPS - 1)] : &w->u->last;
}

static bool code_at(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	const struct walk *w = ctx;
	struct step *step = slot_of(w, addr);

	if (!w->version || step->addr != addr || step->version != w->version) {
		if (look_up(w, addr, step))
			step->version = w->version;
	}
	*rule = step->has_rule ? &step->rule : NULL;
	return step->is_code;
}

/* Names of JIT code arrive late and identify trampolines, so each new name changes the version. */
static uint64_t version_of(struct unwinder *u, const struct unwinder_sample *s)
{
	uint64_t version = u->maps ? maps_version(u->maps, s->pid, s->time) : 0;

	return version ? version ^ dsos_answers(u->dsos) << ANSWERS_SHIFT : 0;
}

/* The kernel copies up to a page that is not in memory. That page is the end of the stack, or a
 * page within the stack that was never written; beyond the end the CFI has no caller. */
static void count(struct unwinder *u, const struct unwinder_sample *s, enum unwind_end end)
{
	bool fewer = s->stack.stack_size < s->asked;

	u->stacks++;
	u->torn += fewer && end == UNWIND_SURELY_BEHIND;
	if (end == UNWIND_OUTERMOST || fewer)
		return;
	u->cut++;
	if (s->asked > u->asked)
		u->asked = s->asked;
}

uint64_t unwinder_cut(const struct unwinder *u, uint64_t *all, uint64_t *asked)
{
	*all = u->stacks;
	*asked = u->asked;
	return u->cut;
}

uint64_t unwinder_deep(const struct unwinder *u)
{
	return u->deep;
}

uint64_t unwinder_torn(const struct unwinder *u)
{
	return u->torn;
}

size_t unwinder_walk(struct unwinder *u, const struct unwinder_sample *s, uint64_t *ips, size_t max, struct unwind_last *last)
{
	struct walk w = { u, s, version_of(u, s) };

	return unwind(&s->stack, code_at, &w, ips, max, last);
}

static size_t most_frames(const struct unwinder_sample *s)
{
	return s->max && s->max < MAX_USER ? s->max : MAX_USER;
}

const uint64_t *unwinder_chain(struct unwinder *u, const struct unwinder_sample *s,
			       const uint64_t *kernel, uint64_t *nr)
{
	struct unwind_last last = { 0 };
	size_t n = *nr < MAX_KERNEL ? (size_t)*nr : MAX_KERNEL, found;

	memcpy(u->chain, kernel, n * sizeof(*kernel));
	u->chain[n] = (uint64_t)PERF_CONTEXT_USER;
	found = unwinder_walk(u, s, u->chain + n + 1, most_frames(s), &last);
	u->deep += found == MAX_USER;
	if (u->maps)
		count(u, s, last.end);
	*nr = n + (found ? 1 + found : 0);
	return u->chain;
}

/* Words of the chain up to its user part, whose first word is the thread's IP; nr: there is none. */
static uint64_t user_part(const uint64_t *ips, uint64_t nr)
{
	uint64_t i = 0;

	while (i < nr && ips[i] != (uint64_t)PERF_CONTEXT_USER)
		i++;
	return i < nr ? i + 1 : nr;
}

/* At a uprobe of a function's first instruction, newer kernels put the return address on the stack before those that frame
 * pointers lead to. */
static bool is_at_entry(const struct unwinder_sample *s, const uint64_t *user, uint64_t n)
{
	uint64_t word;

	if (n < 2 || s->stack.stack_size < sizeof(word))
		return false;
	memcpy(&word, s->stack.stack, sizeof(word));
	return user[1] == word && unwind_frame_return(&s->stack, &word) && user[1] != word;
}

/* Where the chain of frame pointers, of n words, goes on behind the frames that were found otherwise; n: it does not. */
static uint64_t goes_on_at(const struct unwinder_sample *s, const struct unwind_last *last, const uint64_t *found, size_t nfound,
			   const uint64_t *user, uint64_t n)
{
	const uint64_t outer = found[nfound - 1];
	size_t hops, times = 0;

	if (last->has_fp && unwind_hops(&s->stack, last->fp, &hops)) {
		hops += 1 + is_at_entry(s, user, n);
		return hops < n ? hops : n;
	}
	for (size_t i = 0; i < nfound; i++)
		times += found[i] == outer;   /* a recursion */
	for (uint64_t i = 0; i < n; i++)
		if (user[i] == outer && !--times)
			return i + 1;
	return n;
}

static bool is_end(const struct unwinder *u, pid_t pid, uint64_t ip)
{
	for (size_t i = 0; i < ENDS; i++)
		if (u->ends[i].pid == pid && u->ends[i].ip == ip)
			return true;
	return false;
}

static bool is_in_libc(struct unwinder *u, const struct unwinder_sample *s, uint64_t ip)
{
	const struct mapping *m = u->maps ? maps_find(u->maps, s->pid, ip - 1, s->time) : NULL;
	const char *name = m && !m->data ? dso_mapped_name(m->dso) : NULL;

	return name && (strstr(name, "/libc.so") || strstr(name, "/libc-") || strstr(name, "/libpthread"));
}

/* Where frame pointers have ended: in the C library, which starts programs and threads. */
static void remember_end(struct unwinder *u, const struct unwinder_sample *s, uint64_t ip)
{
	if (!is_end(u, s->pid, ip) && is_in_libc(u, s, ip))
		u->ends[u->nends++ % ENDS] = (struct chain_end){ s->pid, ip };
}

/* How many of n frames are left if all chains shall end where those of frame pointers alone end: a frame or two before the
 * outermost one. */
static size_t without_start(struct unwinder *u, const struct unwinder_sample *s, const uint64_t *ips, size_t n, uint64_t outer)
{
	for (size_t more = 1; more <= 2 && more + 1 < n; more++)
		if (ips[n - 1 - more] == outer)
			remember_end(u, s, outer);
	for (size_t more = 2; more >= 1; more--)
		if (more + 1 < n && is_end(u, s->pid, ips[n - 1 - more]))
			return n - more;
	return n;
}

const uint64_t *unwinder_mend(struct unwinder *u, const struct unwinder_sample *s, const uint64_t *ips, uint64_t *nr)
{
	const uint64_t at = user_part(ips, *nr), nuser = *nr - at, *user = ips + at;
	const size_t max = most_frames(s);
	struct unwind_last last = { 0 };
	uint64_t rest;
	size_t found;

	if (!nuser || at > MAX_KERNEL)
		return ips;
	memcpy(u->chain, ips, at * sizeof(*ips));
	found = unwinder_walk(u, s, u->chain + at, max, &last);
	if (!found || u->chain[at] != user[0])
		return ips;
	if (last.end == UNWIND_OUTERMOST && found < max && !s->max)
		found = without_start(u, s, u->chain + at, found, user[nuser - 1]);
	rest = goes_on_at(s, &last, u->chain + at, found, user, nuser);
	if (u->maps)
		count(u, s, rest < nuser ? UNWIND_OUTERMOST : last.end);
	if (found + nuser - rest < nuser)
		return ips;
	*nr = at + found + nuser - rest < at + max ? at + found + nuser - rest : at + max;
	memcpy(u->chain + at + found, user + rest, (*nr - at - found) * sizeof(*user));
	return u->chain;
}
