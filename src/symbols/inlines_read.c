/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF of one compile unit, through libdw, to the arrays of inlines_wire.h. Runs where
 * strangers' files are parsed: see parser.h. All walks are bounded.
 */
#include "symbols/inlines.h"

#include "symbols/inlines_wire.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_SECTIONS = 4096, MAX_UNITS = 1 << 20, MAX_RANGES = 1 << 22, MAX_DIES = 1 << 24,
	MAX_DEPTH = 256, SEEN = 4096, MAX_FILES = 12, MAX_CALLS = 1 << 22, MAX_LINES = 1 << 22, MAX_TEXT = 64 << 20,
};

struct code {
	uint64_t from, to;
};

struct cover {
	uint64_t from, to;
	Dwarf_Off die;           /* of the unit */
};

struct file {
	int fd;                  /* -1: none */
	uint64_t used;
	struct stat st;
	Elf *elf;
	Dwarf *dwarf;
	struct code code[MAX_SECTIONS];   /* sections with instructions */
	size_t ncode;
	struct cover *covers;    /* of all units, sorted */
	size_t ncovers, cap;
	size_t budget;           /* DIEs that may still be looked at in this question */
};

static void close_file(struct file *f)
{
	if (f->dwarf)
		dwarf_end(f->dwarf);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->covers);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

/* Stacks go to and fro between a program and its libraries, and unpacking DWARF takes long. */
struct files {
	struct file v[MAX_FILES];
	uint64_t clock;
};

void inlines_forget(void *state)
{
	struct files *files = state;

	for (int i = 0; i < MAX_FILES; i++)
		close_file(&files->v[i]);
	free(files);
}

/* ---- which unit has an address --------------------------------------------------------- */

static void read_code(struct file *f)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn)) && f->ncode < MAX_SECTIONS) {
		GElf_Shdr h;

		if (gelf_getshdr(scn, &h) && h.sh_flags & SHF_EXECINSTR && h.sh_addr && h.sh_size &&
		    h.sh_addr + h.sh_size > h.sh_addr)
			f->code[f->ncode++] = (struct code){ h.sh_addr, h.sh_addr + h.sh_size };
	}
}

/* What a linker discarded has its addresses at 0 or at the very end: no code is there. */
static bool is_code(const struct file *f, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < f->ncode; i++)
		if (f->code[i].from <= from && to <= f->code[i].to)
			return from < to;
	return false;
}

static int add_cover(struct file *f, uint64_t from, uint64_t to, Dwarf_Off die)
{
	if (f->ncovers == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 256;
		struct cover *more = cap <= MAX_RANGES ? realloc(f->covers, cap * sizeof(*more)) : NULL;

		if (!more)
			return -ENOMEM;
		f->covers = more;
		f->cap = cap;
	}
	f->covers[f->ncovers++] = (struct cover){ from, to, die };
	return 0;
}

static int by_from(const void *a_, const void *b_)
{
	const struct cover *a = a_, *b = b_;

	return a->from < b->from ? -1 : a->from > b->from;
}

static int cover_unit(struct file *f, Dwarf_Die *die)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;
	unsigned int n = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0 && n++ < MAX_RANGES)
		if (is_code(f, from, to) && add_cover(f, from, to, dwarf_dieoffset(die)))
			return -ENOMEM;
	return 0;
}

static int read_units(struct file *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	for (unsigned int n = 0; n < MAX_UNITS; n++) {
		if (dwarf_get_units(f->dwarf, cu, &cu, NULL, &type, &die, NULL))
			break;
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && cover_unit(f, &die))
			return -ENOMEM;
	}
	qsort(f->covers, f->ncovers, sizeof(*f->covers), by_from);
	return f->ncovers ? 0 : -ENODATA;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The one of that file, or the one to be used for it. */
static struct file *choose(struct files *files, const struct stat *st)
{
	struct file *oldest = &files->v[0];

