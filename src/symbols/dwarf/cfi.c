/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/cfi.h"

#include "base/hash.h"
#include "base/search.h"
#include "symbols/dwarf/cfi_known.h"
#include "symbols/dwarf/cfi_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cfi_table {
	struct cfi_head head;
	const struct cfi_rule *rules;
	struct cfi_row rows[];
};

static bool is_place(const struct cfi_place *p)
{
	return p->kind < CFI_KINDS && p->reg < CFI_REGS;
}

static bool is_rule(const struct cfi_rule *r)
{
	for (int i = 0; i < CFI_REGS; i++)
		if (!is_place(&r->regs[i]))
			return false;
	return is_place(&r->cfa) && r->ra < CFI_REGS;
}

static bool is_sane(const struct cfi_table *t)
{
	for (uint32_t i = 0; i < t->head.nrows; i++)
		if (t->rows[i].rule > t->head.nrules || t->rows[i].from >= CFI_PAGE ||
		    (i && t->rows[i - 1].from >= t->rows[i].from))
			return false;
	for (uint32_t i = 0; i < t->head.nrules; i++)
		if (!is_rule(&t->rules[i]))
			return false;
	return true;
}

struct cfi_table *cfi_table_unpack(const void *bytes, size_t size)
{
	struct cfi_table *t;
	struct cfi_head head;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	size -= sizeof(head);
	if (head.nrows > CFI_PAGE || head.nrules > CFI_PAGE ||
	    size != head.nrows * sizeof(struct cfi_row) + head.nrules * sizeof(struct cfi_rule))
		return NULL;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	t->head = head;
	memcpy(t->rows, (const char *)bytes + sizeof(head), size);
	t->rules = (const struct cfi_rule *)(t->rows + head.nrows);
	if (is_sane(t))
		return t;
	free(t);
	return NULL;
}

void cfi_table_free(struct cfi_table *t)
{
	free(t);
}

static size_t cfi_table_bytes(const struct cfi_table *t)
{
	return sizeof(*t) + t->head.nrows * sizeof(struct cfi_row) + t->head.nrules * sizeof(struct cfi_rule);
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *t, unsigned int byte)
{
	size_t after = FIRST_NOT(i, 0, t->head.nrows, t->rows[i].from <= byte);

	return after && t->rows[after - 1].rule ? &t->rules[t->rows[after - 1].rule - 1] : NULL;
}

/* bare: the stack pointer is as after the call (CFA = rsp + 8). entered: 8 bytes more are on the
 * stack (CFA = rsp + 16), the saved frame pointer if rbp points there. */
static const struct cfi_rule bare = {
	.cfa = { .kind = CFI_REG, .reg = 7, .offset = 8 },
	.regs = {
		[3] = { .kind = CFI_SAME }, [6] = { .kind = CFI_SAME }, [12] = { .kind = CFI_SAME },
		[13] = { .kind = CFI_SAME }, [14] = { .kind = CFI_SAME }, [15] = { .kind = CFI_SAME },
		[16] = { .kind = CFI_AT_CFA, .offset = -8 },
	},
	.ra = 16,
};
static const struct cfi_rule entered = {
	.cfa = { .kind = CFI_REG, .reg = 7, .offset = 16 },
	.regs = {
		[3] = { .kind = CFI_SAME }, [6] = { .kind = CFI_PUSHED, .reg = 7 },
		[12] = { .kind = CFI_SAME }, [13] = { .kind = CFI_SAME }, [14] = { .kind = CFI_SAME },
		[15] = { .kind = CFI_SAME }, [16] = { .kind = CFI_AT_CFA, .offset = -8 },
	},
	.ra = 16,
};

/* Offsets after the first instruction that changes the stack pointer, and of the ret. */
static const struct {
	uint8_t size, enters, leaves;
} trampolines[] = {
	{ 11, 4, 10 },     /* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
	{ 15, 8, 14 },     /* the same after endbr64 */
	{ 8, 1, 7 },       /* push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret */
	{ 12, 5, 11 },
};

enum { CALL_ENDS = 5, ENDBR = 4 };

bool cfi_known_is_trampoline(const char *name)
{
	return !strncmp(name, "py::", 4);
}

const struct cfi_rule *cfi_known_trampoline(uint64_t into, uint64_t size)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (trampolines[i].size == size)
			return into < trampolines[i].enters || into == trampolines[i].leaves ? &bare : &entered;
	return into == CALL_ENDS || into == CALL_ENDS + ENDBR ? &entered : NULL;
}

