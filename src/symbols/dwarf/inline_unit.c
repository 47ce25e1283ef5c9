/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the entries of a unit in place and uses those of functions. A function with code becomes
 * a node, its ranges become spans. A function inlined into it is deeper in the tree, so its spans
 * take precedence where both have code.
 */
#include "symbols/dwarf/inline_unit.h"

#include "base/now.h"
#include "base/room.h"
#include "base/search.h"
#include "symbols/dwarf/file.h"
#include "symbols/dwarf/inline_table.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/dwarf/inlines_question.h"
#include "symbols/dwarf/spans.h"
#include "symbols/dwarf/text.h"
#include "symbols/dwarf/unit_map.h"
#include "symbols/elf/strings.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- a table under construction -------------------------------------------------------- */

enum {
	MAX_NODES = 1 << 22, MAX_RANGES = 1 << 22, MAX_ROWS_OF_UNIT = 1 << 22,
	UNIT_SECONDS = 10,
};

struct inline_address_row {
	uint64_t addr;
	struct inline_row row;
};

/* An entry whose entries may be functions: a namespace, class or function. */
struct inline_scope {
	const uint8_t *begin, *end;
	uint32_t parent;         /* the scope around it; 0: none */
};

struct inline_maker {
	struct dwarf_file *file;
	struct dwarf_unit unit;
	const struct abbrevs *abbrevs;
	struct strings strings;
	struct spans spans;
	struct inline_node *nodes;
	size_t nnodes, nodes_cap;
	struct inline_address_row *rows;
	size_t nrows, rows_cap;
	struct inline_address_row ended;     /* the end of the last sequence, and the sequence's last row */
	bool scoped;             /* functions may be in scopes: not in C */
	struct inline_scope *scopes;     /* by their beginning; the first one means none */
	size_t nscopes, scopes_cap;
	Dwarf_Die *unscoped;     /* functions whose name has no scope yet */
	size_t nunscoped, unscoped_cap;
	Dwarf_Files *files;      /* of its line table; NULL: none */
	size_t nfiles, nranges;
	uint64_t work, deadline; /* CLOCK_MONOTONIC, ns */
};

enum { UNSCOPED = 1u << 31 };    /* instead of a name: this, and an index in unscoped */

static int inline_work_(struct inline_maker *m, unsigned int steps);

/* ---- names ------------------------------------------------------------------------------ */

/*
 * An instance of a function refers to its abstract origin, a definition to its declaration. One
 * of these entries has a linkage name, or else a name, to which its scope is added. Many
 * instances refer to the same entry, so its name is cached.
 */

enum { MAX_WAY = 16, NAME_STEPS = 16 };

static const char *text_of(struct inline_maker *m, Dwarf_Attribute *attr)
{
	if (!attr->valp)
		return NULL;
	attr->cu = m->unit.die.cu;
	return die_text(attr);
}

static const char *attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? die_text(&attr) : NULL;
}

static bool follow(Dwarf_Die *die, unsigned int name, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && dwarf_formref_die(&attr, to);
}

/* The last entry of that way, whatever has the name. */
static void inline_find_declaration_(Dwarf_Die *die)
{
	Dwarf_Die next;

	for (int i = 0; i < MAX_WAY && (follow(die, DW_AT_abstract_origin, &next) || follow(die, DW_AT_specification, &next)); i++)
		*die = next;
}

/* The name that is found from an entry; NULL: it has none. *from: the last entry of the way, its declaration. *whole: the
 * name has its scope. */
static const char *inline_find_name_(Dwarf_Die *die, bool *whole)
{
	const char *name = NULL, *linkage;
	Dwarf_Die next;

	*whole = true;
	for (int i = 0; i < MAX_WAY; i++) {
		linkage = attribute(die, DW_AT_linkage_name);
		if (!linkage)
			linkage = attribute(die, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name)
			name = attribute(die, DW_AT_name);
		if (!follow(die, DW_AT_abstract_origin, &next) && !follow(die, DW_AT_specification, &next))
			break;
		*die = next;
	}
	*whole = false;
	return name;
}

