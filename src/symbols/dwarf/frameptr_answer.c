/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file that keep a frame pointer, and those that do not. */
#include "symbols/dwarf/frameptr.h"

#include "symbols/elf/fdes.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* The linker puts the program's own functions before those of static libraries. */
enum { ENTRIES = 4096, FUNCTIONS = 512, TABLE_BYTES = 256 << 10 };

static void count(enum frameptr_machine machine, struct fdes *fdes, struct frameptr_counts *counts)
{
	struct fde fde;

	for (int i = 0; i < ENTRIES && counts->kept + counts->lacking < FUNCTIONS && fdes_next(fdes, &fde); i++) {
		enum frameptr one = fde.code ? frameptr_scan(machine, fde.code, fde.ncode) : FRAMEPTR_UNKNOWN;

		counts->kept += one == FRAMEPTR_KEPT;
		counts->lacking += one == FRAMEPTR_LACKING;
	}
}

/* Go keeps frame pointers, whatever its tables say of the stack pointer. */
static bool is_go(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")))
			return true;
	}
	return false;
}

static bool machine_of(Elf *elf, enum frameptr_machine *machine)
{
	GElf_Ehdr ehdr;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) || gelf_getclass(elf) != ELFCLASS64)
		return false;
	*machine = ehdr.e_machine == EM_AARCH64 ? FRAMEPTR_ARM64 : FRAMEPTR_X86_64;
	return ehdr.e_machine == EM_AARCH64 || ehdr.e_machine == EM_X86_64;
}

int frameptr_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct frameptr_counts counts = { 0 };
	enum frameptr_machine machine;
	struct fdes fdes;
	Elf *elf;

	(void)state;
	if (q->nfds != 1)
		return -EINVAL;
	elf_version(EV_CURRENT);
	elf = elf_begin(q->fds[0], ELF_C_READ, NULL);
	if (elf && machine_of(elf, &machine)) {
		counts.kept = is_go(elf);
		if (!counts.kept && fdes_open(&fdes, elf, TABLE_BYTES))   /* tables of large programs have megabytes */
			count(machine, &fdes, &counts);
	}
	elf_end(elf);
	return parser_put(out, &counts, sizeof(counts));
}
