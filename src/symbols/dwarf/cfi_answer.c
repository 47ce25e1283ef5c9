/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rules of a page, by libdw. A few files stay open between questions. */
#include "symbols/dwarf/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPEN = 16 };

struct cfi_file {
	struct stat st;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *debug;   /* or NULL */
};

struct cfi_files {
	struct cfi_file all[MAX_OPEN];   /* most recently used first */
	unsigned int n;
};

/* ---- files ------------------------------------------------------------------ */

static void close_file(struct cfi_file *f)
{
	dwarf_cfi_end(f->eh);
	dwarf_end(f->dwarf);     /* frees debug, too */
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
}

static int open_file(struct cfi_file *f, int fd)
{
	elf_version(EV_CURRENT);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->fd < 0)
		return -errno;
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
		return -ENOEXEC;
	f->eh = dwarf_getcfi_elf(f->elf);
	if (f->eh)
		return 0;
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	f->debug = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
	return f->debug ? 0 : -ENODATA;
}

void cfi_forget(void *state)
{
	struct cfi_files *files = state;

	while (files->n)
		close_file(&files->all[--files->n]);
	free(files);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int get(struct cfi_files *files, int fd, struct cfi_file **out)
{
	struct cfi_file found = { .fd = -1 };
	unsigned int i;
	int rc;

	if (fstat(fd, &found.st))
		return -errno;
	for (i = 0; i < files->n && !is_same(&files->all[i].st, &found.st); i++)
		;
	if (i < files->n) {
		found = files->all[i];
	} else {
		rc = open_file(&found, fd);
		if (rc) {
			close_file(&found);
			return rc;
		}
		if (files->n == MAX_OPEN)
			close_file(&files->all[--files->n]);
		i = files->n++;
	}
	memmove(&files->all[1], &files->all[0], i * sizeof(*files->all));
	files->all[0] = found;
	*out = &files->all[0];
	return 0;
}

/* ---- expressions ------------------------------------------------------------ */

static bool is_base(const Dwarf_Op *op, struct cfi_place *p)
{
	bool any = op->atom == DW_OP_bregx;
	uint64_t reg = any ? op->number : (uint64_t)(op->atom - DW_OP_breg0);
	int64_t offset = (int64_t)(any ? op->number2 : op->number);

	if ((!any && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31)) || reg >= CFI_REGS ||
	    offset < INT32_MIN || offset > INT32_MAX)
		return false;
	p->reg = (uint8_t)reg;
	p->offset = (int32_t)offset;
	return true;
}

/* binutils' rule for PLTs: rsp + 8 + (((rip & 15) >= N) << 3) */
static bool is_plt(const Dwarf_Op *ops, size_t n, struct cfi_place *p)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0, DW_OP_ge,
					 DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (n != sizeof(atoms))
		return false;
	for (size_t i = 0; i < n; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	if (ops[4].atom < DW_OP_lit0 || ops[4].atom > DW_OP_lit31 || ops[0].number != 8 || ops[1].number)
		return false;
	*p = (struct cfi_place){ .kind = CFI_PLT, .reg = 7, .offset = ops[4].atom - DW_OP_lit0 };
	return true;
}

static struct cfi_place cfa_of(Dwarf_Frame *frame)
{
	struct cfi_place p = { 0 };
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n || is_plt(ops, n, &p) || !is_base(&ops[0], &p))
		return p;
	if (n == 1)
		p.kind = CFI_REG;
	else if (n == 2 && ops[1].atom == DW_OP_deref)
		p.kind = CFI_AT_REG;
	return p;
}

static struct cfi_place from_cfa(const Dwarf_Op *ops, size_t n)
{
	struct cfi_place p = { .kind = CFI_AT_CFA };
	int64_t offset = 0;

	if (n > 1 && ops[1].atom == DW_OP_plus_uconst)
		offset = (int64_t)ops[1].number;
	if (n > 1 && ops[n - 1].atom == DW_OP_stack_value)
		p.kind = CFI_CFA;
	if (n > 1u + (n > 1 && ops[1].atom == DW_OP_plus_uconst) + (p.kind == CFI_CFA) ||
	    offset < INT32_MIN || offset > INT32_MAX)
		return (struct cfi_place){ 0 };
	p.offset = (int32_t)offset;
	return p;
}

