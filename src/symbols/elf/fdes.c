/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/fdes.h"

#include <dwarf.h>
#include <string.h>

enum { FORM = 0x0f, RELATIVE = 0x70, DAMAGED = -1 };

/* ---- encodings (DW_EH_PE_*) -------------------------------------------------- */

static size_t word_size(const struct fdes *f)
{
	return f->ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
}

/* Size of an address; 0: it has none that is known. */
static size_t address_size(const struct fdes *f, uint8_t encoding)
{
	static const uint8_t sizes[16] = { [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4, [DW_EH_PE_udata8] = 8,
					   [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4, [DW_EH_PE_sdata8] = 8 };

	if ((encoding & RELATIVE) == DW_EH_PE_aligned)
		return 0;
	return (encoding & FORM) == DW_EH_PE_absptr ? word_size(f) : sizes[encoding & FORM];
}

static uint64_t read_value(const struct fdes *f, const uint8_t *p, size_t size, bool negates)
{
	const bool big = f->ident[EI_DATA] == ELFDATA2MSB;
	uint64_t value = 0, sign = UINT64_C(1) << (8 * size - 1);

	for (size_t i = 0; i < size; i++)
		value = value << 8 | p[big ? i : size - 1 - i];
	return negates ? (value ^ sign) - sign : value;
}

/* The addresses of an FDE; size: of each. */
static void read_range(const struct fdes *f, const uint8_t *p, size_t size, struct fde *fde)
{
	const uint64_t mask = word_size(f) == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t start = read_value(f, p, size, f->encoding & DW_EH_PE_signed);

	if ((f->encoding & RELATIVE) == DW_EH_PE_pcrel)
		start += f->vaddr + (uint64_t)(p - (const uint8_t *)f->data->d_buf);
	else if (f->encoding & RELATIVE)
		return;
	start &= mask;
	fde->end = (start + read_value(f, p + size, size, false)) & mask;
	fde->start = start;
}

/* ---- records ----------------------------------------------------------------- */

/* "zPLR": what the augmentation data has, in this order. False: FDEs cannot be read. */
static bool read_augmentation(struct fdes *f)
{
	const Dwarf_CIE *cie = &f->cie.cie;
	const uint8_t *p = cie->augmentation_data, *end = p ? p + cie->augmentation_data_size : p;
	const char *c = cie->augmentation;

	f->encoding = DW_EH_PE_absptr;
	f->augmented = *c == 'z';
	for (c += f->augmented; *c; c++) {
		if (*c == 'S' || *c == 'B')
			continue;
		if (p == end || !strchr("PLR", *c))
			return false;
		if (*c == 'R')
			f->encoding = *p;
		p += 1 + (*c == 'P' ? address_size(f, *p) : 0);
		if (p > end)
			return false;
	}
	return address_size(f, f->encoding);
}

/* The CIE of an FDE; read again only if it is another one. */
static bool find_cie(struct fdes *f, uint64_t at)
{
	Dwarf_Off after;

	if (f->has_cie && f->cie_at == at)
		return true;
	f->cie_at = at;
	f->has_cie = !dwarf_next_cfi(f->ident, f->data, true, at, &after, &f->cie) && dwarf_cfi_cie_p(&f->cie) &&
		     read_augmentation(f);
	return f->has_cie;
}

static void read_fde(const struct fdes *f, const Dwarf_FDE *from, struct fde *fde)
{
	const size_t size = address_size(f, f->encoding);
	const uint8_t *p = from->start;

	*fde = (struct fde){ 0 };
	if (2 * size >= (size_t)(from->end - p))
		return;
	read_range(f, p, size, fde);
	p += 2 * size;
	if (f->augmented) {   /* the length has one byte: a pointer to exception tables */
		if (*p >= 0x80 || *p >= from->end - p)
			return;
		p += 1 + *p;
	}
	fde->code = p;
	fde->ncode = (size_t)(from->end - p);
}

bool fdes_next(struct fdes *f, struct fde *fde)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off after;

	for (;; f->next = after) {
		int rc = dwarf_next_cfi(f->ident, f->data, true, f->next, &after, &entry);

		if (rc > 0 || (rc < 0 && after == (Dwarf_Off)DAMAGED) || after <= f->next)
			return false;
		if (rc < 0 || dwarf_cfi_cie_p(&entry) || !find_cie(f, entry.fde.CIE_pointer))
			continue;
		f->next = after;
		read_fde(f, &entry.fde, fde);
		return true;
	}
}

bool fdes_open(struct fdes *f, Elf *elf, size_t max_bytes)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	*f = (struct fdes){ .ident = (const unsigned char *)elf_getident(elf, NULL) };
	if (!f->ident || elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") || shdr.sh_type == SHT_NOBITS || !shdr.sh_size || shdr.sh_offset > INT64_MAX)
			continue;
		f->vaddr = shdr.sh_addr;
		f->data = elf_getdata_rawchunk(elf, (int64_t)shdr.sh_offset, shdr.sh_size < max_bytes ? shdr.sh_size : max_bytes, ELF_T_BYTE);
		return f->data && f->data->d_buf;
	}
	return false;
}
