/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files by libelf with read(2), not mmap(2): if a file is truncated meanwhile, that gives
 * an error and no SIGBUS. Addresses are translated by PT_LOAD only, as in the kernel: this works
 * for PIE, for programs at fixed addresses and for prelinked libraries.
 */
#include "symbols/elf/symfile.h"

#include "base/room.h"
#include "symbols/elf/fdes.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECTION (512ull << 20)   /* limit in bytes for a table of symbols or names */

enum { SYMFILE_STUBS = 1 };      /* the group of stubs, which are in no symbol table */

struct segment {
	uint64_t offset, filesz, vaddr, memsz;
	uint64_t used;           /* 1: it has what the file is read for: code, or variables */
	uint64_t code;           /* 1: it has code */
};

struct symfile {
	struct segment *segments;
	size_t nsegments;
	struct symtab *tab;          /* NULL: no function has a name */
	struct symtab *unnamed;      /* functions that tab may lack; NULL: tab has all, or they are not known */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct debug_link link;      /* empty name: none */
	bool complete;               /* tab has all functions, also static ones */
	enum symfile_what what;
};

/* ---- unnamed ---------------------------------------------------------------------------- */

/*
 * Functions of stripped files. Their names are gone, their ranges are not: unwind tables have them. Each is named by its
 * file and address, "app+0x1320".
 */

enum { MAX_FUNCTIONS = 1 << 20 };

/* Fills f->unnamed, for a file of that name. 0 or -ENOMEM. */
static int symfile_read_unnamed_(struct symfile *f, Elf *elf, const char *file)
{
	struct fdes fdes;
	struct fde fde;
	int rc = 0;

	if (!fdes_open(&fdes, elf, MAX_SECTION))
		return 0;
	f->unnamed = symtab_new();
	if (!f->unnamed)
		return -ENOMEM;
	for (int i = 0; i < MAX_FUNCTIONS && !rc && fdes_next(&fdes, &fde); i++) {
		char name[SYMFILE_NAME_MAX + sizeof("+0x0123456789abcdef")];
		int len = snprintf(name, sizeof(name), "%.*s+%#llx", SYMFILE_NAME_MAX, file, (unsigned long long)fde.start);

		rc = symtab_add(f->unnamed, &(struct symtab_entry){ .start = fde.start, .end = fde.end,
								    .name = name, .len = (size_t)len });
	}
	return rc;
}

static size_t symfile_section_build_id_(Elf *elf, uint8_t id[BUILD_ID_MAX]);
static int symfile_add_table_(const struct symfile *f, struct symtab *tab, Elf *elf, uint32_t type);

/* ---- stubs ------------------------------------------------------------------------------ */

/*
 * Names of PLT stubs, through which calls into other files go: "malloc@plt", as in perf and gdb.
 * No symbol table has them. A stub jumps to the address in its slot, and a relocation says which
 * symbol's address goes into that slot.
 */

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

/* Adds names of the file's PLT stubs, which a debug file does not have. 0 or
 * -ENOMEM. */
static int symfile_add_stubs_(struct symtab *tab, Elf *elf)
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

/* ---- debug ------------------------------------------------------------------------------ */

/*
 * Names that were moved out of a file: into a debug file, found by .gnu_debuglink (with its
 * checksum) or by its build id, or into .gnu_debugdata, compressed.
 */

enum { CHUNK = 256 << 10 };

#define MAX_MINI (256ull << 20)          /* limit for the unpacked .gnu_debugdata */
#define MAX_LZMA_MEMORY (128ull << 20)

/* The section's raw content; NULL: there is none. */
static Elf_Data *section_named(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *have;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS ||
		    header.sh_size > MAX_SECTION)
			continue;
		have = elf_strptr(elf, strings, header.sh_name);
		if (have && !strcmp(have, name))
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

/* ---- .gnu_debuglink --------------------------------------------------------- */