static struct cfi_place place_of(Dwarf_Frame *frame, int reg)
{
	struct cfi_place p = { 0 };
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return p;
	if (!n) {
		p.kind = ops ? CFI_UNDEFINED : CFI_SAME;
		return p;
	}
	/* libdw pushes the CFA before expressions, which may not use it */
	if (n > 1 && ops[0].atom == DW_OP_call_frame_cfa && is_base(&ops[1], &p)) {
		ops++;
		n--;
	}
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return from_cfa(ops, n);
	if (n == 1 && (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
		uint64_t in = ops[0].atom == DW_OP_regx ? ops[0].number : (uint64_t)(ops[0].atom - DW_OP_reg0);

		p.kind = in < CFI_REGS ? CFI_IN_REG : CFI_UNDEFINED;
		p.reg = in < CFI_REGS ? (uint8_t)in : 0;
		return p;
	}
	if (is_base(&ops[0], &p))
		p.kind = n == 1 ? CFI_AT_REG : n == 2 && ops[1].atom == DW_OP_stack_value ? CFI_REG : CFI_UNDEFINED;
	return p;
}

/* ---- rows ------------------------------------------------------------------- */

struct rows {
	struct cfi_row all[CFI_PAGE];
	uint32_t n;
	struct parser_bytes rules;
};

enum { X86_64_RBX = 3, X86_64_RA = 16 };

static int rule_of(struct rows *r, Dwarf_Frame *frame, int ra, bool signal, uint16_t *number)
{
	struct cfi_rule rule = { .cfa = cfa_of(frame), .ra = (uint8_t)ra, .signal = signal };
	size_t n = r->rules.size / sizeof(rule);

	for (int i = 0; i < CFI_REGS; i++)
		rule.regs[i] = place_of(frame, i);
	/* libdw takes rax for the register that calls preserve (x86_64_abi_cfi() of elfutils 0.188) */
	if (ra == X86_64_RA && rule.regs[X86_64_RBX].kind == CFI_UNDEFINED)
		rule.regs[X86_64_RBX].kind = CFI_SAME;
	for (size_t i = 0; i < n; i++)
		if (!memcmp((struct cfi_rule *)r->rules.data + i, &rule, sizeof(rule))) {
			*number = (uint16_t)(i + 1);
			return 0;
		}
	*number = (uint16_t)(n + 1);
	return parser_put(&r->rules, &rule, sizeof(rule));
}

static void add_row(struct rows *r, unsigned int from, uint16_t rule)
{
	if (r->n && r->all[r->n - 1].rule == rule)
		return;
	r->all[r->n++] = (struct cfi_row){ (uint16_t)from, rule };
}

/* Adds the rule at an address and sets *end to its end; without a rule, only for this byte. */
static int add_at(const struct cfi_file *f, struct rows *r, uint64_t page, uint64_t at, uint64_t *end)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start;
	uint16_t rule = 0;
	bool signal;
	int ra, rc = 0;

	*end = at + 1;
	if (!dwarf_cfi_addrframe(f->eh ? f->eh : f->debug, at, &frame)) {
		ra = dwarf_frame_info(frame, &start, end, &signal);
		if (*end <= at)
			*end = at + 1;
		if (ra >= 0 && ra < CFI_REGS)
			rc = rule_of(r, frame, ra, signal, &rule);
	}
	free(frame);
	if (!rc)
		add_row(r, (unsigned int)(at - page), rule);
	return rc;
}

static int put_page(const struct cfi_file *f, struct rows *r, uint64_t page, struct parser_bytes *out)
{
	struct cfi_head head;
	int rc = 0;

	for (uint64_t at = page, end; !rc && at < page + CFI_PAGE; at = end)
		rc = add_at(f, r, page, at, &end);
	head = (struct cfi_head){ r->n, (uint32_t)(r->rules.size / sizeof(struct cfi_rule)) };
	if (rc || parser_put(out, &head, sizeof(head)) || parser_put(out, r->all, r->n * sizeof(*r->all)) ||
	    parser_put(out, r->rules.data, r->rules.size))
		return -ENOMEM;
	return 0;
}

int cfi_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct cfi_file *f = NULL;
	struct rows *r;
	uint64_t page;
	int rc;

	if (q->nfds != 1 || q->size != sizeof(page))
		return -EINVAL;
	memcpy(&page, q->bytes, sizeof(page));
	if (page % CFI_PAGE || page > UINT64_MAX - 2 * CFI_PAGE)
		return -EINVAL;
	if (!*state && !(*state = calloc(1, sizeof(struct cfi_files))))
		return -ENOMEM;
	rc = get(*state, q->fds[0], &f);
	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	rc = put_page(f, r, page, out);
	parser_bytes_free(&r->rules);
	free(r);
	return rc;
}
