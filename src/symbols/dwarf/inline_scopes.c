/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compilers give no linkage name to functions that no other unit can call: static ones, those in anonymous namespaces and
 * in local classes, and lambdas. Their names are made of the entries around them. An entry does not refer to the one
 * around it, so the walk notes where each namespace, class and function begins and ends.
 */
#include "symbols/dwarf/inline_private.h"

#include "base/room.h"
#include "base/search.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int inline_begin_scopes_(struct inline_maker *m)
{
	m->scoped = !is_of_c(&m->unit.die);
	return add_scope(m, &(struct inline_scope){ NULL, NULL, 0 });
}

static bool is_class(unsigned int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

int inline_open_scope_(struct inline_maker *m, unsigned int tag, const uint8_t *begin, uint32_t *scope)
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

int inline_name_scopes_(struct inline_maker *m)
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