/* A file name, padded with zeros to a multiple of four, then the file's CRC-32 in the file's byte order. */
static void symfile_read_link_(struct symfile *f, Elf *elf)
{
	Elf_Data *data = section_named(elf, ".gnu_debuglink");
	const unsigned char *p;
	size_t len;
	bool big = false;
	char *ident = elf_getident(elf, NULL);

	if (!data || !data->d_buf || !ident)
		return;
	big = ident[EI_DATA] == ELFDATA2MSB;
	len = strnlen(data->d_buf, data->d_size);
	if (!len || len >= sizeof(f->link.name) || ((len + 4) & ~3ul) + 4 > data->d_size ||
	    memchr(data->d_buf, '/', len))
		return;
	p = (const unsigned char *)data->d_buf + ((len + 4) & ~3ul);
	f->link.crc = big ? (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3] :
			    (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
	memcpy(f->link.name, data->d_buf, len);
}

static bool has_crc(int fd, uint32_t want)
{
	unsigned char *buf = malloc(CHUNK);
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n = -1;

	while (buf && (n = pread(fd, buf, CHUNK, at)) > 0) {
		crc = lzma_crc32(buf, (size_t)n, crc);
		at += n;
	}
	free(buf);
	return !n && at && crc == want;
}

/* ---- by build id ------------------------------------------------------------ */

/* Debug files have note sections, but no data in their segments. */
static bool has_build_id_of(Elf *elf, const struct symfile *f)
{
	uint8_t id[BUILD_ID_MAX];
	size_t n = symfile_section_build_id_(elf, id);

	return n && n == f->build_id_size && !memcmp(id, f->build_id, n);
}

static int replace_table(struct symfile *f, Elf *elf)
{
	struct symtab *tab = symtab_new();
	int rc = tab ? symfile_add_table_(f, tab, elf, SHT_SYMTAB) : -ENOMEM;

	if (!rc && !symtab_count(tab))
		rc = -ENOENT;
	if (!rc && f->tab)
		rc = symtab_copy_group(tab, f->tab, SYMFILE_STUBS);
	if (!rc)
		rc = symtab_finish(tab);
	if (rc) {
		symtab_free(tab);
		return rc;
	}
	symtab_free(f->tab);
	symtab_free(f->unnamed);
	f->tab = tab;
	f->unnamed = NULL;
	f->complete = true;
	return 0;
}

int symfile_add_debug(struct symfile *f, int fd, bool by_link)
{
	Elf *elf;
	int rc;

	if (by_link && (!f->link.name[0] || !has_crc(fd, f->link.crc)))
		return -ESTALE;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		rc = -ENOEXEC;
	else if (!by_link && !has_build_id_of(elf, f))
		rc = -ESTALE;
	else
		rc = replace_table(f, elf);
	elf_end(elf);
	return rc;
}

/* ---- .gnu_debugdata --------------------------------------------------------- */

/* Unpacks an xz stream, up to MAX_MINI bytes; NULL: malformed. */
static void *unpack(const void *in, size_t size, size_t *out_size)
{
	lzma_stream s = LZMA_STREAM_INIT;
	size_t cap = size < MAX_MINI / 4 ? size * 4 + CHUNK : MAX_MINI;
	unsigned char *out = malloc(cap), *more;
	lzma_ret rc = lzma_stream_decoder(&s, MAX_LZMA_MEMORY, LZMA_CONCATENATED);

	s.next_in = in;
	s.avail_in = size;
	while (out && rc == LZMA_OK) {
		s.next_out = out + s.total_out;
		s.avail_out = cap - s.total_out;
		rc = lzma_code(&s, LZMA_FINISH);
		if (rc != LZMA_OK || s.avail_out)
			continue;
		more = cap < MAX_MINI ? realloc(out, cap *= 2) : NULL;
		if (!more)
			break;
		out = more;
	}
	*out_size = s.total_out;
	lzma_end(&s);
	if (rc == LZMA_STREAM_END)
		return out;
	free(out);
	return NULL;
}

/* Adds the symbols in .gnu_debugdata. 0 or -ENOMEM. */
static int symfile_add_mini_(const struct symfile *f, struct symtab *tab, Elf *elf)
{
	Elf_Data *data = section_named(elf, ".gnu_debugdata");
	size_t size;
	char *image;
	Elf *mini;
	int rc = 0;

	if (!data || !data->d_buf || !data->d_size)
		return 0;
	image = unpack(data->d_buf, data->d_size, &size);
	if (!image)
		return 0;
	mini = elf_memory(image, size);
	if (mini && elf_kind(mini) == ELF_K_ELF)
		rc = symfile_add_table_(f, tab, mini, SHT_SYMTAB);
	elf_end(mini);
	free(image);
	return rc;
}

/* ---- symbols ---------------------------------------------------------------------------- */

/* Symbol tables of the file itself or of its debug file. */

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

/* Adds the symbols of a table (SHT_SYMTAB, SHT_DYNSYM) in an ELF file with the same addresses to
 * an unfinished table. 0 or -ENOMEM. */
static int symfile_add_table_(const struct symfile *f, struct symtab *tab, Elf *elf, uint32_t type)
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
static int symfile_read_symbols_(struct symfile *f, Elf *elf, const char *file)
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

enum { MAX_SEGMENTS = 256, MAX_NOTES = 1 << 16, MAX_NOTE_SECTIONS = 24, MAX_SECTIONS = 1 << 16 };

/* ---- segments, build id --------------------------------------------------- */

/* The build id among n bytes of notes. */
static size_t note_build_id(Elf *elf, int64_t offset, size_t n, uint64_t align,
			    uint8_t id[BUILD_ID_MAX])
{
	GElf_Nhdr note;
	Elf_Data *data;
	size_t at = 0, name, desc;

	if (n > MAX_NOTES)
		return 0;
	data = elf_getdata_rawchunk(elf, offset, n, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(id, (char *)data->d_buf + desc, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

/* The build id in the note sections; 0: none. Debug files have it there, and so do
 * files from Go's linker (1.24 and later), whose only note segment has just its own note. */
static size_t symfile_section_build_id_(Elf *elf, uint8_t id[BUILD_ID_MAX])
{
	size_t found = 0, notes = 0;
	Elf_Scn *scn = NULL;

	/* libelf keeps everything that it reads, so that is limited */
	for (int i = 0; !found && i < MAX_SECTIONS && notes < MAX_NOTE_SECTIONS && (scn = elf_nextscn(elf, scn)); i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE)
			continue;
		notes++;
		found = note_build_id(elf, (int64_t)header.sh_offset, header.sh_size, header.sh_addralign, id);
	}
	return found;
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
		if (ph.p_type == PT_NOTE && !f->build_id_size)
			f->build_id_size = note_build_id(elf, (int64_t)ph.p_offset, ph.p_filesz, ph.p_align,
							 f->build_id);
		if (ph.p_type != PT_LOAD || ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
		    ph.p_offset + ph.p_filesz < ph.p_offset)
			continue;
		f->segments[f->nsegments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_memsz,
			(ph.p_flags & (f->what == SYMFILE_VARIABLES ? PF_W : PF_X)) != 0, (ph.p_flags & PF_X) != 0 };
	}
	if (!f->build_id_size)
		f->build_id_size = symfile_section_build_id_(elf, f->build_id);
	return f->nsegments ? 0 : -ENOEXEC;
}

/* ---- files ---------------------------------------------------------------- */

static struct symfile *read_elf(Elf *elf, enum symfile_what what, const char *file)
{
	struct symfile *f = elf ? calloc(1, sizeof(*f)) : NULL;
	int rc = !elf ? -ENOEXEC : !f ? -ENOMEM : elf_kind(elf) != ELF_K_ELF ? -ENOEXEC : 0;

	if (!rc) {
		f->what = what;
		rc = read_segments(f, elf);
	}
	if (!rc)
		rc = symfile_read_symbols_(f, elf, file);
	if (!rc)
		symfile_read_link_(f, elf);
	elf_end(elf);
	if (!rc)
		return f;
	symfile_free(f);
	errno = -rc;
	return NULL;
}

struct symfile *symfile_open(int fd, enum symfile_what what, const char *file)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_begin(fd, ELF_C_READ, NULL), what, file);
}