/* arch/arm64/include/uapi/asm/sigcontext.h: 128 bytes of siginfo, 176 bytes of struct ucontext
 * before uc_mcontext, in that fault_address, then x0 to x30, sp, pc. */
enum { X0 = 128 + 176 + 8 };

#define SAVED(n) [n] = { .kind = CFI_AT_CFA, .offset = X0 + 8 * (n) }

const struct cfi_rule cfi_known_arm64_sigreturn = {
	.cfa = { .kind = CFI_REG, .reg = 31 },
	.regs = {
		SAVED(0), SAVED(1), SAVED(2), SAVED(3), SAVED(4), SAVED(5), SAVED(6), SAVED(7), SAVED(8),
		SAVED(9), SAVED(10), SAVED(11), SAVED(12), SAVED(13), SAVED(14), SAVED(15), SAVED(16),
		SAVED(17), SAVED(18), SAVED(19), SAVED(20), SAVED(21), SAVED(22), SAVED(23), SAVED(24),
		SAVED(25), SAVED(26), SAVED(27), SAVED(28), SAVED(29), SAVED(30), SAVED(31), SAVED(32),
	},
	.ra = 32,
	.signal = 1,
};

enum { MAX_BYTES = 16 << 20, MAX_DEATHS = 3 };

struct page {
	uint64_t at;
	struct cfi_table *table; /* NULL: nothing known */
	UT_hash_handle hh;
};

struct cfi {
	struct parser *parser;
	void *state;             /* of the handler, if there is no parser */
	int fd;
	struct page *pages, *last;
	size_t bytes;
	unsigned int deaths;
};

struct cfi *cfi_new(struct parser *p, int fd)
{
	struct cfi *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->parser = p;
	c->fd = fd;
	return c;
}

static void forget_pages(struct cfi *c)
{
	struct page *page, *next;

	HASH_ITER(hh, c->pages, page, next) {
		HASH_DEL(c->pages, page);
		cfi_table_free(page->table);
		free(page);
	}
	c->last = NULL;
	c->bytes = 0;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	forget_pages(c);
	if (c->state)
		cfi_forget(c->state);
	free(c);
}

size_t cfi_bytes(const struct cfi *c)
{
	return c ? sizeof(*c) + c->bytes : 0;
}

static struct cfi_table *ask(struct cfi *c, uint64_t at)
{
	struct parser_question q = { .kind = PARSER_CFI, .fds = { c->fd }, .nfds = 1, .bytes = &at,
				     .size = sizeof(at) };
	struct parser_bytes out = { 0 };
	struct cfi_table *t = NULL;
	int rc = c->deaths >= MAX_DEATHS ? -EOWNERDEAD :
		 c->parser ? parser_ask(c->parser, &q, &out) : cfi_answer(&c->state, &q, &out);

	c->deaths += rc == -EOWNERDEAD || rc == -ETIME;
	if (!rc)
		t = cfi_table_unpack(out.data, out.size);
	parser_bytes_free(&out);
	return t;
}

static struct page *read_page(struct cfi *c, uint64_t at)
{
	struct page *page;

	if (c->bytes > MAX_BYTES)
		forget_pages(c);
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->at = at;
	page->table = ask(c, at);
	HASH_ADD(hh, c->pages, at, sizeof(page->at), page);
	if (HASH_LOST(page)) {
		cfi_table_free(page->table);
		free(page);
		return NULL;
	}
	c->bytes += sizeof(*page) + (page->table ? cfi_table_bytes(page->table) : 0);
	return page;
}

static struct page *find_page(const struct cfi *c, uint64_t at)
{
	struct page *page = c->last;

	if (!page || page->at != at)
		HASH_FIND(hh, c->pages, &at, sizeof(at), page);
	return page;
}

static uint64_t page_of(uint64_t vaddr)
{
	return vaddr & ~(uint64_t)(CFI_PAGE - 1);
}

bool cfi_has(const struct cfi *c, uint64_t vaddr)
{
	return c && find_page(c, page_of(vaddr));
}

const struct cfi_rule *cfi_find(struct cfi *c, uint64_t vaddr)
{
	uint64_t at = page_of(vaddr);

	c->last = find_page(c, at);
	if (!c->last)
		c->last = read_page(c, at);
	return c->last && c->last->table ? cfi_table_find(c->last->table, (unsigned int)(vaddr - at)) : NULL;
}
