/* SPDX-License-Identifier: Apache-2.0 */
#include "base/room.h"
#include "base/search.h"
#include "symbols/dwarf/private.h"
#include "symbols/elf/demangle.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void abbrevs_free(struct abbrevs *a);

enum { FORMS_MAX_CODE = 1 << 18, MAX_ATTRIBUTES = 512, MAX_STEPS = 1 << 20 };
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

	if (code >= FORMS_MAX_CODE)
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

/* The table referred to by the unit's first entry. NULL with errno: ENOEXEC: malformed, ENOMEM. */
static struct abbrevs *abbrevs_read(Dwarf_Die *unit, const struct dwarf_sizes *sizes)
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

static void abbrevs_free(struct abbrevs *a)
{
	if (!a)
		return;
	free(a->by_code);
	free(a->steps);
	free(a);
}

static size_t abbrevs_bytes(const struct abbrevs *a)
{
	return a ? sizeof(*a) + a->ncodes * sizeof(*a->by_code) + a->cap * sizeof(*a->steps) : 0;
}

/* Whether it was made for a unit of this encoding. */
static bool abbrevs_are_for(const struct abbrevs *a, const struct dwarf_sizes *sizes)
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

enum {
	MAX_UNITS = 1 << 20,
	MAX_CODE = 512,          /* limit for sections of code */
	MAX_ROWS = 2 << 20,      /* rows of line tables after which libdw is restarted */
	ROW_BYTES = 72,          /* libdw's memory per row, approximately */
};

/* This runs inside the jail, so names are demangled in this process. */
static const struct parser_row only_demangling[PARSER_KINDS] = { [PARSER_DEMANGLE] = { demangle_answer, NULL } };

struct unit_row {
	uint64_t at, next;       /* offsets in .debug_info of its first entry and of the next unit */
	struct dwarf_sizes sizes;
};

struct code {
	uint64_t start, end;
};

struct dwarf_file {
	struct elf_source main, alt;
	struct unit_row *units;
	size_t nunits, cap;
	struct code code[MAX_CODE];
	size_t ncode;
	const uint8_t *info;     /* .debug_info */
	size_t info_size;
	struct abbrevs *abbrevs; /* of the unit used last */
	uint64_t abbrevs_at;
	size_t rows;
	struct parser *here;     /* for demangling */
	struct demangled *names;
};

/* ---- code ------------------------------------------------------------------- */

static void add_code(struct dwarf_file *f, uint64_t start, uint64_t size)
{
	if (f->ncode < MAX_CODE && size && start + size > start)
		f->code[f->ncode++] = (struct code){ start, start + size };
}

static void find_code(struct dwarf_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Phdr ph;
	size_t n;

	while ((scn = elf_nextscn(f->main.elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_EXECINSTR) && (sh.sh_flags & SHF_ALLOC))
			add_code(f, sh.sh_addr, sh.sh_size);
	if (f->ncode || elf_getphdrnum(f->main.elf, &n))
		return;
	for (size_t i = 0; i < n && i < MAX_CODE; i++)
		if (gelf_getphdr(f->main.elf, (int)i, &ph) && ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			add_code(f, ph.p_vaddr, ph.p_memsz);
}

static const struct code *code_at(const struct dwarf_file *f, uint64_t addr)
{
	for (size_t i = 0; addr && i < f->ncode; i++)
		if (addr >= f->code[i].start && addr < f->code[i].end)
			return &f->code[i];
	return NULL;
}

bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr)
{
	return code_at(f, addr);
}

bool dwarf_file_clip(const struct dwarf_file *f, uint64_t start, uint64_t *end)
{
	const struct code *code = code_at(f, start);

	if (!code || *end <= start)
		return false;
	*end = *end < code->end ? *end : code->end;
	return true;
}

/* ---- units ------------------------------------------------------------------ */

static void find_info(struct dwarf_file *f)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(f->main.elf, &strings))
		return;
	while ((scn = elf_nextscn(f->main.elf, scn))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(f->main.elf, strings, header.sh_name);
		if (!name || (strcmp(name, ".debug_info") && strcmp(name, ".zdebug_info")))
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && data->d_size) {
			f->info = data->d_buf;
			f->info_size = data->d_size;
		}
	}
}

