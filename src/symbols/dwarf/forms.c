/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/forms.h"

#include "base/room.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CODE = 1 << 18, MAX_ATTRIBUTES = 512, MAX_STEPS = 1 << 20 };
enum { NO_PART = DIE_PARTS };

/* Forms with a size that depends on the data, as used by the steps; others are fixed. */
enum { VAR_LEB = 1, VAR_STRING, VAR_BLOCK1, VAR_BLOCK2, VAR_BLOCK4, VAR_BLOCK, VAR_INDIRECT };

struct step {
	uint16_t fixed;          /* bytes to skip first */
	uint8_t var;             /* then one of VAR_, or 0 */
	uint8_t part;            /* the attribute that begins there: enum die_part, or NO_PART */
	uint16_t form, name;
	int64_t constant;
};

struct abbrev {
	uint32_t tag;
	uint32_t steps, nsteps;  /* in the table's steps */
	bool exists, has_children;
};

struct abbrevs {
	struct dwarf_sizes sizes;
	struct abbrev *by_code;
	size_t ncodes;
	struct step *steps;
	size_t nsteps, cap;
};

/* ---- forms ------------------------------------------------------------------ */

enum { IS_ADDRESS = 100, IS_OFFSET, IS_REF_ADDR };

/* By number: bytes, or one of IS_, or -VAR_. known: the form exists. */
struct form_row {
	int8_t size;
	bool known;
};

#define ROW(size) { size, true }
static const struct form_row forms[] = {
	[DW_FORM_addr] = ROW(IS_ADDRESS),
	[DW_FORM_data1] = ROW(1), [DW_FORM_ref1] = ROW(1), [DW_FORM_flag] = ROW(1),
	[DW_FORM_strx1] = ROW(1), [DW_FORM_addrx1] = ROW(1),
	[DW_FORM_data2] = ROW(2), [DW_FORM_ref2] = ROW(2), [DW_FORM_strx2] = ROW(2),
	[DW_FORM_addrx2] = ROW(2),
	[DW_FORM_strx3] = ROW(3), [DW_FORM_addrx3] = ROW(3),
	[DW_FORM_data4] = ROW(4), [DW_FORM_ref4] = ROW(4), [DW_FORM_strx4] = ROW(4),
	[DW_FORM_addrx4] = ROW(4), [DW_FORM_ref_sup4] = ROW(4),
	[DW_FORM_data8] = ROW(8), [DW_FORM_ref8] = ROW(8), [DW_FORM_ref_sig8] = ROW(8),
	[DW_FORM_ref_sup8] = ROW(8),
	[DW_FORM_data16] = ROW(16),
	[DW_FORM_strp] = ROW(IS_OFFSET), [DW_FORM_sec_offset] = ROW(IS_OFFSET),
	[DW_FORM_line_strp] = ROW(IS_OFFSET), [DW_FORM_strp_sup] = ROW(IS_OFFSET),
	[DW_FORM_ref_addr] = ROW(IS_REF_ADDR),
	[DW_FORM_flag_present] = ROW(0), [DW_FORM_implicit_const] = ROW(0),
	[DW_FORM_sdata] = ROW(-VAR_LEB), [DW_FORM_udata] = ROW(-VAR_LEB),
	[DW_FORM_ref_udata] = ROW(-VAR_LEB), [DW_FORM_strx] = ROW(-VAR_LEB),
	[DW_FORM_addrx] = ROW(-VAR_LEB), [DW_FORM_loclistx] = ROW(-VAR_LEB),
	[DW_FORM_rnglistx] = ROW(-VAR_LEB),
	[DW_FORM_string] = ROW(-VAR_STRING),
	[DW_FORM_block1] = ROW(-VAR_BLOCK1), [DW_FORM_block2] = ROW(-VAR_BLOCK2),
	[DW_FORM_block4] = ROW(-VAR_BLOCK4), [DW_FORM_block] = ROW(-VAR_BLOCK),
	[DW_FORM_exprloc] = ROW(-VAR_BLOCK), [DW_FORM_indirect] = ROW(-VAR_INDIRECT),
};
#undef ROW