/* The key is the name's address in the file, where linkers store equal strings once. */
static int put_name(struct inline_maker *m, const char *name, uint32_t *at)
{
	*at = 0;
	if (!name || strings_find(&m->strings, name, at))
		return 0;
	return strings_put(&m->strings, name, dwarf_file_demangle(m->file, name), at);
}

/* Some compilers give lambdas linkage names, with a number instead of a place: _ZZ4mainENK3$_0clEv */
static bool may_be_lambda(const char *linkage)
{
	return linkage && !strncmp(linkage, "_ZZ", 3) && strstr(linkage, "cl") && (strstr(linkage, "$_") || strstr(linkage, "Ul"));
}

/* An entry's name without its scope: that is added when all scopes are known. */
static int put_unscoped(struct inline_maker *m, Dwarf_Die *die, const char *name, uint32_t *at)
{
	if (!m->scoped || !name || (const uint8_t *)die->addr < m->unit.begin || (const uint8_t *)die->addr >= m->unit.end)
		return put_name(m, name, at);
	if (!ROOM_FOR(m->unscoped, m->unscoped_cap, m->nunscoped, 1))
		return -ENOMEM;
	*at = UNSCOPED | (uint32_t)m->nunscoped;
	m->unscoped[m->nunscoped++] = *die;
	return 0;
}

static int name_of_origin(struct inline_maker *m, Dwarf_Die *origin, uint32_t *at)
{
	Dwarf_Die die = *origin;
	const char *name;
	bool whole;
	int rc;

	if (strings_find(&m->strings, origin->addr, at))
		return 0;
	rc = inline_work_(m, NAME_STEPS);
	name = rc ? NULL : inline_find_name_(&die, &whole);
	if (!rc)
		rc = whole && !may_be_lambda(name) ? put_name(m, name, at) : put_unscoped(m, &die, name, at);
	return rc ? rc : strings_alias(&m->strings, origin->addr, *at);
}

