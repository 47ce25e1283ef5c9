/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file that keep a frame pointer, and those that do not, by libdw. */
#include "symbols/dwarf/frameptr.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* The linker puts the program's own functions before those of static libraries. */
enum { ENTRIES = 4096, FUNCTIONS = 512, TABLE_BYTES = 256 << 10 };

struct table {
	enum frameptr_machine machine;
	Elf_Data *data;
	Dwarf_CFI_Entry cie;     /* the last one */
	uint64_t cie_at;
	uint8_t encoding;        /* of addresses in its FDEs */
	bool has_cie, augmented; /* FDEs have bytes between addresses and instructions */
};

/* Size of an address (DW_EH_PE_*); 0: it has none that is known. */
static size_t address_size(uint8_t encoding)
{
	static const uint8_t sizes[16] = { [0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8 };

	return (encoding & 0x70) == 0x50 ? 0 : sizes[encoding & 0xf];
}

/* "zPLR": what the augmentation data has, in this order. False: FDEs cannot be read. */
static bool read_augmentation(struct table *t)
{
	const Dwarf_CIE *cie = &t->cie.cie;
	const uint8_t *p = cie->augmentation_data, *end = p ? p + cie->augmentation_data_size : p;
	const char *c = cie->augmentation;

	t->encoding = 0;
	t->augmented = *c == 'z';
	for (c += t->augmented; *c; c++) {
		if (*c == 'S' || *c == 'B')
			continue;
		if (p == end || !strchr("PLR", *c))
			return false;
		if (*c == 'R')
			t->encoding = *p;
		p += 1 + (*c == 'P' ? address_size(*p) : 0);
		if (p > end)
			return false;
	}
	return address_size(t->encoding);
}

/* The CIE of an FDE; read again only if it is another one. */
static bool find_cie(struct table *t, const unsigned char *ident, uint64_t at)
{
	Dwarf_Off after;

	if (t->has_cie && t->cie_at == at)
		return true;
	t->cie_at = at;
	t->has_cie = !dwarf_next_cfi(ident, t->data, true, at, &after, &t->cie) && dwarf_cfi_cie_p(&t->cie) &&
		     read_augmentation(t);
	return t->has_cie;
}

static enum frameptr judge(const struct table *t, const Dwarf_FDE *fde)
{
	size_t skipped = 2 * address_size(t->encoding), size = (size_t)(fde->end - fde->start);
	const uint8_t *p = fde->start;

	if (skipped >= size)
		return FRAMEPTR_UNKNOWN;
	p += skipped;
	if (t->augmented) {   /* the length has one byte: a pointer to exception tables */
		if (*p >= 0x80 || *p >= fde->end - p)
			return FRAMEPTR_UNKNOWN;
		p += 1 + *p;
	}
	return frameptr_scan(t->machine, p, (size_t)(fde->end - p));
}

static void count(struct table *t, const unsigned char *ident, struct frameptr_counts *counts)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, after;

	for (int i = 0; i < ENTRIES && counts->kept + counts->lacking < FUNCTIONS; i++, at = after) {
		int rc = dwarf_next_cfi(ident, t->data, true, at, &after, &entry);
		enum frameptr one;

		if (rc > 0 || (rc < 0 && after == (Dwarf_Off)-1) || after <= at)
			return;
		if (rc < 0 || dwarf_cfi_cie_p(&entry) || !find_cie(t, ident, entry.fde.CIE_pointer))
			continue;
		one = judge(t, &entry.fde);
		counts->kept += one == FRAMEPTR_KEPT;
		counts->lacking += one == FRAMEPTR_LACKING;
	}
}

/* Go keeps frame pointers, whatever its tables say of the stack pointer. */
static bool is_go(const char *section)
{
	return !strcmp(section, ".gopclntab") || !strcmp(section, ".data.rel.ro.gopclntab");
}

static void read_sections(Elf *elf, struct table *t, struct frameptr_counts *counts)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr, frames = { 0 };
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && is_go(name)) {
			counts->kept = 1;
			return;
		}
		if (name && !strcmp(name, ".eh_frame") && shdr.sh_type != SHT_NOBITS)
			frames = shdr;
	}
	if (frames.sh_size && frames.sh_offset <= INT64_MAX)   /* tables of large programs have megabytes */
		t->data = elf_getdata_rawchunk(elf, (int64_t)frames.sh_offset,
					       frames.sh_size < TABLE_BYTES ? frames.sh_size : TABLE_BYTES, ELF_T_BYTE);
	if (t->data && t->data->d_buf)
		count(t, ident, counts);
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
	struct table t = { 0 };
	Elf *elf;

	(void)state;
	if (q->nfds != 1)
		return -EINVAL;
	elf_version(EV_CURRENT);
	elf = elf_begin(q->fds[0], ELF_C_READ, NULL);
	if (elf && machine_of(elf, &t.machine))
		read_sections(elf, &t, &counts);
	elf_end(elf);
	return parser_put(out, &counts, sizeof(counts));
}
