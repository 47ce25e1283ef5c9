/* SPDX-License-Identifier: Apache-2.0 */
/* The format is in the Linux Standard Base, "Exception Frames". */
#include "symbols/elf/fdes.h"

#include <gelf.h>
#include <string.h>

enum { MAX_RECORDS = 1 << 21, MAX_AUGMENTATION = 8, LEB_BYTES = 10 };
enum { ABSOLUTE = 0x00, PC_RELATIVE = 0x10, ALIGNED = 0x50, RELATIVE = 0x70, INDIRECT = 0x80, OMITTED = 0xff, SIGNED = 0x08, FORM = 0x0f };

/* ---- bytes ------------------------------------------------------------------- */

struct cursor {
	const uint8_t *p, *end;
	bool big, bad;           /* bad: something reached behind the end */
};

static const uint8_t *take(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	c->bad |= n > (size_t)(c->end - c->p);
	if (c->bad)
		return NULL;
	c->p += n;
	return p;
}

static uint64_t take_value(struct cursor *c, size_t size, bool is_signed)
{
	const uint8_t *p = take(c, size);
	uint64_t value = 0, sign = UINT64_C(1) << (8 * size - 1);

	for (size_t i = 0; p && i < size; i++)
		value = value << 8 | p[c->big ? i : size - 1 - i];
	return is_signed ? (value ^ sign) - sign : value;
}

/* A number in LEB128, of which only small ones are needed. */
static size_t take_leb(struct cursor *c)
{
	const uint8_t *p;
	size_t value = 0;

	for (unsigned int i = 0; i < LEB_BYTES && (p = take(c, 1)); i++) {
		if (i < 4)
			value |= (size_t)(*p & 0x7f) << 7 * i;
		else
			c->bad |= (*p & 0x7f) != 0 && (*p & 0x7f) != 0x7f;   /* negative numbers end in ones */
		if (!(*p & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/* Size of an address; 0: it has none that is known. */
static size_t address_size(const struct fdes *f, uint8_t encoding)
{
	static const uint8_t sizes[16] = { [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8 };

	if ((encoding & RELATIVE) == ALIGNED)
		return 0;
	return encoding & FORM ? sizes[encoding & FORM] : f->narrow ? 4 : 8;
}

/* ---- records ----------------------------------------------------------------- */

/* "zPLR": what the augmentation data has, in this order. */
static bool read_augmentation(struct fdes *f, struct cursor *c, const char *augmentation)
{
	f->encoding = ABSOLUTE;
	f->augmented = *augmentation == 'z';
	if (f->augmented)
		take_leb(c);
	for (const char *a = augmentation + f->augmented; *a; a++) {
		uint8_t encoding;

		if (*a == 'S' || *a == 'B' || *a == 'G')
			continue;
		if (!strchr("PLR", *a))
			return false;
		encoding = (uint8_t)take_value(c, 1, false);
		if (*a == 'R')
			f->encoding = encoding;
		if (*a == 'P' && encoding != OMITTED && (!address_size(f, encoding) || !take(c, address_size(f, encoding))))
			return false;
	}
	return !c->bad && !(f->encoding & INDIRECT) && address_size(f, f->encoding);
}

static bool read_cie(struct fdes *f, size_t at)
{
	struct cursor c = { f->data + at, f->data + f->size, f->big, false };
	uint64_t length = take_value(&c, 4, false), id;
	const char *augmentation;
	uint8_t version;
	size_t n;

	if (c.bad || length > (uint64_t)(c.end - c.p))   /* so are lengths of 64 bits */
		return false;
	c.end = c.p + length;
	id = take_value(&c, 4, false);
	version = (uint8_t)take_value(&c, 1, false);
	if (c.bad || id || (version != 1 && version != 3))
		return false;
	augmentation = (const char *)c.p;
	n = strnlen(augmentation, (size_t)(c.end - c.p));
	if (n > MAX_AUGMENTATION || !take(&c, n + 1))
		return false;
	take_leb(&c);            /* alignment of code, of data */
	take_leb(&c);
	if (version == 1)
		take(&c, 1);     /* the register of the return address */
	else
		take_leb(&c);
	return read_augmentation(f, &c, augmentation);
}

static bool find_cie(struct fdes *f, size_t at)
{
	if (!f->cie_tried || f->cie_at != at) {
		f->cie_good = read_cie(f, at);
		f->cie_tried = true;
		f->cie_at = at;
	}
	return f->cie_good;
}

static void read_range(const struct fdes *f, struct cursor *c, struct fde *fde)
{
	const uint64_t mask = f->narrow ? UINT32_MAX : UINT64_MAX, here = f->vaddr + (uint64_t)(c->p - f->data);
	const size_t size = address_size(f, f->encoding);
	uint64_t start = take_value(c, size, f->encoding & SIGNED), length = take_value(c, size, false);

	if (c->bad || (f->encoding & RELATIVE & ~PC_RELATIVE))
		return;
	start = (start + (f->encoding & PC_RELATIVE ? here : 0)) & mask;
	*fde = (struct fde){ .start = start, .end = (start + length) & mask };
}

/* The cursor is behind the reference to the CIE. */
static void read_fde(const struct fdes *f, struct cursor *c, struct fde *fde)
{
	*fde = (struct fde){ 0 };
	read_range(f, c, fde);
	if (f->augmented)
		take(c, take_leb(c));
	if (c->bad)
		return;
	fde->code = c->p;
	fde->ncode = (size_t)(c->end - c->p);
}

bool fdes_next(struct fdes *f, struct fde *fde)
{
	while (f->records++ < MAX_RECORDS) {
		struct cursor c = { f->data + f->next, f->data + f->size, f->big, false };
		uint64_t length = take_value(&c, 4, false), back;
		size_t at = f->next + 4;

		if (c.bad || !length || length > (uint64_t)(c.end - c.p))
			return false;
		c.end = c.p + length;
		f->next = at + (size_t)length;
		back = take_value(&c, 4, false);
		if (c.bad || !back || back > at || !find_cie(f, at - (size_t)back))
			continue;
		read_fde(f, &c, fde);
		return true;
	}
	return false;
}

bool fdes_open(struct fdes *f, Elf *elf, size_t max_bytes)
{
	const char *ident = elf_getident(elf, NULL);
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	size_t names;

	if (!ident || elf_getshdrstrndx(elf, &names))
		return false;
	*f = (struct fdes){ .big = ident[EI_DATA] == ELFDATA2MSB, .narrow = ident[EI_CLASS] == ELFCLASS32 };
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") || shdr.sh_type == SHT_NOBITS || !shdr.sh_size || shdr.sh_offset > INT64_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)shdr.sh_offset, shdr.sh_size < max_bytes ? shdr.sh_size : max_bytes, ELF_T_BYTE);
		if (!data || !data->d_buf)
			return false;
		f->vaddr = shdr.sh_addr;
		f->data = data->d_buf;
		f->size = data->d_size;
		return true;
	}
	return false;
}