static int inline_name_(struct inline_maker *m, struct die *die, const uint8_t *entry, uint32_t *at)
{
	const char *name = text_of(m, &die->parts[DIE_LINKAGE_NAME]);
	Dwarf_Die own = { .addr = (void *)(uintptr_t)entry, .cu = m->unit.die.cu };
	int rc;

	*at = 0;
	if (name)
		return may_be_lambda(name) ? put_unscoped(m, &own, name, at) : put_name(m, name, at);
	for (int part = DIE_ORIGIN; part <= DIE_SPECIFICATION; part++) {
		Dwarf_Attribute *attr = &die->parts[part];
		Dwarf_Die origin;

		attr->cu = m->unit.die.cu;
		if (!attr->valp || !dwarf_formref_die(attr, &origin))
			continue;
		rc = name_of_origin(m, &origin, at);
		if (rc || *at)
			return rc;
	}
	return put_unscoped(m, &own, text_of(m, &die->parts[DIE_NAME]), at);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* A relative name is relative to the folder in which the compiler ran. That one may be relative, too, if the compiler
 * replaced its beginning (-ffile-prefix-map): then the name stays as it is. Names longer than a path stay, too. */
static const char *whole_path(struct inline_maker *m, const char *name, char buf[PATH_MAX])
{
	Dwarf_Attribute attr;
	const char *folder = dwarf_attr(&m->unit.die, DW_AT_comp_dir, &attr) ? die_text(&attr) : NULL;
	const char *rest = name;
	int n;

	if (*name == '/' || !folder || *folder != '/')
		return name;
	while (rest[0] == '.' && rest[1] == '/')
		for (rest += 2; *rest == '/'; rest++)
			;
	n = snprintf(buf, PATH_MAX, "%s%s%s", folder, folder[1] ? "/" : "", rest);
	return n < PATH_MAX ? buf : name;
}

static int put_file(struct inline_maker *m, const char *name, uint32_t *at)
{
	char buf[PATH_MAX];

	*at = 0;
	if (!name || strings_find(&m->strings, name, at))
		return 0;
	return strings_put(&m->strings, name, whole_path(m, name, buf), at);
}

static int inline_file_name_(struct inline_maker *m, uint64_t index, uint32_t *at)
{
	*at = 0;
	if (!m->files || index >= m->nfiles)
		return 0;
	return put_file(m, dwarf_filesrc(m->files, index, NULL, NULL), at);
}

/* A sequence ends with an empty row that repeats the previous one. If the next sequence begins at
 * the same address, libdw may sort that row after the next sequence's first one. */
static bool is_of_no_length(const struct inline_maker *m, uint64_t addr, struct inline_row row)
{
	const struct inline_address_row *last = m->nrows ? &m->rows[m->nrows - 1] : NULL;

	return m->ended.addr == addr && m->ended.row.line == row.line && m->ended.row.file == row.file &&
	       last && last->addr == addr && last->row.line;
}

static void end_sequence(struct inline_maker *m, uint64_t addr)
{
	if (m->nrows && m->rows[m->nrows - 1].addr != addr)
		m->ended = (struct inline_address_row){ addr, m->rows[m->nrows - 1].row };
}

/* The last one of several rows for an address is used. */
static int add_row(struct inline_maker *m, uint64_t addr, struct inline_row row)
{
	struct inline_address_row *last = m->nrows ? &m->rows[m->nrows - 1] : NULL;

	if (last && last->addr == addr) {
		last->row = row;
		return 0;
	}
	if (last && last->row.file == row.file && last->row.line == row.line)
		return 0;
	if (m->nrows == MAX_ROWS_OF_UNIT)
		return -E2BIG;
	if (!ROOM_FOR(m->rows, m->rows_cap, m->nrows, 1))
		return -ENOMEM;
	m->rows[m->nrows++] = (struct inline_address_row){ addr, row };
	return 0;
}

static int read_row(struct inline_maker *m, Dwarf_Line *line)
{
	struct inline_row row = { 0 };
	Dwarf_Addr addr;
	int number, rc;
	bool end;

	if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end))
		return 0;
	if (!dwarf_file_is_code(m->file, end ? addr - 1 : addr))
		return 0;
	if (end)
		end_sequence(m, addr);
	if (end || dwarf_lineno(line, &number) || number < 0)
		return add_row(m, addr, row);
	rc = put_file(m, dwarf_linesrc(line, NULL, NULL), &row.file);
	row.line = (uint32_t)number;
	return rc || is_of_no_length(m, addr, row) ? rc : add_row(m, addr, row);
}