struct symfile *symfile_from_image(void *image, size_t size, const char *file)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_memory(image, size), SYMFILE_FUNCTIONS, file);
}

void symfile_free(struct symfile *f)
{
	if (!f)
		return;
	symtab_free(f->tab);
	symtab_free(f->unnamed);
	free(f->segments);
	free(f);
}

/* ---- transfer between processes --------------------------------------------- */

struct packed {
	uint64_t nsegments;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_size;
	struct debug_link link;
	uint32_t complete, what;
	uint64_t tab_size;       /* bytes after the segments; 0: no function has a name */
	uint64_t unnamed_size;   /* bytes after these; 0: none */
};

int symfile_pack(const struct symfile *f, struct parser_bytes *out)
{
	struct packed head = { .nsegments = f->nsegments, .build_id_size = (uint32_t)f->build_id_size,
			       .link = f->link, .complete = f->complete, .what = f->what,
			       .tab_size = f->tab ? symtab_packed_size(f->tab) : 0,
			       .unnamed_size = f->unnamed ? symtab_packed_size(f->unnamed) : 0 };

	memcpy(head.build_id, f->build_id, sizeof(head.build_id));
	if (parser_put(out, &head, sizeof(head)) ||
	    parser_put(out, f->segments, f->nsegments * sizeof(*f->segments)))
		return -ENOMEM;
	if (f->tab && symtab_pack(f->tab, out))
		return -ENOMEM;
	return f->unnamed ? symtab_pack(f->unnamed, out) : 0;
}

static bool is_sane(const struct packed *head, size_t size)
{
	size_t rest = size - sizeof(*head);

	return head->nsegments && head->nsegments <= MAX_SEGMENTS &&
	       rest >= head->nsegments * sizeof(struct segment) &&
	       head->tab_size <= rest - head->nsegments * sizeof(struct segment) &&
	       head->unnamed_size == rest - head->nsegments * sizeof(struct segment) - head->tab_size &&
	       head->build_id_size <= BUILD_ID_MAX && head->what <= SYMFILE_VARIABLES &&
	       memchr(head->link.name, '\0', sizeof(head->link.name));
}