/* The size of a form, including GNU extensions: bytes or -VAR_. */
static bool size_of_form(unsigned int form, const struct dwarf_sizes *s, int *size)
{
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		form = DW_FORM_sec_offset;
	if (form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index)
		form = DW_FORM_udata;
	if (form >= sizeof(forms) / sizeof(*forms) || !forms[form].known)
		return false;
	*size = forms[form].size;
	if (*size == IS_ADDRESS || (*size == IS_REF_ADDR && s->version < 3))
		*size = s->address;
	else if (*size == IS_OFFSET || *size == IS_REF_ADDR)
		*size = s->offset;
	return true;
}

bool read_leb(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	unsigned int shift = 0;

	*value = 0;
	for (; *p < end && shift < 70; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool read_size(const uint8_t **p, const uint8_t *end, unsigned int bytes, bool swapped,
		      uint64_t *value)
{
	uint16_t two;
	uint32_t four;

	if ((size_t)(end - *p) < bytes)
		return false;
	memcpy(&two, *p, bytes == 2 ? 2 : 0);
	memcpy(&four, *p, bytes == 4 ? 4 : 0);
	*value = bytes == 1 ? **p : bytes == 2 ? (swapped ? __builtin_bswap16(two) : two) :
		 swapped ? __builtin_bswap32(four) : four;
	*p += bytes;
	return true;
}

static const uint8_t *skip(const uint8_t *p, const uint8_t *end, uint64_t bytes)
{
	return (uint64_t)(end - p) < bytes ? NULL : p + bytes;
}

static const uint8_t *skip_var(const uint8_t *p, const uint8_t *end, unsigned int var,
			       const struct dwarf_sizes *s)
{
	uint64_t n = 0;
	int size;

	switch (var) {
	case VAR_LEB:
		return read_leb(&p, end, &n) ? p : NULL;
	case VAR_STRING:
		p = memchr(p, '\0', (size_t)(end - p));
		return p ? p + 1 : NULL;
	case VAR_BLOCK1:
		return read_size(&p, end, 1, s->swapped, &n) ? skip(p, end, n) : NULL;
	case VAR_BLOCK2:
		return read_size(&p, end, 2, s->swapped, &n) ? skip(p, end, n) : NULL;
	case VAR_BLOCK4:
		return read_size(&p, end, 4, s->swapped, &n) ? skip(p, end, n) : NULL;
	case VAR_BLOCK:
		return read_leb(&p, end, &n) ? skip(p, end, n) : NULL;
	default:                 /* the form precedes the value, and must not be indirect itself */
		if (!read_leb(&p, end, &n) || n > 0xffff ||
		    !size_of_form((unsigned int)n, s, &size) || size == -VAR_INDIRECT)
			return NULL;
		return size < 0 ? skip_var(p, end, (unsigned int)-size, s) :
				  skip(p, end, (uint64_t)size);
	}
}

/* ---- reading the table ------------------------------------------------------ */

static const uint16_t part_names[DIE_PARTS] = {
	DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges, DW_AT_abstract_origin, DW_AT_specification,
	DW_AT_linkage_name, DW_AT_name, DW_AT_call_file, DW_AT_call_line,
};

static uint8_t part_of(unsigned int tag, unsigned int name)
{
	uint8_t part = 0;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return NO_PART;
	if (name == DW_AT_MIPS_linkage_name)
		return DIE_LINKAGE_NAME;
	while (part < NO_PART && part_names[part] != name)
		part++;
	return part;
}

static int add_step(struct abbrevs *a, const struct step *step)
{
	if (a->nsteps == MAX_STEPS)
		return -ENOEXEC;
	if (!ROOM_FOR(a->steps, a->cap, a->nsteps, 1))
		return -ENOMEM;
	a->steps[a->nsteps++] = *step;
	return 0;
}

/* Consecutive unused attributes of fixed size are merged into one step with the next attribute. */
static int add_attribute(struct abbrevs *a, struct abbrev *b, unsigned int name, unsigned int form,
			 int64_t constant)
{
	struct step step = { .part = part_of(b->tag, name), .form = (uint16_t)form,
			     .name = (uint16_t)name, .constant = constant };
	struct step *last = b->nsteps ? &a->steps[a->nsteps - 1] : NULL;
	int size;

	if (!size_of_form(form, &a->sizes, &size))
		return -ENOEXEC;
	if (size >= 0)
		step.fixed = (uint16_t)size;
	else
		step.var = (uint8_t)-size;
	if (last && step.part == NO_PART && !last->var && last->part == NO_PART) {
		last->fixed = (uint16_t)(last->fixed + step.fixed);
		last->var = step.var;
		return 0;
	}
	b->nsteps++;
	return add_step(a, &step);
}

static int add_abbrev(struct abbrevs *a, Dwarf_Abbrev *from)
{
	unsigned int code = dwarf_getabbrevcode(from), name, form;
	struct abbrev *b;
	Dwarf_Sword constant;
	int rc = 0;

	if (code >= MAX_CODE)
		return -ENOEXEC;
	if (!ROOM_AT(a->by_code, a->ncodes, code))
		return -ENOMEM;
	b = &a->by_code[code];
	if (b->exists)
		return 0;        /* of two with the same code, the first one */
	*b = (struct abbrev){ .tag = dwarf_getabbrevtag(from), .steps = (uint32_t)a->nsteps,
			      .exists = true, .has_children = dwarf_abbrevhaschildren(from) };
	/* counts up to the end: dwarf_getattrcnt() of libdw 0.188 is wrong with constants */
	for (size_t i = 0; !rc && !dwarf_getabbrevattr_data(from, i, &name, &form, &constant, NULL); i++)
		rc = i < MAX_ATTRIBUTES ? add_attribute(a, b, name, form, constant) : -ENOEXEC;
	return rc;
}

struct abbrevs *abbrevs_read(Dwarf_Die *unit, const struct dwarf_sizes *sizes)
{
	struct abbrevs *a = calloc(1, sizeof(*a));
	Dwarf_Abbrev *abbrev;
	Dwarf_Off at = 0;
	size_t len;
	int rc = a ? 0 : -ENOMEM;

	if (a)
		a->sizes = *sizes;
	while (!rc && (abbrev = dwarf_getabbrev(unit, at, &len)) && abbrev != DWARF_END_ABBREV && len) {
		rc = add_abbrev(a, abbrev);
		at += len;
	}
	if (!rc)
		return a;
	abbrevs_free(a);
	errno = -rc;
	return NULL;
}

void abbrevs_free(struct abbrevs *a)
{
	if (!a)
		return;
	free(a->by_code);
	free(a->steps);
	free(a);
}

size_t abbrevs_bytes(const struct abbrevs *a)
{
	return a ? sizeof(*a) + a->ncodes * sizeof(*a->by_code) + a->cap * sizeof(*a->steps) : 0;
}

bool abbrevs_are_for(const struct abbrevs *a, const struct dwarf_sizes *sizes)
{
	return a->sizes.address == sizes->address && a->sizes.offset == sizes->offset &&
	       a->sizes.version == sizes->version && a->sizes.swapped == sizes->swapped;
}

/* ---- walking ---------------------------------------------------------------- */

const struct abbrev *abbrevs_find(const struct abbrevs *a, uint64_t code)
{
	return code < a->ncodes && a->by_code[code].exists ? &a->by_code[code] : NULL;
}

unsigned int abbrev_tag(const struct abbrev *b)
{
	return b->tag;
}

bool abbrev_has_children(const struct abbrev *b)
{
	return b->has_children;
}

static void take(struct die *d, const struct step *step, const uint8_t *p)
{
	d->parts[step->part] = (Dwarf_Attribute){ .code = step->name, .form = step->form,
						  .valp = (unsigned char *)(uintptr_t)p };
	d->constants[step->part] = step->constant;
}

const uint8_t *abbrev_walk(const struct abbrevs *a, const struct abbrev *b, const uint8_t *p,
			   const uint8_t *end, struct die *d)
{
	/* a table without attributes has no steps */
	const struct step *step = b->nsteps ? a->steps + b->steps : NULL;

	for (uint32_t i = 0; i < b->nsteps; i++, step++) {
		if (d && step->part != NO_PART)
			take(d, step, p);
		if ((size_t)(end - p) < step->fixed)
			return NULL;
		p += step->fixed;
		if (step->var && !(p = skip_var(p, end, step->var, &a->sizes)))
			return NULL;
	}
	return p;
}