/* libdw returns rows by ascending address, ends of sequences first. */
static int inline_read_lines_(struct inline_maker *m)
{
	Dwarf_Lines *lines;
	size_t n;
	int rc;

	if (dwarf_getsrclines(&m->unit.die, &lines, &n))
		return 0;
	dwarf_file_count_rows(m->file, n);
	rc = inline_work_(m, (unsigned int)n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = read_row(m, dwarf_onesrcline(lines, i));
	if (dwarf_getsrcfiles(&m->unit.die, &m->files, &m->nfiles))
		m->files = NULL;
	return rc;
}

/* ---- scopes ----------------------------------------------------------------------------- */

/*
 * Compilers give no linkage name to functions that no other unit can call: static ones, those in anonymous namespaces and
 * in local classes, and lambdas. Their names are made of the entries around them. An entry does not refer to the one
 * around it, so the walk notes where each namespace, class and function begins and ends.
 */

enum { MAX_SCOPES = 1 << 22, MAX_NESTING = 16, MAX_NAME = 4096, SCOPE_STEPS = 64 };

/* ---- during the walk ------------------------------------------------------------ */

static bool is_of_c(Dwarf_Die *unit)
{
	static const int languages[] = { DW_LANG_C, DW_LANG_C89, DW_LANG_C99, DW_LANG_C11, 0x2c /* C17 */, DW_LANG_Mips_Assembler };
	const int language = dwarf_srclang(unit);

	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (language == languages[i])
			return true;
	return false;
}

static int add_scope(struct inline_maker *m, const struct inline_scope *scope)
{
	if (m->nscopes == MAX_SCOPES)
		return -E2BIG;
	if (!ROOM_FOR(m->scopes, m->scopes_cap, m->nscopes, 1))
		return -ENOMEM;
	m->scopes[m->nscopes++] = *scope;
	return 0;
}

static int inline_begin_scopes_(struct inline_maker *m)
{
	m->scoped = !is_of_c(&m->unit.die);
	return add_scope(m, &(struct inline_scope){ NULL, NULL, 0 });
}

static bool is_class(unsigned int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* If entries of this tag may have functions: adds it to the scopes, and sets *scope, the one around it, to it. */
static int inline_open_scope_(struct inline_maker *m, unsigned int tag, const uint8_t *begin, uint32_t *scope)
{
	const struct inline_scope s = { begin, m->unit.end, *scope };

	if (!m->scoped || (tag != DW_TAG_namespace && tag != DW_TAG_subprogram && !is_class(tag)))
		return 0;
	*scope = (uint32_t)m->nscopes;
	return add_scope(m, &s);
}

/* The scope around an entry of the unit; 0: none. */
static uint32_t scope_of(const struct inline_maker *m, const uint8_t *entry)
{
	uint32_t i = (uint32_t)FIRST_NOT(k, 1, m->nscopes, m->scopes[k].begin < entry) - 1;

	for (; i && m->scopes[i].end <= entry; i = m->scopes[i].parent)
		;
	return i;
}

/* ---- names ------------------------------------------------------------------------ */

struct scoped_name {
	struct inline_maker *m;
	char text[MAX_NAME];
	size_t len;
	int nesting;
	bool good;               /* it is complete */
};

static void put(struct scoped_name *n, const char *text)
{
	const size_t len = strlen(text), between = n->len ? 2 : 0;

	n->good = n->good && n->len + between + len < sizeof(n->text);
	if (!n->good)
		return;
	memcpy(n->text + n->len, "::", between);
	memcpy(n->text + n->len + between, text, len + 1);
	n->len += between + len;
}

/* libdw takes 0 for no file, but in DWARF 5 it is the first one. */
static const char *file_of(const struct scoped_name *n, Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attr;
	Dwarf_Word index;

	if (file || !n->m->files || dwarf_formudata(dwarf_attr(die, DW_AT_decl_file, &attr), &index) || index >= n->m->nfiles)
		return file;
	return dwarf_filesrc(n->m->files, index, NULL, NULL);
}

/* "{lambda at cart.cc:12}" */
static void put_nameless(struct scoped_name *n, const char *what, Dwarf_Die *die)
{
	const char *file = file_of(n, die), *slash = file ? strrchr(file, '/') : NULL;
	char text[512];
	int line = 0;

	if (file && !dwarf_decl_line(die, &line))
		snprintf(text, sizeof(text), "{%s at %s:%d}", what, slash ? slash + 1 : file, line);
	else
		snprintf(text, sizeof(text), "{%s}", what);
	put(n, text);
}

static void put_function(struct scoped_name *n, Dwarf_Die *die);

static Dwarf_Die entry_of(const struct scoped_name *n, uint32_t scope)
{
	return (Dwarf_Die){ .addr = (void *)(uintptr_t)n->m->scopes[scope].begin, .cu = n->m->unit.die.cu };
}

/* A scope with those around it. nameless: what a class without a name is. */
static void put_scope(struct scoped_name *n, uint32_t scope, const char *nameless)
{
	Dwarf_Die die = entry_of(n, scope);
	const char *name;
	int tag;

	if (!scope)
		return;
	n->good = n->good && n->nesting++ < MAX_NESTING;
	if (!n->good)
		return;
	tag = dwarf_tag(&die);
	if (tag == DW_TAG_subprogram) {
		put_function(n, &die);
		return;
	}
	put_scope(n, n->m->scopes[scope].parent, "unnamed");
	name = die_name(&die);
	if (name || tag == DW_TAG_namespace)
		put(n, name ? name : "(anonymous namespace)");
	else
		put_nameless(n, nameless, &die);
}

static bool is_call_operator(const char *name)
{
	static const char call[] = "operator()";

	return !strncmp(name, call, sizeof(call) - 1);
}

/* A lambda is a class without a name whose operator() is its code. */
static bool is_lambda(const struct scoped_name *n, uint32_t scope, const char *name)
{
	Dwarf_Die die = entry_of(n, scope);

	return scope && name && is_call_operator(name) && is_class((unsigned int)dwarf_tag(&die)) && !die_name(&die);
}

static void put_function(struct scoped_name *n, Dwarf_Die *die)
{
	Dwarf_Die last = *die;
	const uint8_t *at;
	bool whole;
	const char *name = inline_find_name_(&last, &whole);
	uint32_t scope;

	inline_find_declaration_(&last);
	at = last.addr;
	scope = at >= n->m->unit.begin && at < n->m->unit.end ? scope_of(n->m, at) : 0;
	n->good = n->good && name;
	if (n->good && is_lambda(n, scope, whole ? die_name(&last) : name)) {
		put_scope(n, scope, "lambda");
		return;
	}
	if (whole) {
		put(n, dwarf_file_demangle(n->m->file, name));
		return;
	}
	put_scope(n, scope, "unnamed");
	if (n->good)
		put(n, name);
}

/* If its scopes cannot be named: its name alone. */
static int name_function(struct inline_maker *m, Dwarf_Die *die, uint32_t *at)
{
	struct scoped_name n = { .m = m, .good = true };
	const char *text = n.text;
	int rc = inline_work_(m, SCOPE_STEPS);

	if (rc)
		return rc;
	put_function(&n, die);
	if (!n.good)
		text = die_name(die);
	return strings_put(&m->strings, die->addr, text, at);
}

/* When all is read: the names of m->unscoped, in all nodes. */
static int inline_name_scopes_(struct inline_maker *m)
{
	uint32_t *names = calloc(m->nunscoped + 1, sizeof(*names));
	int rc = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->nunscoped && !rc; i++)
		rc = name_function(m, &m->unscoped[i], &names[i]);
	for (size_t i = 0; i < m->nnodes && !rc; i++)
		if (m->nodes[i].name & UNSCOPED)
			m->nodes[i].name = names[m->nodes[i].name & ~UNSCOPED];
	free(names);
	return rc;
}

enum { MAX_DEPTH = 1024, STEPS_PER_LOOK = 1 << 14 };

/* ---- time ------------------------------------------------------------------- */

/* Counts steps, and checks the time limit. */
static int inline_work_(struct inline_maker *m, unsigned int steps)
{
	uint64_t before = m->work;

	m->work += steps;
	return before / STEPS_PER_LOOK != m->work / STEPS_PER_LOOK && now_ns(CLOCK_MONOTONIC) > m->deadline ? -ETIME : 0;
}

/* ---- functions -------------------------------------------------------------- */

static int add_node(struct inline_maker *m, const struct inline_node *node)
{
	if (m->nnodes == MAX_NODES)
		return -E2BIG;
	if (!ROOM_FOR(m->nodes, m->nodes_cap, m->nnodes, 1))
		return -ENOMEM;
	m->nodes[m->nnodes++] = *node;
	return 0;
}

static int add_range(struct inline_maker *m, uint64_t start, uint64_t end, uint32_t depth)
{
	if (++m->nranges > MAX_RANGES)
		return -E2BIG;
	if (!dwarf_file_clip(m->file, start, &end))
		return 0;
	return spans_add(&m->spans, start, end, (uint32_t)m->nnodes, depth);
}

static int add_list(struct inline_maker *m, const uint8_t *at, uint32_t depth)
{
	Dwarf_Die die = { .addr = (void *)(uintptr_t)at, .cu = m->unit.die.cu };
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	int rc = 0;

	while (!rc && (next = dwarf_ranges(&die, next, &base, &start, &end)) > 0) {
		rc = inline_work_(m, 1);
		if (!rc)
			rc = add_range(m, start, end, depth);
	}
	return rc;
}

/* DW_AT_high_pc is an address or a size. */
static bool high_pc(const struct die *d, Dwarf_Attribute *attr, uint64_t low, uint64_t *high)
{
	Dwarf_Word size;

	if (!dwarf_formaddr(attr, high))
		return true;
	if (attr->form == DW_FORM_implicit_const)
		size = (uint64_t)d->constants[DIE_HIGH_PC];
	else if (dwarf_formudata(attr, &size))
		return false;
	*high = low + size;
	return *high >= low;
}

static int add_ranges(struct inline_maker *m, struct die *d, const uint8_t *at, uint32_t depth)
{
	Dwarf_Attribute *low = &d->parts[DIE_LOW_PC], *high = &d->parts[DIE_HIGH_PC];
	uint64_t start, end;

	if (d->parts[DIE_RANGES].valp)
		return add_list(m, at, depth);
	if (!low->valp || !high->valp)
		return 0;
	low->cu = high->cu = m->unit.die.cu;
	if (dwarf_formaddr(low, &start) || !high_pc(d, high, start, &end))
		return 0;
	return add_range(m, start, end, depth);
}

static uint64_t number(struct inline_maker *m, struct die *d, enum die_part part)
{
	Dwarf_Attribute *attr = &d->parts[part];
	Dwarf_Word value;

	if (!attr->valp)
		return 0;
	if (attr->form == DW_FORM_implicit_const)
		return (uint64_t)d->constants[part];
	attr->cu = m->unit.die.cu;
	return dwarf_formudata(attr, &value) ? 0 : value;
}

/* *node: the enclosing node; set to the node that encloses the children: the new one, if it has code. */
static int add_function(struct inline_maker *m, struct die *d, const uint8_t *at, bool inlined,
			uint32_t depth, uint32_t *node)
{
	struct inline_node n = { .parent = inlined ? *node : 0 };
	size_t before = m->spans.n;
	uint64_t line;
	int rc = add_ranges(m, d, at, depth);

	if (!inlined)
		*node = 0;
	if (rc || m->spans.n == before)
		return rc;
	rc = inline_name_(m, d, at, &n.name);
	if (!rc && n.parent && d->parts[DIE_CALL_FILE].valp)
		rc = inline_file_name_(m, number(m, d, DIE_CALL_FILE), &n.call_file);
	line = number(m, d, DIE_CALL_LINE);
	n.call_line = n.parent && line <= UINT32_MAX ? (uint32_t)line : 0;
	*node = (uint32_t)m->nnodes;
	return rc ? rc : add_node(m, &n);
}

/* ---- the walk --------------------------------------------------------------- */

struct walk {
	const uint8_t *p;
	uint32_t depth;
	uint32_t nodes[MAX_DEPTH + 1];   /* by depth: the enclosing function */
	uint32_t scopes[MAX_DEPTH + 1];  /* by depth: the enclosing scope */
};

/* At the end of an entry with entries in it. */
static void leave(struct inline_maker *m, struct walk *w)
{
	if (!w->depth)
		return;
	if (w->scopes[w->depth] != w->scopes[w->depth - 1])
		m->scopes[w->scopes[w->depth]].end = w->p;
	w->depth--;
}

/* Takes one entry and moves w to the next; false at the end, or at damaged data. */
static bool step(struct inline_maker *m, struct walk *w, int *rc)
{
	const uint8_t *at = w->p, *end = m->unit.end;
	const struct abbrev *b;
	uint32_t node = w->nodes[w->depth];
	unsigned int tag;
	uint64_t code;

	if (!read_leb(&w->p, end, &code))
		return false;
	if (!code) {
		leave(m, w);
		return w->depth > 0;
	}
	b = abbrevs_find(m->abbrevs, code);
	if (!b)
		return false;
	tag = abbrev_tag(b);
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		struct die d = { 0 };

		w->p = abbrev_walk(m->abbrevs, b, w->p, end, &d);
		if (w->p)
			*rc = add_function(m, &d, at, tag == DW_TAG_inlined_subroutine, w->depth, &node);
	} else {
		w->p = abbrev_walk(m->abbrevs, b, w->p, end, NULL);
	}
	if (!w->p || *rc)
		return false;
	if (!abbrev_has_children(b))
		return w->depth;
	w->nodes[w->depth + 1] = node;
	w->scopes[w->depth + 1] = w->scopes[w->depth];
	w->depth++;
	*rc = inline_open_scope_(m, tag, at, &w->scopes[w->depth]);
	return !*rc && w->depth < MAX_DEPTH;
}

