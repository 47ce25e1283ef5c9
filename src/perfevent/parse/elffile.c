/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/parse/elffile.h"

#include "perfevent/attr/complain.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION_LIMIT (1ull << 30)   /* bytes of a section that is loaded */

static uint16_t read_u16(const struct pev_elf *elf, const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap16(v) : v;
}

uint32_t pev_elf_u32_(const struct pev_elf *elf, const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap32(v) : v;
}

uint64_t pev_elf_word_(const struct pev_elf *elf, const void *p)
{
	uint64_t v;

	if (!elf->wide)
		return pev_elf_u32_(elf, p);
	memcpy(&v, p, sizeof(v));
	return elf->swap ? __builtin_bswap64(v) : v;
}

/* A field that is in the structures of both classes. */
#define FIELD16(elf, p, type, field)                                                               \
	read_u16(elf, (p) + ((elf)->wide ? offsetof(Elf64_##type, field)                       \
					     : offsetof(Elf32_##type, field)))
#define FIELD32(elf, p, type, field)                                                               \
	pev_elf_u32_(elf, (p) + ((elf)->wide ? offsetof(Elf64_##type, field)                       \
					     : offsetof(Elf32_##type, field)))
#define WORD(elf, p, type, field)                                                                  \
	pev_elf_word_(elf, (p) + ((elf)->wide ? offsetof(Elf64_##type, field)                      \
					      : offsetof(Elf32_##type, field)))
#define SIZE(elf, type) ((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

/* Reads all of it, or returns -EBADMSG. */
static int read_at(const struct pev_elf *elf, uint64_t offset, void *buf, size_t size)
{
	char *p = buf;

	if (offset > elf->size || size > elf->size - offset)
		return -EBADMSG;
	while (size) {
		ssize_t n = pread(elf->fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* If there are too many sections or segments for the header, the counts are in the first section header. */
static int read_counts(struct pev_elf *elf)
{
	char p[sizeof(Elf64_Shdr)];
	int rc;

	if (!elf->shoff || (elf->shnum && elf->phnum != PN_XNUM && elf->shstrndx != SHN_XINDEX))
		return 0;
	rc = read_at(elf, elf->shoff, p, SIZE(elf, Shdr));
	if (rc)
		return rc;
	if (!elf->shnum)
		elf->shnum = (uint32_t)WORD(elf, p, Shdr, sh_size);
	if (elf->phnum == PN_XNUM)
		elf->phnum = FIELD32(elf, p, Shdr, sh_info);
	if (elf->shstrndx == SHN_XINDEX)
		elf->shstrndx = FIELD32(elf, p, Shdr, sh_link);
	return 0;
}

static int read_header(struct pev_elf *elf)
{
	char p[sizeof(Elf64_Ehdr)] = { 0 };
	int rc = read_at(elf, 0, p, EI_NIDENT);

	if (rc || memcmp(p, ELFMAG, SELFMAG) || (p[EI_CLASS] != ELFCLASS32 && p[EI_CLASS] != ELFCLASS64) ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
		return rc ? rc : -EBADMSG;
	elf->wide = p[EI_CLASS] == ELFCLASS64;
	elf->swap = p[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									      : ELFDATA2MSB);
	rc = read_at(elf, 0, p, SIZE(elf, Ehdr));
	if (rc)
		return rc;
	elf->machine = FIELD16(elf, p, Ehdr, e_machine);
	elf->phoff = WORD(elf, p, Ehdr, e_phoff);
	elf->shoff = WORD(elf, p, Ehdr, e_shoff);
	elf->phnum = FIELD16(elf, p, Ehdr, e_phnum);
	elf->shnum = elf->shoff ? FIELD16(elf, p, Ehdr, e_shnum) : 0;
	elf->shstrndx = FIELD16(elf, p, Ehdr, e_shstrndx);
	/* only the standard sizes of entries are valid */
	if ((elf->phnum && FIELD16(elf, p, Ehdr, e_phentsize) != SIZE(elf, Phdr)) ||
	    (elf->shnum && FIELD16(elf, p, Ehdr, e_shentsize) != SIZE(elf, Shdr)))
		return -EBADMSG;
	return read_counts(elf);
}

int pev_elf_begin_(struct pev_elf *elf, int fd)
{
	struct stat st;

	*elf = (struct pev_elf){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	elf->size = (uint64_t)st.st_size;
	return read_header(elf);
}

int pev_elf_open_(struct pev_elf *elf, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0)
		return -errno;
	rc = pev_elf_begin_(elf, fd);
	if (rc)
		close(fd);
	return rc;
}

void pev_elf_close_(struct pev_elf *elf)
{
	close(elf->fd);
	elf->fd = -1;
}

static int read_section(const struct pev_elf *elf, uint32_t i, struct pev_elf_section *s)
{
	char p[sizeof(Elf64_Shdr)];
	uint64_t at = (uint64_t)i * SIZE(elf, Shdr);
	int rc;

	if (i >= elf->shnum || elf->shoff > elf->size || at > elf->size - elf->shoff)
		return -EBADMSG;
	rc = read_at(elf, elf->shoff + at, p, SIZE(elf, Shdr));
	if (rc)
		return rc;
	s->name = FIELD32(elf, p, Shdr, sh_name);
	s->type = FIELD32(elf, p, Shdr, sh_type);
	s->link = FIELD32(elf, p, Shdr, sh_link);
	s->addr = WORD(elf, p, Shdr, sh_addr);
	s->offset = WORD(elf, p, Shdr, sh_offset);
	s->size = WORD(elf, p, Shdr, sh_size);
	s->entsize = WORD(elf, p, Shdr, sh_entsize);
	return 0;
}

int pev_elf_load_(const struct pev_elf *elf, const struct pev_elf_section *s, char **data)
{
	int rc;

	*data = NULL;
	if (s->type == SHT_NOBITS || s->offset > elf->size || s->size > elf->size - s->offset ||
	    s->size > SECTION_LIMIT)
		return -EBADMSG;
	*data = malloc(s->size + 1);
	if (!*data)
		return -ENOMEM;
	rc = read_at(elf, s->offset, *data, s->size);
	(*data)[s->size] = '\0';
	if (rc) {
		free(*data);
		*data = NULL;
	}
	return rc;
}

int pev_elf_find_section_(const struct pev_elf *elf, const char *name, struct pev_elf_section *s)
{
	struct pev_elf_section names;
	char *text;
	int rc;

	if (!elf->shnum || elf->shstrndx == SHN_UNDEF)
		return -ENOENT;
	rc = read_section(elf, elf->shstrndx, &names);
	if (!rc)
		rc = pev_elf_load_(elf, &names, &text);
	if (rc)
		return rc;
	rc = -ENOENT;
	for (uint32_t i = 0; i < elf->shnum && rc == -ENOENT; i++) {
		rc = read_section(elf, i, s);
		if (!rc && (s->name >= names.size || strcmp(text + s->name, name)))
			rc = -ENOENT;
	}
	free(text);
	return rc;
}

/* n program headers from the i-th on. */
static int read_segments(const struct pev_elf *elf, uint32_t i, uint32_t n, char *p)
{
	uint64_t at = (uint64_t)i * SIZE(elf, Phdr);

	if (elf->phoff > elf->size || at > elf->size - elf->phoff)
		return -EBADMSG;
	return read_at(elf, elf->phoff + at, p, n * SIZE(elf, Phdr));
}

int pev_elf_offset_(const struct pev_elf *elf, uint64_t addr, uint64_t *offset)
{
	enum { AT_ONCE = 16 };   /* of one read; most files have fewer */
	char segments[AT_ONCE * sizeof(Elf64_Phdr)];

	for (uint32_t i = 0; i < elf->phnum; i++) {
		const char *p = segments + i % AT_ONCE * SIZE(elf, Phdr);
		uint64_t from, size;
		int rc = i % AT_ONCE ? 0 : read_segments(elf, i, elf->phnum - i < AT_ONCE ? elf->phnum - i : AT_ONCE, segments);

		if (rc)
			return rc;
		from = WORD(elf, p, Phdr, p_vaddr);
		size = WORD(elf, p, Phdr, p_filesz);
		if (FIELD32(elf, p, Phdr, p_type) != PT_LOAD || addr < from || addr - from >= size)
			continue;
		*offset = WORD(elf, p, Phdr, p_offset) + (addr - from);
		return *offset < elf->size ? 0 : -EBADMSG;
	}
	return -ENOENT;
}

/* ---- symbols -------------------------------------------------------------------------- */

static void read_symbol(const struct pev_elf *elf, const char *p, struct pev_elf_symbol *sym)
{
	unsigned char info = (unsigned char)p[elf->wide ? offsetof(Elf64_Sym, st_info)
							: offsetof(Elf32_Sym, st_info)];

	sym->name = FIELD32(elf, p, Sym, st_name);
	sym->type = ELF64_ST_TYPE(info);
	sym->shndx = FIELD16(elf, p, Sym, st_shndx);
	sym->value = WORD(elf, p, Sym, st_value);
	sym->size = WORD(elf, p, Sym, st_size);
	if (elf->machine == EM_ARM)
		sym->value &= ~1ull;   /* Thumb bit */
}

static bool is_code(const struct pev_elf_symbol *sym)
{
	return sym->shndx != SHN_UNDEF &&
	       (sym->type == STT_FUNC || sym->type == STT_GNU_IFUNC || sym->type == STT_NOTYPE);
}

static int each_of(const struct pev_elf *elf, const struct pev_elf_section *table,
		   const struct pev_elf_section *strings, pev_elf_symbol_fn *fn, void *ctx)
{
	char *symbols, *text = NULL;
	int rc = pev_elf_load_(elf, table, &symbols);

	if (!rc)
		rc = pev_elf_load_(elf, strings, &text);
	for (uint64_t at = 0; !rc && SIZE(elf, Sym) <= table->size - at; at += SIZE(elf, Sym)) {
		struct pev_elf_symbol sym;

		read_symbol(elf, symbols + at, &sym);
		if (is_code(&sym) && sym.name < strings->size)
			rc = fn(&sym, text + sym.name, ctx);
	}
	free(symbols);
	free(text);
	return rc;
}

int pev_elf_each_symbol_(const struct pev_elf *elf, uint32_t type, pev_elf_symbol_fn *fn, void *ctx)
{
	struct pev_elf_section table, strings;
	int rc = 0;

	for (uint32_t i = 0; i < elf->shnum && !rc; i++) {
		rc = read_section(elf, i, &table);
		if (rc || table.type != type)
			continue;
		rc = read_section(elf, table.link, &strings);
		if (!rc)
			rc = each_of(elf, &table, &strings, fn, ctx);
	}
	return rc;
}

struct wanted {
	const char *name;
	uint64_t value;
};

/* "memcpy" also matches memcpy@@GLIBC_2.14. */
static int is_wanted(const struct pev_elf_symbol *sym, const char *have, void *ctx)
{
	struct wanted *w = ctx;
	size_t len = strlen(w->name);

	w->value = sym->value;
	return !strncmp(have, w->name, len) && (!have[len] || have[len] == '@');
}

/* Searches the symbol tables of this type. */
static int find_in(const struct pev_elf *elf, uint32_t type, struct wanted *w)
{
	int rc = pev_elf_each_symbol_(elf, type, is_wanted, w);

	return rc == 1 ? 0 : rc ? rc : -ENOENT;
}

static int complain(struct pev_error *err, const char *path, const char *symbol, int rc)
{
	pev_ask_(err, -rc, "find the function \"%.80s\" in %.150s", symbol, path);
	if (rc == -ENOENT && access(path, F_OK) == 0) {
		pev_say_(err, "the file has no such symbol");
		pev_advise_(err, "`nm -C` and `nm -D` list its symbols; a stripped file has only those "
			    "of `nm -D`, for others give the offset in the file");
	} else if (rc == -EBADMSG) {
		pev_say_(err, "not an ELF file, or a damaged one");
	} else {
		pev_say_errno_(err, -rc);
	}
	return rc;
}

int pev_elf_symbol(const char *path, const char *symbol, uint64_t *file_offset,
		   struct pev_error *err)
{
	struct wanted w = { .name = symbol };
	struct pev_elf elf;
	int rc = pev_elf_open_(&elf, path);

	if (rc)
		return complain(err, path, symbol, rc);
	rc = find_in(&elf, SHT_SYMTAB, &w);
	if (rc == -ENOENT)
		rc = find_in(&elf, SHT_DYNSYM, &w);
	if (!rc)
		rc = pev_elf_offset_(&elf, w.value, file_offset);
	pev_elf_close_(&elf);
	return rc ? complain(err, path, symbol, rc) : 0;
}
