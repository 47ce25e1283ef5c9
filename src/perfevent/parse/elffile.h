/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an ELF file (either class and byte order) that are needed to place a probe. Files
 * are untrusted: every access is checked against the file's size. The file is read, not mapped,
 * so that truncating it gives an error and no SIGBUS.
 */
#ifndef PERFEVENT_PARSE_ELFFILE_H
#define PERFEVENT_PARSE_ELFFILE_H

#include "perfevent.h"

struct pev_elf {
	int fd;
	uint64_t size;
	bool wide;             /* ELFCLASS64 */
	bool swap;             /* its byte order differs from ours */
	uint16_t machine;
	uint64_t phoff, shoff;
	uint32_t phnum, shnum, shstrndx;
};

struct pev_elf_section {
	uint32_t name, type, link;
	uint64_t addr, offset, size, entsize;
};

struct pev_elf_symbol {
	uint32_t name;
	unsigned int type;     /* STT_ */
	uint16_t shndx;
	uint64_t value;
	uint64_t size;         /* bytes; 0: not known */
};

/* All return 0, -EBADMSG for a damaged file, or -errno. */
int pev_elf_open_(struct pev_elf *elf, const char *path);
/* pev_elf_open_() for a descriptor that stays the caller's: there is nothing to close. */
int pev_elf_begin_(struct pev_elf *elf, int fd);
void pev_elf_close_(struct pev_elf *elf);
/* -ENOENT if there is no section of that name. */
int pev_elf_find_section_(const struct pev_elf *elf, const char *name, struct pev_elf_section *s);
/* The bytes of a section, malloc'ed, with a NUL after them. */
int pev_elf_load_(const struct pev_elf *elf, const struct pev_elf_section *s, char **data);
/* File offset of an address as linked: -ENOENT if no segment in the file has it. */
int pev_elf_offset_(const struct pev_elf *elf, uint64_t addr, uint64_t *offset);
/* Calls fn for the symbols of code in the tables of that type (SHT_SYMTAB, SHT_DYNSYM) until it returns
 * anything but 0, which is returned. */
typedef int pev_elf_symbol_fn(const struct pev_elf_symbol *sym, const char *name, void *ctx);
int pev_elf_each_symbol_(const struct pev_elf *elf, uint32_t type, pev_elf_symbol_fn *fn, void *ctx);
/* Numbers in the file's byte order. */
uint32_t pev_elf_u32_(const struct pev_elf *elf, const void *p);
uint64_t pev_elf_word_(const struct pev_elf *elf, const void *p);   /* 4 or 8 bytes by class */
#endif