static int walk(struct inline_maker *m)
{
	struct walk w = { .p = m->unit.begin };
	int rc = 0;

	while (!rc && step(m, &w, &rc))
		rc = inline_work_(m, 1);
	return rc;
}

/* ---- packing ---------------------------------------------------------------- */

/* Limits a table to 4 GiB from its first address: no unit is larger. */
static size_t within(uint64_t base, uint64_t addr)
{
	return addr - base <= UINT32_MAX;
}

static uint32_t put_addresses(struct parser_bytes *out, uint64_t base, const void *first, size_t n,
			      size_t stride, int *rc)
{
	uint32_t count = 0;

	for (size_t i = 0; i < n && !*rc; i++) {
		uint64_t addr;
		uint32_t at;

		memcpy(&addr, (const char *)first + i * stride, sizeof(addr));
		if (!within(base, addr))
			break;
		at = (uint32_t)(addr - base);
		*rc = parser_put(out, &at, sizeof(at));
		count++;
	}
	return count;
}

static int put_all(struct inline_maker *m, const struct flat_span *flat, size_t nflat,
		   struct parser_bytes *out)
{
	struct inline_head head = { .base = nflat ? flat->start : UINT64_MAX };
	size_t at = out->size;
	int rc;

	if (m->nrows && m->rows->addr < head.base)
		head.base = m->rows->addr;
	rc = parser_put(out, &head, sizeof(head));
	head.nspans = put_addresses(out, head.base, flat, nflat, sizeof(*flat), &rc);
	for (uint32_t i = 0; i < head.nspans && !rc; i++)
		rc = parser_put(out, &flat[i].value, sizeof(flat[i].value));
	head.nnodes = (uint32_t)m->nnodes;
	if (!rc)
		rc = parser_put(out, m->nodes, m->nnodes * sizeof(*m->nodes));
	head.nrows = put_addresses(out, head.base, m->rows, m->nrows, sizeof(*m->rows), &rc);
	for (uint32_t i = 0; i < head.nrows && !rc; i++)
		rc = parser_put(out, &m->rows[i].row, sizeof(m->rows[i].row));
	head.nstrings = (uint32_t)m->strings.text.size;
	if (!rc)
		rc = parser_put(out, m->strings.text.data, m->strings.text.size);
	if (!rc)
		memcpy((char *)out->data + at, &head, sizeof(head));
	return rc;
}

