/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small program as an ELF file, byte by byte. Its code lies at 0x1000 in the file and
 * at `base` + 0x401000 in memory, so that an address guessed from section headers, or
 * taken for an offset in the file, is a wrong one.
 */
#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum { IMAGE_SIZE = 0x3000, IMAGE_CODE = 0x1000, IMAGE_CODE_SIZE = 0x800,
       IMAGE_VADDR = 0x401000, IMAGE_MAX_SYMS = 32 };

struct image {
	_Alignas(8) unsigned char bytes[IMAGE_SIZE];
	size_t nsyms, names;     /* so far */
};

#define IMAGE_AT(image, type, at) ((type *)(void *)((image)->bytes + (at)))

enum { POS_PHDR = 0x40, POS_NOTE = 0x200, POS_SYMS = 0x2000, POS_NAMES = 0x2400, POS_SHDR = 0x2800 };
enum { SEC_TEXT = 1, SEC_DATA, SEC_SYMS, SEC_NAMES, SEC_COUNT };

static inline void image_sections(struct image *m, uint32_t table)
{
	Elf64_Shdr *s = IMAGE_AT(m, Elf64_Shdr, POS_SHDR);

	s[SEC_TEXT] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = IMAGE_VADDR, .sh_offset = IMAGE_CODE, .sh_size = 0x400 };
	s[SEC_DATA] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
		.sh_addr = IMAGE_VADDR + 0x400, .sh_offset = IMAGE_CODE + 0x400, .sh_size = 0x100 };
	s[SEC_SYMS] = (Elf64_Shdr){ .sh_type = table, .sh_offset = POS_SYMS,
		.sh_size = sizeof(Elf64_Sym), .sh_link = SEC_NAMES, .sh_entsize = sizeof(Elf64_Sym) };
	s[SEC_NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = POS_NAMES, .sh_size = 1 };
}

/* An empty program with a build id of n bytes; table: SHT_SYMTAB or SHT_DYNSYM. */
static inline void image_init(struct image *m, uint32_t table, const void *build_id, size_t n)
{
	Elf64_Ehdr *h = IMAGE_AT(m, Elf64_Ehdr, 0);
	Elf64_Phdr *p = IMAGE_AT(m, Elf64_Phdr, POS_PHDR);
	Elf64_Nhdr *note = IMAGE_AT(m, Elf64_Nhdr, POS_NOTE);

	memset(m, 0, sizeof(*m));
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_type = ET_EXEC;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_phoff = POS_PHDR;
	h->e_shoff = POS_SHDR;
	h->e_ehsize = sizeof(*h);
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 3;
	h->e_shentsize = sizeof(Elf64_Shdr);
	h->e_shnum = SEC_COUNT;
	p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = IMAGE_VADDR - 0x1000,
		.p_filesz = 0x800, .p_memsz = 0x800, .p_align = 0x1000 };
	p[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = IMAGE_CODE,
		.p_vaddr = IMAGE_VADDR, .p_filesz = IMAGE_CODE_SIZE, .p_memsz = IMAGE_CODE_SIZE,
		.p_align = 0x1000 };
	p[2] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = POS_NOTE, .p_align = 4,
		.p_filesz = sizeof(*note) + 4 + n };
	*note = (Elf64_Nhdr){ .n_namesz = 4, .n_descsz = (Elf64_Word)n, .n_type = NT_GNU_BUILD_ID };
	memcpy(note + 1, "GNU", 4);
	memcpy((char *)(note + 1) + 4, build_id, n);
	image_sections(m, table);
	m->nsyms = m->names = 1;
}

/* A symbol at an offset from the code's start. */
static inline Elf64_Sym *image_symbol(struct image *m, const char *name, uint64_t at, uint64_t size,
				      unsigned char info)
{
	Elf64_Sym *sym = &IMAGE_AT(m, Elf64_Sym, POS_SYMS)[m->nsyms++];

	*sym = (Elf64_Sym){ .st_name = (Elf64_Word)m->names, .st_info = info, .st_shndx = SEC_TEXT,
			    .st_value = IMAGE_VADDR + at, .st_size = size };
	memcpy(m->bytes + POS_NAMES + m->names, name, strlen(name) + 1);
	m->names += strlen(name) + 1;
	IMAGE_AT(m, Elf64_Shdr, POS_SHDR)[SEC_SYMS].sh_size = m->nsyms * sizeof(*sym);
	IMAGE_AT(m, Elf64_Shdr, POS_SHDR)[SEC_NAMES].sh_size = m->names;
	return sym;
}

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define STATIC_FUNCTION ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define WEAK_FUNCTION ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LABEL ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

#endif