	for (int i = 0; i < MAX_FILES; i++) {
		struct file *f = &files->v[i];

		if (f->fd >= 0 && same_file(&f->st, st))
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	close_file(oldest);
	oldest->st = *st;
	return oldest;
}

static int open_file(struct file *f, int fd)
{
	if (f->fd >= 0)
		return f->ncovers ? 0 : -ENODATA;
	f->fd = dup(fd);
	if (f->fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	f->dwarf = f->elf ? dwarf_begin_elf(f->elf, DWARF_C_READ, NULL) : NULL;
	if (!f->dwarf)
		return -ENODATA;
	read_code(f);
	return read_units(f);
}

static const struct cover *cover_of(const struct file *f, uint64_t vaddr)
{
	size_t lo = 0, hi = f->ncovers;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->covers[mid].from <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* ranges of two units may overlap: the nearest one that has it */
	for (size_t i = lo; i && i + 16 > lo; i--)
		if (vaddr < f->covers[i - 1].to)
			return &f->covers[i - 1];
	return NULL;
}

/* ---- texts ----------------------------------------------------------------------------- */

struct building {
	struct file *file;
	struct parser_bytes calls, lines, texts;
	size_t ncalls, nlines;
	Dwarf_Files *files;
	size_t nfiles;
	uint32_t *file_texts;    /* by number; 0: not yet */
	struct {
		const char *text;
		uint32_t at;
	} seen[SEEN];            /* libdw gives the same pointer for the same string */
	int rc;
};

static uint32_t put_text(struct building *b, const char *text)
{
	size_t slot = ((uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN;
	uint32_t at = (uint32_t)b->texts.size;

	if (!text || !*text || b->texts.size + strlen(text) + 1 > MAX_TEXT)
		return 0;
	if (text == b->seen[slot].text)
		return b->seen[slot].at;
	if (parser_put(&b->texts, text, strlen(text) + 1)) {
		b->rc = -ENOMEM;
		return 0;
	}
	b->seen[slot].text = text;
	b->seen[slot].at = at;
	return at;
}

static uint32_t put_file(struct building *b, Dwarf_Word n)
{
	if (!b->file_texts || n >= b->nfiles)
		return 0;
	if (!b->file_texts[n])
		b->file_texts[n] = put_text(b, dwarf_filesrc(b->files, n, NULL, NULL));
	return b->file_texts[n];
}

/* ---- calls ----------------------------------------------------------------------------- */

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	/* follows abstract origins and specifications, for so many steps */
	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : string_of(die, DW_AT_name);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value))
		return 0;
	return value;
}

/* `depth` stands in for the parent until all are sorted. */
static void add_calls(struct building *b, Dwarf_Die *die, unsigned int depth, bool inlined)
{
	struct unit_call c = { .parent = depth };
	Dwarf_Addr base, from, to;
	bool named = false;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0) {
		if (!is_code(b->file, from, to))
			continue;
		if (b->ncalls >= MAX_CALLS) {
			b->rc = -E2BIG;
			return;
		}
		if (!named) {
			c.name = put_text(b, name_of(die));
			c.file = inlined ? put_file(b, number_of(die, DW_AT_call_file)) : 0;
			c.line = inlined ? (uint32_t)number_of(die, DW_AT_call_line) : 0;
			named = true;
		}
		c.from = from;
		c.to = to;
		if (parser_put(&b->calls, &c, sizeof(c))) {
			b->rc = -ENOMEM;
			return;
		}
		b->ncalls++;
	}
}

/* What may hold code. */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_common_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

/* All below `die`, without recursion: DWARF from a stranger nests as it likes. */
static void walk(struct building *b, Dwarf_Die *unit)
{
	struct {
		Dwarf_Die die;
		unsigned int depth;
	} stack[MAX_DEPTH];
	unsigned int n = 0;

	if (dwarf_child(unit, &stack[0].die))
		return;
	stack[n++].depth = 0;
	while (n && !b->rc) {
		Dwarf_Die die = stack[n - 1].die, child;
		unsigned int depth = stack[n - 1].depth, below = depth;
		int tag = dwarf_tag(&die);
		bool enter = is_scope(tag);

		if (!b->file->budget--) {
			b->rc = -E2BIG;
			return;
		}
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			/* an abstract one has no addresses, and what lies in it none either */
			bool inlined = tag == DW_TAG_inlined_subroutine;

			enter = inlined || dwarf_hasattr(&die, DW_AT_low_pc) ||
				dwarf_hasattr(&die, DW_AT_ranges);
			if (enter)
				add_calls(b, &die, inlined ? depth : 0, inlined);
			below = inlined ? depth + 1 : 1;
		}
		if (dwarf_siblingof(&die, &stack[n - 1].die))
			n--;
		if (enter && n < MAX_DEPTH && !dwarf_child(&die, &child)) {
			stack[n].die = child;
			stack[n++].depth = below;
		}
	}
}

static int by_place(const void *a_, const void *b_)
{
	const struct unit_call *a = a_, *b = b_;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->parent != b->parent)   /* depth: the outer first */
		return a->parent < b->parent ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

/* From depths to parents; what lies outside of its parent is cut. */
static void nest(struct building *b)
{
	struct unit_call *calls = b->calls.data;
	uint32_t stack[INLINES_MAX_DEPTH], n = 0, kept = 0;

	qsort(calls, b->ncalls, sizeof(*calls), by_place);
	for (size_t i = 0; i < b->ncalls; i++) {
		struct unit_call c = calls[i];

		while (n && (calls[stack[n - 1]].to <= c.from || n > c.parent))
			n--;
		if ((c.parent && !n) || n >= INLINES_MAX_DEPTH)
			continue;
		if (n && c.to > calls[stack[n - 1]].to)
			c.to = calls[stack[n - 1]].to;
		c.parent = n ? stack[n - 1] : UNIT_NONE;
		calls[kept] = c;
		stack[n++] = kept++;
	}
	b->ncalls = kept;
}

/* ---- lines ----------------------------------------------------------------------------- */