static int add_unit(struct dwarf_file *f, const struct unit_row *unit)
{
	if (!ROOM_FOR(f->units, f->cap, f->nunits, 1))
		return -ENOMEM;
	f->units[f->nunits++] = *unit;
	return 0;
}

static bool is_swapped(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);

	return ident && (ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static int find_units(struct dwarf_file *f)
{
	bool swapped = is_swapped(f->main.elf);
	Dwarf_Off at = 0, next;
	Dwarf_Half version;
	uint8_t address, offset;
	size_t head;
	int rc = 0;

	while (!rc && f->nunits < MAX_UNITS &&
	       !dwarf_next_unit(f->main.dwarf, at, &next, &head, &version, NULL, &address, &offset, NULL,
				NULL)) {
		if (next <= at || head > next - at)
			break;
		if ((address == 4 || address == 8) && (offset == 4 || offset == 8))
			rc = add_unit(f, &(struct unit_row){ at + head, next,
							     { address, offset, version, swapped } });
		at = next;
	}
	return rc;
}

uint32_t dwarf_file_split(const struct dwarf_file *f)
{
	uint32_t n = 0;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (f->main.dwarf && !dwarf_get_units(f->main.dwarf, cu, &cu, NULL, &type, NULL, NULL))
		n += type == DW_UT_skeleton;
	return n;
}

size_t dwarf_file_units(const struct dwarf_file *f)
{
	return f->nunits;
}

/* Restarts libdw, which keeps everything that it reads until its end. Sections stay: they belong to libelf. */
static bool begin_anew(struct dwarf_file *f)
{
	dwarf_end(f->main.dwarf);
	f->rows = 0;
	f->main.dwarf = dwarf_begin_elf(f->main.elf, DWARF_C_READ, NULL);
	if (f->main.dwarf)
		dwarf_setalt(f->main.dwarf, f->alt.dwarf);
	return f->main.dwarf;
}

bool dwarf_file_unit(struct dwarf_file *f, size_t i, struct dwarf_unit *unit)
{
	const struct unit_row *row = &f->units[i];
	uint64_t at, size;

	if (!f->main.dwarf || (f->rows > MAX_ROWS && !begin_anew(f)))
		return false;
	if (i >= f->nunits || !f->info || !dwarf_offdie(f->main.dwarf, row->at, &unit->die))
		return false;
	unit->begin = unit->die.addr;
	at = (uint64_t)(unit->begin - f->info);
	if (unit->begin < f->info || at >= f->info_size || at != row->at)
		return false;
	size = row->next - row->at;
	unit->end = unit->begin + (size < f->info_size - at ? size : f->info_size - at);
	unit->sizes = row->sizes;
	return true;
}

bool dwarf_file_unit_at(const struct dwarf_file *f, Dwarf_Off at, size_t *i)
{
	*i = FIRST_NOT(k, 0, f->nunits, f->units[k].at < at);
	return *i < f->nunits && f->units[*i].at == at;
}

int dwarf_file_aranges(struct dwarf_file *f, Dwarf_Aranges **ranges, size_t *n)
{
	return f->main.dwarf ? dwarf_getaranges(f->main.dwarf, ranges, n) : -1;
}

/* Units that were optimized together may share an abbreviation table, often a large one. */
const struct abbrevs *dwarf_file_abbrevs(struct dwarf_file *f, const struct dwarf_unit *unit)
{
	Dwarf_Die die = unit->die, unused;
	Dwarf_Off at = 0;

	if (!dwarf_cu_die(die.cu, &unused, NULL, &at, NULL, NULL, NULL, NULL)) {
		errno = ENOEXEC;
		return NULL;
	}
	if (f->abbrevs && f->abbrevs_at == at && abbrevs_are_for(f->abbrevs, &unit->sizes))
		return f->abbrevs;
	abbrevs_free(f->abbrevs);
	f->abbrevs = abbrevs_read(&die, &unit->sizes);
	f->abbrevs_at = at;
	return f->abbrevs;
}

void dwarf_file_count_rows(struct dwarf_file *f, size_t n)
{
	f->rows += n;
}

/* ---- files ------------------------------------------------------------------ */

const char *dwarf_file_alt(const struct dwarf_file *f, const void **build_id, size_t *size)
{
	const char *name;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(f->main.dwarf, &name, build_id);

	*size = n > 0 ? (size_t)n : 0;
	return n > 0 ? name : NULL;
}

/* Opens the alternate file if its build id matches, or else an empty one. */
static int find_alt(struct dwarf_file *f, int alt)
{
	const void *want, *have;
	size_t size = 0;

	if (alt >= 0 && dwarf_file_alt(f, &want, &size) && !elf_source_open_(&f->alt, alt, false) &&
	    dwelf_elf_gnu_build_id(f->alt.elf, &have) == (ssize_t)size && !memcmp(have, want, size))
		return 0;
	elf_source_close_(&f->alt);
	return elf_source_empty_(&f->alt);
}

/* Takes over main. */
static struct dwarf_file *begin(struct elf_source *main, int alt)
{
	struct dwarf_file *f = calloc(1, sizeof(*f));
	int rc;

	if (!f) {
		elf_source_close_(main);
		errno = ENOMEM;
		return NULL;
	}
	f->main = *main;
	f->alt.fd = -1;
	rc = find_alt(f, alt);
	if (!rc) {
		dwarf_setalt(f->main.dwarf, f->alt.dwarf);
		find_code(f);
		find_info(f);
		rc = find_units(f);
	}
	f->here = rc ? NULL : parser_new(&(struct parser_opts){ .place = PARSER_HERE, .rows = only_demangling });
	if (f->here)
		return f;
	dwarf_file_free(f);
	errno = rc ? -rc : ENOMEM;
	return NULL;
}

struct dwarf_file *dwarf_file_open(int fd, int alt)
{
	struct elf_source main = { .fd = -1 };
	int rc = elf_source_open_(&main, fd, false);

	if (!rc)
		return begin(&main, alt);
	elf_source_close_(&main);
	errno = -rc;
	return NULL;
}

struct dwarf_file *dwarf_file_from_image(void *image, size_t size)
{
	struct elf_source main = { .fd = -1 };

	elf_version(EV_CURRENT);
	main.elf = elf_memory(image, size);
	if (main.elf && elf_kind(main.elf) == ELF_K_ELF)
		main.dwarf = dwarf_begin_elf(main.elf, DWARF_C_READ, NULL);
	if (main.dwarf)
		return begin(&main, -1);
	elf_source_close_(&main);
	errno = ENOEXEC;
	return NULL;
}

void dwarf_file_free(struct dwarf_file *f)
{
	if (!f)
		return;
	elf_source_close_(&f->main);
	elf_source_close_(&f->alt);
	abbrevs_free(f->abbrevs);
	demangled_free(f->names);
	parser_free(f->here);
	free(f->units);
	free(f);
}

size_t dwarf_file_bytes(const struct dwarf_file *f)
{
	return sizeof(*f) + elf_source_bytes_(&f->main) + elf_source_bytes_(&f->alt) +
	       f->cap * sizeof(*f->units) + f->rows * ROW_BYTES + abbrevs_bytes(f->abbrevs) +
	       demangled_bytes(f->names);
}

const char *dwarf_file_demangle(struct dwarf_file *f, const char *name)
{
	return is_mangled(name) ? demangled_name(&f->names, f->here, name) : name;
}
