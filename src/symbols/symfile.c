/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Through libelf, by read(2) and never by mmap(2): a file that shrinks meanwhile gives an
 * error and no SIGBUS. Addresses are translated by PT_LOAD alone, as the kernel does it:
 * that holds for PIE, for programs at fixed addresses and for prelinked libraries.
 */
#include "symbols/symfile.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 256, MAX_NOTES = 1 << 16 };

#define MAX_SECTION (512ull << 20)   /* bytes of a table of symbols or names */

struct segment {
	uint64_t offset, filesz, vaddr, memsz;
	bool code;
};

struct symfile {
	struct segment *segments;
	size_t nsegments;
	struct symtab *tab;          /* NULL: no function has a name */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
};

/* ---- segments, build id --------------------------------------------------- */

static void take_build_id(struct symfile *f, Elf *elf, const GElf_Phdr *ph)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t at = 0, name, desc;

	if (f->build_id_size || ph->p_filesz > MAX_NOTES)
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)ph->p_offset, ph->p_filesz,
				    ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(f->build_id, (char *)data->d_buf + desc, note.n_descsz);
		f->build_id_size = note.n_descsz;
		return;
	}
}

static int read_segments(struct symfile *f, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) || !n)
		return -ENOEXEC;
	n = n < MAX_SEGMENTS ? n : MAX_SEGMENTS;
	f->segments = calloc(n, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			return -ENOEXEC;
		if (ph.p_type == PT_NOTE)
			take_build_id(f, elf, &ph);
		if (ph.p_type != PT_LOAD || ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
		    ph.p_offset + ph.p_filesz < ph.p_offset)
			continue;
		f->segments[f->nsegments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_memsz, ph.p_flags & PF_X };
	}
	return f->nsegments ? 0 : -ENOEXEC;
}

static const struct segment *code_around(const struct symfile *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct segment *s = &f->segments[i];

		if (s->code && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return s;
	}
	return NULL;
}

/* ---- symbols -------------------------------------------------------------- */

struct reader {
	struct symfile *f;
	Elf *elf;
	uint16_t machine;
	Elf_Data *syms;
	const char *names;
	size_t names_size;
	uint32_t section;        /* whose header `header` is; SHN_UNDEF: of none */
	GElf_Shdr header;
};

/* Marks for disassemblers ("$x", "$d.1"), not functions. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
		return false;
	return name[0] == '$' && name[1] && strchr("xdat", name[1]);
}

/* Which of several names of an address is shown: strong before weak, global before local,
 * fewer underscores first; those with a size before all others. */
static uint8_t rank(const GElf_Sym *sym, const char *name)
{
	size_t underscores = strspn(name, "_");
	uint8_t r = underscores < 3 ? (uint8_t)(3 - underscores) : 0;

	r |= GELF_ST_BIND(sym->st_info) == STB_GLOBAL ? 4 : 0;
	r |= GELF_ST_BIND(sym->st_info) != STB_WEAK ? 8 : 0;
	return r | (sym->st_size ? 16 : 0);
}

/* Where a symbol's section ends; 0: it is not in one that holds code. */
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
	if (!(r->header.sh_flags & SHF_EXECINSTR) || sym->st_value < r->header.sh_addr ||
	    sym->st_value - r->header.sh_addr >= r->header.sh_size)
		return 0;
	return r->header.sh_addr + r->header.sh_size;
}

static int take_symbol(struct reader *r, GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct symtab_entry e = { .open = !sym->st_size };
	const struct segment *segment;
	uint64_t segment_end;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_name >= r->names_size)
		return 0;
	if (r->machine == EM_ARM)
		sym->st_value &= ~1ull;   /* the bit that says Thumb */
	e.name = r->names + sym->st_name;
	segment = code_around(r->f, sym->st_value);
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
	return symtab_add(r->f->tab, &e);
}

/* The strings of a table: they end with a NUL, or it is none. */
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

/* Reads the first table of that type; what is damaged counts as empty. */
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

static int read_symbols(struct symfile *f, Elf *elf)
{
	struct reader r = { .f = f, .elf = elf };
	GElf_Ehdr eh;
	int rc;

	f->tab = symtab_new();
	if (!f->tab || !gelf_getehdr(elf, &eh))
		return f->tab ? -ENOEXEC : -ENOMEM;
	r.machine = eh.e_machine;
	rc = read_table(&r, SHT_SYMTAB);
	if (!rc && !symtab_count(f->tab))
		rc = read_table(&r, SHT_DYNSYM);
	if (!rc)
		rc = symtab_finish(f->tab);
	if (rc == -ENOENT) {
		symtab_free(f->tab);
		f->tab = NULL;
		rc = 0;
	}
	return rc;
}

/* ---- files ---------------------------------------------------------------- */

static struct symfile *read_elf(Elf *elf)
{
	struct symfile *f = elf ? calloc(1, sizeof(*f)) : NULL;
	int rc = !elf ? -ENOEXEC : !f ? -ENOMEM : elf_kind(elf) != ELF_K_ELF ? -ENOEXEC : 0;

	if (!rc)
		rc = read_segments(f, elf);
	if (!rc)
		rc = read_symbols(f, elf);
	elf_end(elf);
	if (!rc)
		return f;
	symfile_free(f);
	errno = -rc;
	return NULL;
}

struct symfile *symfile_open(int fd)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_begin(fd, ELF_C_READ, NULL));
}

struct symfile *symfile_from_image(void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_memory(image, size));
}

void symfile_free(struct symfile *f)
{
	if (!f)
		return;
	symtab_free(f->tab);
	free(f->segments);
	free(f);
}

/* ---- asking --------------------------------------------------------------- */

/* A mapping is made of whole pages: what stands before and behind a segment in its pages
 * is mapped, too. Where two segments share a page, the one that holds the byte is meant. */
static bool to_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (int slack = 0; slack < 2; slack++)
		for (size_t i = 0; i < f->nsegments; i++) {
			const struct segment *s = &f->segments[i];
			uint64_t from = slack ? s->offset & ~page : s->offset;
			uint64_t to = s->offset + s->filesz;

			if (slack)
				to = (to + page) & ~page;
			if (!s->code || offset < from || offset >= to)
				continue;
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	return false;
}

bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into)
{
	struct symtab_hit hit;
	uint64_t vaddr;

	if (!f->tab || !to_vaddr(f, offset, &vaddr) || !symtab_find(f->tab, vaddr, &hit))
		return false;
	*name = hit.name;
	*into = vaddr - hit.start;
	return true;
}

size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX])
{
	memcpy(id, f->build_id, f->build_id_size);
	return f->build_id_size;
}

size_t symfile_bytes(const struct symfile *f)
{
	return sizeof(*f) + f->nsegments * sizeof(*f->segments) + (f->tab ? symtab_bytes(f->tab) : 0);
}