static void read_lines(struct building *b, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrcfiles(unit, &b->files, &b->nfiles))
		b->nfiles = 0;
	b->file_texts = b->nfiles ? calloc(b->nfiles, sizeof(*b->file_texts)) : NULL;
	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i < n && i < MAX_LINES && !b->rc; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct unit_line l = { 0 };
		Dwarf_Addr addr;
		bool end = true;
		int number = 0;

		if (dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end) ||
		    dwarf_lineno(line, &number))
			continue;
		l.addr = addr;
		if (!end) {
			l.file = put_text(b, dwarf_linesrc(line, NULL, NULL));
			l.line = (uint32_t)number;
		}
		if (parser_put(&b->lines, &l, sizeof(l)))
			b->rc = -ENOMEM;
		b->nlines++;
	}
}

static int by_addr(const void *a_, const void *b_)
{
	const struct unit_line *a = a_, *b = b_;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* libdw has them sorted, but for what a hostile file says; of several at one address the
 * last one counts. Discarded functions' lines are at addresses without code. */
static void sort_lines(struct building *b)
{
	struct unit_line *lines = b->lines.data;
	size_t kept = 0;
	bool sorted = true;

	for (size_t i = 1; i < b->nlines && sorted; i++)
		sorted = lines[i - 1].addr <= lines[i].addr;
	if (!sorted)
		qsort(lines, b->nlines, sizeof(*lines), by_addr);
	for (size_t i = 0; i < b->nlines; i++) {
		if (lines[i].line && !is_code(b->file, lines[i].addr, lines[i].addr + 1))
			continue;
		if (kept && lines[kept - 1].addr == lines[i].addr && !lines[i].line)
			continue;   /* the end of what lies before */
		if (kept && lines[kept - 1].addr == lines[i].addr)
			kept--;
		lines[kept++] = lines[i];
	}
	b->nlines = kept;
}

/* ---- the answer ------------------------------------------------------------------------ */

static int put_ranges(const struct file *f, Dwarf_Off unit, struct parser_bytes *out, uint32_t *n)
{
	struct unit_range last = { 0 };

	*n = 0;
	for (size_t i = 0; i < f->ncovers; i++) {
		struct unit_range r = { f->covers[i].from, f->covers[i].to };

		if (f->covers[i].die != unit)
			continue;
		if (r.from < last.to)
			r.from = last.to;
		if (r.from >= r.to)
			continue;
		if (parser_put(out, &r, sizeof(r)))
			return -ENOMEM;
		last = r;
		++*n;
	}
	return 0;
}

static int put_all(struct building *b, Dwarf_Off unit, struct parser_bytes *out)
{
	struct unit_head head = { .ncalls = (uint32_t)b->ncalls, .nlines = (uint32_t)b->nlines,
				  .text_size = (uint32_t)b->texts.size };

	if (parser_put(out, &head, sizeof(head)) || put_ranges(b->file, unit, out, &head.nranges) ||
	    parser_put(out, b->calls.data, b->ncalls * sizeof(struct unit_call)) ||
	    parser_put(out, b->lines.data, b->nlines * sizeof(struct unit_line)) ||
	    parser_put(out, b->texts.data, b->texts.size))
		return -ENOMEM;
	memcpy(out->data, &head, sizeof(head));
	return 0;
}

static int build(struct file *f, const struct cover *cover, struct parser_bytes *out)
{
	struct building *b = calloc(1, sizeof(*b));
	Dwarf_Die unit, split;
	int rc = !b ? -ENOMEM : dwarf_offdie(f->dwarf, cover->die, &unit) ? parser_put(&b->texts, "", 1)
									  : -ENODATA;

	f->budget = MAX_DIES;
	if (!rc) {
		b->file = f;
		/* the addresses are the skeleton's, the tree may be in a file of its own */
		if (dwarf_cu_info(unit.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) || !split.addr)
			split = unit;
		read_lines(b, &unit);
		walk(b, &split);
		nest(b);
		sort_lines(b);
		rc = b->rc ? b->rc : put_all(b, cover->die, out);
	}
	if (!b)
		return rc;
	free(b->file_texts);
	parser_bytes_free(&b->calls);
	parser_bytes_free(&b->lines);
	parser_bytes_free(&b->texts);
	free(b);
	return rc;
}

int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct unit_question ask;
	const struct cover *cover;
	struct files *files = *state;
	struct file *f;
	struct stat st;
	int rc;

	if (q->nfds != 1 || q->size != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, q->bytes, sizeof(ask));
	if (!files) {
		*state = files = calloc(1, sizeof(*files));
		if (!files)
			return -ENOMEM;
		for (int i = 0; i < MAX_FILES; i++)
			files->v[i].fd = -1;
	}
	if (fstat(q->fds[0], &st))
		return -errno;
	f = choose(files, &st);
	f->used = ++files->clock;
	rc = open_file(f, q->fds[0]);
	if (rc)
		return rc;
	cover = cover_of(f, ask.vaddr);
	return cover ? build(f, cover, out) : -ENOENT;
}
