/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables of the file itself or of its debug file. */
#include "symbols/elf/symfile_private.h"

#include <errno.h>
#include <string.h>

static const struct segment *segment_around(const struct symfile *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct segment *s = &f->segments[i];

		if (s->used && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return s;
	}
	return NULL;
}

struct reader {
	const struct symfile *f;
	struct symtab *tab;
	Elf *elf;
	uint16_t machine;
	Elf_Data *syms;
	const char *names;
	size_t names_size;
	uint32_t section;        /* the section to which `header` belongs; SHN_UNDEF: none */
	GElf_Shdr header;
};

/* Marks for disassemblers ("$x", "$d.1"), not functions. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
		return false;
	return name[0] == '$' && name[1] && strchr("xdat", name[1]);
}

/* Order of several names for an address: those with a size first, then strong before weak, global
 * before local, fewer leading underscores first. */
static uint8_t rank(const GElf_Sym *sym, const char *name)
{
	size_t underscores = strspn(name, "_");
	uint8_t r = underscores < 3 ? (uint8_t)(3 - underscores) : 0;

	r |= GELF_ST_BIND(sym->st_info) == STB_GLOBAL ? 4 : 0;
	r |= GELF_ST_BIND(sym->st_info) != STB_WEAK ? 8 : 0;
	return r | (sym->st_size ? 16 : 0);
}

/* The end of a symbol's section; 0: not a section with code, or with variables. */
static uint64_t section_end(struct reader *r, const GElf_Sym *sym, const struct segment *s)
{
	Elf_Scn *scn;

	if (sym->st_shndx >= SHN_LORESERVE)
		return s->vaddr + s->memsz;
	if (r->section != sym->st_shndx) {
		scn = elf_getscn(r->elf, sym->st_shndx);
		r->section = SHN_UNDEF;
		if (!scn || !gelf_getshdr(scn, &r->header))
			return 0;
		r->section = sym->st_shndx;
	}
	if (!(r->header.sh_flags & (r->f->what == SYMFILE_VARIABLES ? SHF_WRITE : SHF_EXECINSTR)) || sym->st_value < r->header.sh_addr ||
	    sym->st_value - r->header.sh_addr >= r->header.sh_size)
		return 0;
	return r->header.sh_addr + r->header.sh_size;
}

static bool is_wanted(const struct reader *r, unsigned int type)
{
	if (r->f->what == SYMFILE_VARIABLES)
		return type == STT_OBJECT || type == STT_COMMON;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int take_symbol(struct reader *r, GElf_Sym *sym)
{
	struct symtab_entry e = { .open = !sym->st_size };
	const struct segment *segment;
	uint64_t segment_end;

	if (!is_wanted(r, GELF_ST_TYPE(sym->st_info)) ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_name >= r->names_size)
		return 0;
	if (r->machine == EM_ARM)
		sym->st_value &= ~1ull;   /* Thumb bit */
	e.name = r->names + sym->st_name;
	segment = segment_around(r->f, sym->st_value);
	if (!segment || is_mapping_symbol(r->machine, e.name))
		return 0;
	segment_end = segment->vaddr + segment->memsz;
	e.start = sym->st_value;
	e.end = section_end(r, sym, segment);
	if (!e.open && e.end)
		e.end = sym->st_size < segment_end - e.start ? e.start + sym->st_size : segment_end;
	e.end = e.end < segment_end ? e.end : segment_end;
	e.rank = rank(sym, e.name);
	e.len = strlen(e.name);
	return symtab_add(r->tab, &e);
}

/* The strings of a table, which must end with a NUL. */
static int find_names(struct reader *r, const GElf_Shdr *table)
{
	Elf_Scn *scn = elf_getscn(r->elf, table->sh_link);
	GElf_Shdr header;
	Elf_Data *data;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_type != SHT_STRTAB ||
	    header.sh_size > MAX_SECTION)
		return -ENOEXEC;
	data = elf_getdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size || ((char *)data->d_buf)[data->d_size - 1])
		return -ENOEXEC;
	r->names = data->d_buf;
	r->names_size = data->d_size;
	return 0;
}

/* Reads the first table of that type; a damaged table counts as empty. */
static int read_table(struct reader *r, uint32_t type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t n;

	while ((scn = elf_nextscn(r->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == type)
			break;
	if (!scn || header.sh_size > MAX_SECTION || find_names(r, &header))
		return 0;
	r->syms = elf_getdata(scn, NULL);
	if (!r->syms || !r->syms->d_buf || r->syms->d_type != ELF_T_SYM)
		return 0;
	n = r->syms->d_size / gelf_fsize(r->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 1; i < n; i++) {
		GElf_Sym sym;

		if (gelf_getsym(r->syms, (int)i, &sym) && take_symbol(r, &sym))
			return -ENOMEM;
	}
	return 0;
}

int symfile_add_table_(const struct symfile *f, struct symtab *tab, Elf *elf, uint32_t type)
{
	struct reader r = { .f = f, .tab = tab, .elf = elf };
	GElf_Ehdr eh;

	if (!gelf_getehdr(elf, &eh))
		return 0;
	r.machine = eh.e_machine;
	return read_table(&r, type);
}

static int finish(struct symtab **tab)
{
	int rc = *tab ? symtab_finish(*tab) : 0;

	if (rc != -ENOENT)
		return rc;
	symtab_free(*tab);
	*tab = NULL;
	return 0;
}

/* The dynamic symbol table lacks static functions; some distributions put these into a small
 * compressed ELF file in a section of the file. */
int symfile_read_symbols_(struct symfile *f, Elf *elf, const char *file)
{
	int rc;

	f->tab = symtab_new();
	if (!f->tab)
		return -ENOMEM;
	rc = symfile_add_table_(f, f->tab, elf, SHT_SYMTAB);
	f->complete = symtab_count(f->tab);
	if (!rc && !f->complete)
		rc = symfile_add_table_(f, f->tab, elf, SHT_DYNSYM);
	if (!rc && !f->complete)
		rc = symfile_add_mini_(f, f->tab, elf);
	if (!rc && f->what == SYMFILE_FUNCTIONS)
		rc = symfile_add_stubs_(f->tab, elf);
	if (!rc && !f->complete && f->what == SYMFILE_FUNCTIONS && *file)
		rc = symfile_read_unnamed_(f, elf, file);
	if (!rc)
		rc = finish(&f->tab);
	return rc ? rc : finish(&f->unnamed);
}