static int pack(struct inline_maker *m, struct parser_bytes *out)
{
	size_t nflat;
	struct flat_span *flat = spans_flatten(&m->spans, &nflat);
	int rc = flat ? put_all(m, flat, nflat, out) : -ENOMEM;

	free(flat);
	return rc;
}

static int make(struct inline_maker *m, struct parser_bytes *out)
{
	int rc = add_node(m, &(struct inline_node){ 0 });

	if (!rc)
		rc = strings_alias(&m->strings, m, 0);   /* strings begin with an empty one */
	if (!rc)
		rc = inline_read_lines_(m);
	if (!rc)
		rc = inline_begin_scopes_(m);
	if (!rc)
		rc = walk(m);
	if (!rc)
		rc = inline_name_scopes_(m);
	return rc ? rc : pack(m, out);
}

int inline_unit_pack(struct dwarf_file *f, size_t unit, struct parser_bytes *out)
{
	struct inline_maker m = { .file = f, .deadline = now_ns(CLOCK_MONOTONIC) + UNIT_SECONDS * UINT64_C(1000000000) };
	int rc;

	if (!dwarf_file_unit(f, unit, &m.unit))
		return -ENOEXEC;
	m.abbrevs = dwarf_file_abbrevs(f, &m.unit);
	if (!m.abbrevs)
		return -errno;
	rc = make(&m, out);
	strings_free(&m.strings);
	spans_free(&m.spans);
	free(m.nodes);
	free(m.scopes);
	free(m.unscoped);
	free(m.rows);
	return rc;
}

