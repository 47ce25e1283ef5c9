/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elfid.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* More segments, or more notes in one, are nobody's who has a build id. */
enum { MAX_SEGMENTS = 64, MAX_NOTES = 4096 };

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

/* A segment, of either class. */
struct segment_head {
	uint32_t type;
	uint64_t offset, size, align;
};

static size_t read_notes(int fd, const struct segment_head *s, uint8_t id[ELFID_MAX])
{
	char notes[MAX_NOTES];
	size_t size = s->size < sizeof(notes) ? (size_t)s->size : sizeof(notes);
	ssize_t n;

	if (s->type != PT_NOTE || s->offset > INT64_MAX)
		return 0;
	n = pread(fd, notes, size, (off_t)s->offset);
	return n > 0 ? elfid_of_notes(notes, (size_t)n, s->align == 8 ? 8 : 4, id) : 0;
}

static size_t walk64(int fd, const Elf64_Ehdr *h, uint8_t id[ELFID_MAX])
{
	Elf64_Phdr p[MAX_SEGMENTS];
	size_t n = h->e_phnum < MAX_SEGMENTS ? h->e_phnum : MAX_SEGMENTS, found = 0;
	ssize_t got = h->e_phoff <= INT64_MAX && h->e_phentsize == sizeof(*p)
		? pread(fd, p, n * sizeof(*p), (off_t)h->e_phoff) : 0;

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*p) && !found; i++)
		found = read_notes(fd, &(struct segment_head){ p[i].p_type, p[i].p_offset, p[i].p_filesz,
							       p[i].p_align }, id);
	return found;
}

static size_t walk32(int fd, const Elf32_Ehdr *h, uint8_t id[ELFID_MAX])
{
	Elf32_Phdr p[MAX_SEGMENTS];
	size_t n = h->e_phnum < MAX_SEGMENTS ? h->e_phnum : MAX_SEGMENTS, found = 0;
	ssize_t got = h->e_phentsize == sizeof(*p) ? pread(fd, p, n * sizeof(*p), (off_t)h->e_phoff) : 0;

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*p) && !found; i++)
		found = read_notes(fd, &(struct segment_head){ p[i].p_type, p[i].p_offset, p[i].p_filesz,
							       p[i].p_align }, id);
	return found;
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
