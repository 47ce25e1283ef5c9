/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "symbols/dwarf/private.h"

#include "base/room.h"
#include "symbols/elf/demangle.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