/* ---- answer ----------------------------------------------------------------------------- */

/* Runs where DWARF is read. A few files stay open between questions. */

enum { MAX_OPEN = 4 };

#define MAX_OPEN_BYTES (2ull << 30)

struct open_file {
	struct stat st;
	bool has_alt;
	struct dwarf_file *file;
};

struct open_files {
	struct open_file all[MAX_OPEN];  /* most recently used first */
	unsigned int n;
};

static void drop_last(struct open_files *o)
{
	dwarf_file_free(o->all[--o->n].file);
}

void inlines_forget(void *state)
{
	struct open_files *o = state;

	while (o->n)
		drop_last(o);
	free(o);
}

static bool is_same(const struct open_file *f, const struct stat *st, bool has_alt)
{
	return f->has_alt == has_alt && f->st.st_ino == st->st_ino && f->st.st_dev == st->st_dev &&
	       f->st.st_size == st->st_size && f->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       f->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static void make_room(struct open_files *o)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < o->n; i++)
		bytes += dwarf_file_bytes(o->all[i].file);
	while (o->n && (o->n == MAX_OPEN || bytes > MAX_OPEN_BYTES)) {
		bytes -= dwarf_file_bytes(o->all[o->n - 1].file);
		drop_last(o);
	}
}

static struct dwarf_file *get(struct open_files *o, const struct parser_question *q)
{
	struct open_file found = { .has_alt = q->nfds > 1 };
	unsigned int i;