struct symfile *symfile_unpack(const void *bytes, size_t size)
{
	const char *segments = (const char *)bytes + sizeof(struct packed), *tab;
	struct symfile *f = size >= sizeof(struct packed) ? calloc(1, sizeof(*f)) : NULL;
	struct packed head;

	if (!f)
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	if (!is_sane(&head, size) || !(f->segments = calloc(head.nsegments, sizeof(*f->segments)))) {
		free(f);
		return NULL;
	}
	f->nsegments = head.nsegments;
	memcpy(f->segments, segments, f->nsegments * sizeof(*f->segments));
	memcpy(f->build_id, head.build_id, sizeof(f->build_id));
	f->build_id_size = head.build_id_size;
	f->link = head.link;
	f->complete = head.complete;
	f->what = (enum symfile_what)head.what;
	tab = segments + f->nsegments * sizeof(*f->segments);
	f->tab = head.tab_size ? symtab_unpack(tab, head.tab_size) : NULL;
	f->unnamed = head.unnamed_size ? symtab_unpack(tab + head.tab_size, head.unnamed_size) : NULL;
	if (!f->tab == !head.tab_size && !f->unnamed == !head.unnamed_size)
		return f;
	symfile_free(f);
	return NULL;
}

/* ---- lookup --------------------------------------------------------------- */

/* Variables without a value in the file (.bss) are behind its end. Mappings consist of whole pages, so bytes before and after
 * a segment in its pages are mapped, too. If two segments share a page, the one that contains the byte is used. */
bool symfile_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (int slack = 0; slack < 2; slack++)
		for (size_t i = 0; i < f->nsegments; i++) {
			const struct segment *s = &f->segments[i];
			uint64_t from = slack ? s->offset & ~page : s->offset;
			uint64_t to = s->offset + (f->what == SYMFILE_VARIABLES ? s->memsz : s->filesz);

			if (slack)
				to = (to + page) & ~page;
			if (!s->used || offset < from || offset >= to)
				continue;
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	return false;
}

/* A symbol of unknown size does not reach into the next function. */
static bool find(const struct symfile *f, uint64_t offset, uint64_t *vaddr, struct symtab_hit *hit)
{
	struct symtab_hit unnamed;
	bool found;

	if (!symfile_vaddr(f, offset, vaddr))
		return false;
	found = f->tab && symtab_find(f->tab, *vaddr, hit);
	if ((found && !hit->open) || !f->unnamed || !symtab_find(f->unnamed, *vaddr, &unnamed) ||
	    (found && unnamed.start <= hit->start))
		return found;
	*hit = unnamed;
	return true;
}

bool symfile_range(const struct symfile *f, uint64_t offset, uint64_t *start, uint64_t *end)
{
	struct symtab_hit hit;
	uint64_t vaddr;

	if (!find(f, offset, &vaddr, &hit))
		return false;
	*start = hit.start;
	*end = hit.end;
	return true;
}

bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into)
{
	struct symtab_hit hit;
	uint64_t vaddr;

	if (!find(f, offset, &vaddr, &hit))
		return false;
	*name = hit.name;
	*into = vaddr - hit.start;
	return true;
}

bool symfile_find_behind(const struct symfile *f, uint64_t offset, uint64_t distance, struct symfile_variable *v)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	struct symtab_hit hit;

	for (size_t i = 0; i < f->nsegments; i++) {
		const struct segment *s = &f->segments[i];
		const uint64_t vaddr = s->vaddr + (offset - s->offset) + distance;

		if (!s->code || offset < (s->offset & ~page) || offset >= s->offset + s->filesz)
			continue;
		if (!f->tab || !symtab_find(f->tab, vaddr, &hit) || hit.open)
			return false;
		*v = (struct symfile_variable){ hit.name, vaddr - hit.start, hit.end - hit.start };
		return true;
	}
	return false;
}

size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX])
{
	memcpy(id, f->build_id, f->build_id_size);
	return f->build_id_size;
}

bool symfile_is_complete(const struct symfile *f)
{
	return f->complete;
}

const struct debug_link *symfile_debug_link(const struct symfile *f)
{
	return f->link.name[0] ? &f->link : NULL;
}

size_t symfile_bytes(const struct symfile *f)
{
	return sizeof(*f) + f->nsegments * sizeof(*f->segments) + (f->tab ? symtab_bytes(f->tab) : 0) +
	       (f->unnamed ? symtab_bytes(f->unnamed) : 0);
}
