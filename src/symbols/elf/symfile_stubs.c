/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of PLT stubs, through which calls into other files go: "malloc@plt", as in perf and gdb.
 * No symbol table has them. A stub jumps to the address in its slot, and a relocation says which
 * symbol's address goes into that slot.
 */
#include "base/room.h"
#include "symbols/elf/symfile_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RELOCATED = 8, MAX_STUB = 64, MAX_STUB_NAME = 2048 };

#define MAX_BYTES (8ull << 20)   /* limit for a section of relocations or stubs */

struct slot {
	uint64_t at;
	const char *name;        /* owned by libelf, valid while the file is open */
};

struct slots {
	struct slot *v;
	size_t n;
};

/* ---- slots ------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static const char *symbol_name(Elf *elf, Elf_Data *syms, size_t strings, uint64_t i)
{
	GElf_Sym sym;

	return i && i <= INT32_MAX && gelf_getsym(syms, (int)i, &sym) ? elf_strptr(elf, strings, sym.st_name) : NULL;
}

/* Adds the slots in one section of relocations. */
static int add_slots(struct slots *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	size_t n = header->sh_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
	GElf_Shdr symbols;
	Elf_Data *data, *syms;

	if (!table || !gelf_getshdr(table, &symbols) || symbols.sh_type != SHT_DYNSYM || symbols.sh_size > MAX_SECTION)
		return 0;
	data = elf_getdata(scn, NULL);
	syms = elf_getdata(table, NULL);
	for (size_t i = 0; data && syms && i < n; i++) {
		GElf_Rela rela;
		struct slot slot;

		if (!gelf_getrela(data, (int)i, &rela))
			break;
		slot = (struct slot){ rela.r_offset, symbol_name(elf, syms, symbols.sh_link, GELF_R_SYM(rela.r_info)) };
		if (!slot.name || !*slot.name)
			continue;
		if (!ROOM_FOR_ONE(s->v, s->n))
			return -ENOMEM;
		s->v[s->n++] = slot;
	}
	return 0;
}

/* Sorted by address. 0 or -ENOMEM; the caller frees s->v in any case. */
static int read_slots(struct slots *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	int rc = 0;

	for (int i = 0; !rc && i < MAX_RELOCATED && (scn = elf_nextscn(elf, scn)); )
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA && header.sh_size <= MAX_BYTES) {
			rc = add_slots(s, elf, scn, &header);
			i++;
		}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_place);
	return rc;
}

/* ---- stubs ------------------------------------------------------------------ */

/* x86-64: jmp *slot(%rip), possibly after endbr64 and the prefix bnd. */
static bool jumps_by(const unsigned char *code, size_t n, uint64_t vaddr, uint64_t *slot)
{
	for (size_t i = 0; i + 6 <= n; i++)
		if (code[i] == 0xff && code[i + 1] == 0x25) {
			uint32_t d = code[i + 2] | code[i + 3] << 8 | code[i + 4] << 16 | (uint32_t)code[i + 5] << 24;

			*slot = vaddr + i + 6 + (uint64_t)(int64_t)(int32_t)d;
			return true;
		}
	return false;
}

static int add_stub(struct symtab *tab, const struct slots *s, const unsigned char *code, size_t n, uint64_t vaddr)
{
	struct slot key, *slot;
	char name[MAX_STUB_NAME];
	int len;

	if (!jumps_by(code, n, vaddr, &key.at))
		return 0;
	slot = bsearch(&key, s->v, s->n, sizeof(key), by_place);
	len = slot ? snprintf(name, sizeof(name), "%s@plt", slot->name) : 0;
	if (len <= 0 || (size_t)len >= sizeof(name))
		return 0;
	return symtab_add(tab, &(struct symtab_entry){ .start = vaddr, .end = vaddr + n, .group = SYMFILE_STUBS,
						       .name = name, .len = (size_t)len });
}

/* .plt, .plt.sec, .plt.got: stubs of equal size. */
static bool has_stubs(Elf *elf, size_t strings, const GElf_Shdr *header)
{
	const char *name = elf_strptr(elf, strings, header->sh_name);

	return header->sh_type == SHT_PROGBITS && header->sh_flags & SHF_EXECINSTR && header->sh_size <= MAX_BYTES &&
	       header->sh_entsize && header->sh_entsize <= MAX_STUB && header->sh_addr + header->sh_size > header->sh_addr &&
	       name && !strncmp(name, ".plt", 4);
}

static int read_stubs(struct symtab *tab, Elf *elf, const struct slots *s)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t strings;
	int rc = 0;

	if (elf_getshdrstrndx(elf, &strings))
		return 0;
	while (!rc && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &header) && has_stubs(elf, strings, &header) ? elf_rawdata(scn, NULL) : NULL;

		for (size_t at = 0; data && data->d_buf && !rc && at + header.sh_entsize <= data->d_size; at += header.sh_entsize)
			rc = add_stub(tab, s, (const unsigned char *)data->d_buf + at, header.sh_entsize, header.sh_addr + at);
	}
	return rc;
}

int symfile_add_stubs_(struct symtab *tab, Elf *elf)
{
	struct slots s = { 0 };
	GElf_Ehdr eh;
	int rc;

	if (!gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64)
		return 0;
	rc = read_slots(&s, elf);
	if (!rc && s.n)
		rc = read_stubs(tab, elf, &s);
	free(s.v);
	return rc;
}