	if (fstat(q->fds[0], &found.st))
		return NULL;
	for (i = 0; i < o->n && !is_same(&o->all[i], &found.st, found.has_alt); i++)
		;
	if (i < o->n) {
		found = o->all[i];
	} else {
		found.file = dwarf_file_open(q->fds[0], found.has_alt ? q->fds[1] : -1);
		if (!found.file)
			return NULL;
		make_room(o);
		i = o->n++;
	}
	memmove(&o->all[1], &o->all[0], i * sizeof(*o->all));
	o->all[0] = found;
	return found.file;
}

static int put_alt(struct dwarf_file *f, struct parser_bytes *out)
{
	struct debug_alt alt = { .split = dwarf_file_split(f) };
	const void *id;
	size_t size;
	const char *path = dwarf_file_alt(f, &id, &size);

	if (path && size <= sizeof(alt.build_id) && strnlen(path, ALT_PATH_MAX) < ALT_PATH_MAX) {
		strcpy(alt.path, path);
		memcpy(alt.build_id, id, size);
		alt.build_id_size = (uint32_t)size;
	}
	return parser_put(out, &alt, sizeof(alt));
}

int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct inlines_question question;
	struct dwarf_file *f;
	int rc;

	if (!q->nfds || q->nfds > 2 || q->size != sizeof(question))
		return -EINVAL;
	memcpy(&question, q->bytes, sizeof(question));
	if (!*state && !(*state = calloc(1, sizeof(struct open_files))))
		return -ENOMEM;
	f = get(*state, q);
	if (!f)
		return -ENOEXEC;
	if (question.what == INLINES_MAP) {
		rc = put_alt(f, out);
		return rc ? rc : unit_map_pack(f, out);
	}
	if (question.what != INLINES_UNIT || question.unit >= dwarf_file_units(f))
		return -EINVAL;
	return inline_unit_pack(f, question.unit, out);
}
