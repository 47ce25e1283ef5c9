/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/elfid.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Files with a build id do not have more segments, sections or notes. */
enum { MAX_ENTRIES = 128, MAX_NOTES = 4096 };

static size_t up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

size_t elfid_of_notes(const char *notes, size_t n, size_t align, uint8_t id[ELFID_MAX])
{
	Elf32_Nhdr h;   /* the 64-bit one is the same */

	for (size_t at = 0; at + sizeof(h) <= n;) {
		size_t name = at + sizeof(h), desc;

		memcpy(&h, notes + at, sizeof(h));
		if (h.n_namesz > n || h.n_descsz > n)
			return 0;
		desc = up(name + h.n_namesz, align);
		if (desc + h.n_descsz > n)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
		    h.n_descsz && h.n_descsz <= ELFID_MAX) {
			memset(id, 0, ELFID_MAX);
			memcpy(id, notes + desc, h.n_descsz);
			return h.n_descsz;
		}
		at = up(desc + h.n_descsz, align);
	}
	return 0;
}

/* Position of notes; align 0: none. */
struct place {
	uint64_t offset, size, align;
};

union entry {
	Elf64_Phdr p64;
	Elf64_Shdr s64;
	Elf32_Phdr p32;
	Elf32_Shdr s32;
};

#define PLACE(is, at, n, to) ((is) ? (struct place){ at, n, (to) == 8 ? 8 : 4 } : (struct place){ 0 })

static struct place place64(const union entry *e)
{
	return PLACE(e->p64.p_type == PT_NOTE, e->p64.p_offset, e->p64.p_filesz, e->p64.p_align);
}

static struct place place32(const union entry *e)
{
	return PLACE(e->p32.p_type == PT_NOTE, e->p32.p_offset, e->p32.p_filesz, e->p32.p_align);
}

static struct place section64(const union entry *e)
{
	return PLACE(e->s64.sh_type == SHT_NOTE, e->s64.sh_offset, e->s64.sh_size, e->s64.sh_addralign);
}

static struct place section32(const union entry *e)
{
	return PLACE(e->s32.sh_type == SHT_NOTE, e->s32.sh_offset, e->s32.sh_size, e->s32.sh_addralign);
}

/* The table of segments or sections. */
struct table {
	uint64_t at;
	size_t n, entry_size, want_size;
	struct place (*place)(const union entry *e);
};

static size_t read_notes(int fd, const struct place *p, uint8_t id[ELFID_MAX])
{
	char notes[MAX_NOTES];
	size_t size = p->size < sizeof(notes) ? (size_t)p->size : sizeof(notes);
	ssize_t n;

	if (!p->align || p->offset > INT64_MAX)
		return 0;
	n = pread(fd, notes, size, (off_t)p->offset);
	return n > 0 ? elfid_of_notes(notes, (size_t)n, p->align, id) : 0;
}

static size_t walk(int fd, const struct table *t, uint8_t id[ELFID_MAX])
{
	char bytes[MAX_ENTRIES * sizeof(union entry)];
	size_t n = t->n < MAX_ENTRIES ? t->n : MAX_ENTRIES, found = 0;
	ssize_t got = t->at <= INT64_MAX && t->entry_size == t->want_size
		? pread(fd, bytes, n * t->entry_size, (off_t)t->at) : 0;

	for (size_t i = 0; got > 0 && i < (size_t)got / t->entry_size && !found; i++) {
		union entry e = { 0 };
		struct place p;

		memcpy(&e, bytes + i * t->entry_size, t->entry_size);
		p = t->place(&e);
		found = read_notes(fd, &p, id);
	}
	return found;
}

/* From segments, as in the kernel, or else from sections: Go's linker makes a segment of its own note only. */
#define TABLES(h, bits) {                                                                          \
	{ (h)->e_phoff, (h)->e_phnum, (h)->e_phentsize, sizeof(Elf##bits##_Phdr), place##bits },   \
	{ (h)->e_shoff, (h)->e_shnum, (h)->e_shentsize, sizeof(Elf##bits##_Shdr), section##bits }, \
}

static size_t walk64(int fd, const Elf64_Ehdr *h, uint8_t id[ELFID_MAX])
{
	const struct table tables[] = TABLES(h, 64);
	size_t found = walk(fd, &tables[0], id);

	return found ? found : walk(fd, &tables[1], id);
}

static size_t walk32(int fd, const Elf32_Ehdr *h, uint8_t id[ELFID_MAX])
{
	const struct table tables[] = TABLES(h, 32);
	size_t found = walk(fd, &tables[0], id);

	return found ? found : walk(fd, &tables[1], id);
}

size_t elfid_read(int fd, uint8_t id[ELFID_MAX])
{
	enum { NATIVE = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB };
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} u = { { 0 } };
	ssize_t n = pread(fd, &u, sizeof(u), 0);

	if (n < (ssize_t)sizeof(u.h32) || memcmp(u.ident, ELFMAG, SELFMAG) || u.ident[EI_DATA] != NATIVE)
		return 0;
	if (u.ident[EI_CLASS] == ELFCLASS64 && n == sizeof(u.h64))
		return walk64(fd, &u.h64, id);
	return u.ident[EI_CLASS] == ELFCLASS32 ? walk32(fd, &u.h32, id) : 0;
}
