/* SPDX-License-Identifier: Apache-2.0 */
/* Uses read(2), not mmap(2): if a file is truncated meanwhile, that gives an error and no SIGBUS. */
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Locations of variables, macros, and indexes that are not needed: a third of a library's debug
 * data. libdw unpacks all sections that it knows at once, so these are marked as stripped in its
 * view of the file; the file itself is not written. */
static const char *const unused[] = {
	"debug_loc", "debug_loclists", "debug_macro", "debug_macinfo", "debug_pubnames", "debug_pubtypes",
	"debug_gnu_pubnames", "debug_gnu_pubtypes",
};
enum { NUNUSED = sizeof(unused) / sizeof(*unused) };

static bool is_unused(const char *section)
{
	const char *name = section + (section[0] == '.') + (section[0] && section[1] == 'z');

	for (size_t i = 0; i < NUNUSED; i++)
		if (section[0] == '.' && !strcmp(name, unused[i]))
			return true;
	return false;
}

static void hide_unused(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &strings))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;

		if (!name || header.sh_type != SHT_PROGBITS || !is_unused(name))
			continue;
		header.sh_type = SHT_NOBITS;
		gelf_update_shdr(scn, &header);
	}
}

int elf_source_open_(struct elf_source *s, int fd, bool locations)
{
	elf_version(EV_CURRENT);
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	s->elf = elf_begin(s->fd, ELF_C_READ, NULL);
	if (s->elf && elf_kind(s->elf) == ELF_K_ELF) {
		if (!locations)
			hide_unused(s->elf);
		s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
	}
	return s->dwarf ? 0 : -ENOEXEC;
}

void elf_source_close_(struct elf_source *s)
{
	dwarf_end(s->dwarf);
	elf_end(s->elf);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct elf_source){ .fd = -1 };
}

size_t elf_source_bytes_(const struct elf_source *s)
{
	Elf_Scn *scn = NULL;
	size_t strings, bytes = 0;
	GElf_Shdr header;
	const char *name;

	if (!s->elf || elf_getshdrstrndx(s->elf, &strings))
		return 0;
	while ((scn = elf_nextscn(s->elf, scn))) {
		if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(s->elf, strings, header.sh_name);
		if (name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8)))
			bytes += header.sh_size;
	}
	return bytes;
}

/* ---- an empty file ---------------------------------------------------------- */

struct empty {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	char names[24];
	char info[8];
};

static const struct empty empty_file = {
	.header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = offsetof(struct empty, sections), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 1,
	},
	.sections = {
		[1] = { .sh_name = 13, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct empty, names),
			.sh_size = sizeof(((struct empty *)0)->names), .sh_addralign = 1 },
		[2] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct empty, info),
			.sh_size = sizeof(((struct empty *)0)->info), .sh_addralign = 1 },
	},
	.names = "\0.debug_info\0.shstrtab",
};

int elf_source_empty_(struct elf_source *s)
{
	s->fd = -1;
	s->elf = elf_memory((char *)(uintptr_t)&empty_file, sizeof(empty_file));
	if (s->elf)
		s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
	return s->dwarf ? 0 : -ENOMEM;
}
