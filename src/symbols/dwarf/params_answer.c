/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function by its address, and its parameters; this runs inside the jail. */
#include "symbols/dwarf/params_private.h"
#include "symbols/dwarf/private.h"
#include "symbols/elf/demangle.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 100, MAX_QUESTION = 4096, MAX_PARTS = 64 };

/* How arguments are passed. In Rust as in C, but for structures: where they and what follows are is not specified. */
enum convention { BY_UNKNOWN, BY_C, BY_RUST };

struct function {
	Dwarf_Die die;
	uint64_t address;
	unsigned int machine;
	enum convention by;
	bool split;              /* its unit is only a skeleton: the rest is in a .dwo file (-gsplit-dwarf) */
};

/* ---- the function ------------------------------------------------------------- */

/* A function of several parts may have no entry but a list of them. */
static bool begins_at(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	if (!dwarf_entrypc(die, &start))
		return start == address;
	for (int i = 0; i < MAX_PARTS && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0; i++)
		if (start == address)
			return true;
	return false;
}

static int take_function(Dwarf_Die *die, void *ctx)
{
	struct function *f = ctx;

	if (!begins_at(die, f->address))
		return DWARF_CB_OK;
	f->die = *die;
	return DWARF_CB_ABORT;
}

/* Fortran passes addresses of what its types say, for example, and Go has registers of its own. */
static enum convention convention_of(Dwarf_Die *unit)
{
	static const int c[] = {
		DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, 0x2c /* C17 */, 0x3e /* C23 */, DW_LANG_C_plus_plus,
		DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14, 0x2a /* C++17 */, 0x2b /* C++20 */,
		0x3a /* C++23 */, DW_LANG_ObjC, DW_LANG_ObjC_plus_plus,
	};
	const int language = dwarf_srclang(unit);

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++)
		if (language == c[i])
			return BY_C;
	return language == DW_LANG_Rust ? BY_RUST : BY_UNKNOWN;
}

static bool find_function(Dwarf *dwarf, struct function *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL)) {
		f->split |= unit.addr && type == DW_UT_skeleton && dwarf_haspc(&unit, f->address) > 0;
		if (!unit.addr || (type != DW_UT_compile && type != DW_UT_partial) || dwarf_haspc(&unit, f->address) <= 0)
			continue;
		dwarf_getfuncs(&unit, take_function, f, 0);
		if (f->die.addr) {
			f->by = convention_of(&unit);
			return true;
		}
	}
	return false;
}

/* ---- where a parameter is --------------------------------------------------------- */

/* In a register when the function is entered, or in memory to which such a register points. */
static bool place_by_location(const struct function *f, Dwarf_Die *die, struct param_value *v)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	unsigned int op, reg;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation_addr(&attr, f->address, &ops, &n, 1) <= 0 || n != 1)
		return false;
	op = ops[0].atom;
	reg = op >= DW_OP_breg0 ? op - DW_OP_breg0 : op - DW_OP_reg0;
	if (op < DW_OP_reg0 || op > DW_OP_breg31 || (f->by != BY_UNKNOWN && !param_abi_has_(reg)))
		return false;
	v->place = (struct param){ .reg = (uint8_t)reg };
	if (op >= DW_OP_breg0 && (int64_t)ops[0].number == (int32_t)ops[0].number)
		v->place.steps[v->place.nsteps++] = (int32_t)ops[0].number;
	v->known = op < DW_OP_breg0 || v->place.nsteps;
	return v->known;
}

/* A structure in one register is a part of several, or small: there is nothing to fetch. */
static void place(const struct function *f, struct param_abi *abi, Dwarf_Die *die, struct param_value *v)
{
	struct param_value by_location = *v;

	abi->lost |= f->by == BY_RUST && param_is_aggregate_(&v->type);
	param_abi_next_(abi, v);
	if (place_by_location(f, die, &by_location))
		*v = by_location;
	if (!v->place.nsteps && param_is_aggregate_(&v->type))
		v->known = false;
}

static bool begin_abi(const struct function *f, struct param_abi *abi)
{
	Dwarf_Die die = f->die, returned;
	bool has = param_type_of_(&die, &returned);

	return param_abi_begin_(abi, has ? &returned : NULL, f->machine) && f->by != BY_UNKNOWN &&
	       !(f->by == BY_RUST && has && param_is_aggregate_(&returned));
}

/* ---- answers ---------------------------------------------------------------------- */

static int put(struct parser_bytes *out, struct param_value *v, const char *name, size_t len)
{
	param_finish_(v);
	len = len < PARAM_NAME ? len : PARAM_NAME - 1;
	memset(v->place.name, 0, PARAM_NAME);
	memcpy(v->place.name, name, len);
	return parser_put(out, &v->place, sizeof(v->place));
}

/* Goes from a parameter to its member: "->next->id". The name is then that of the last member. */
static int follow_path(struct param_value *v, const char **name, const char *path)
{
	int rc = 0;

	while (*path && !rc) {
		size_t sign = path[0] == '.' ? 1 : 2, len;

		if (path[0] != '.' && strncmp(path, "->", 2))
			return -ENXIO;
		path += sign;
		len = strcspn(path, ".-");
		param_follow_(v);   /* a reference, or a pointer: "." is accepted there, too */
		rc = len ? param_member_(v, path, len) : -ENXIO;
		*name = path;
		path += len;
	}
	return rc;
}

/* 1: it was put. */
static int take_param(struct parser_bytes *out, struct param_value *v, const char *own, enum params_what what,
		      const char *wanted)
{
	size_t len = strcspn(wanted, ".-");
	const char *last = own;
	int rc;

	if (what == PARAMS_ALL)
		return put(out, v, own, strlen(own));
	if (strlen(own) != len || memcmp(own, wanted, len))
		return 0;
	if (!v->known && wanted[len])
		return -ENOTDIR;
	rc = follow_path(v, &last, wanted + len);
	if (rc)
		return rc;
	rc = put(out, v, last, strcspn(last, ".-"));
	return rc ? rc : 1;
}

/* Results of Go have names such as ~r0. */
static bool is_word(const char *name)
{
	return name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] &&
	       !strchr("0123456789", name[0]);
}

static int answer_params(const struct function *f, enum params_what what, const char *wanted, struct parser_bytes *out)
{
	struct param_abi abi;
	bool known = begin_abi(f, &abi);
	Dwarf_Die die = f->die;
	int rc = 0, n = 0;

	abi.lost = !known;
	for (int end = dwarf_child(&die, &die); !end && !rc && n < MAX_PARAMS; end = dwarf_siblingof(&die, &die)) {
		struct param_value v = { 0 };
		const char *name;

		if (dwarf_tag(&die) != DW_TAG_formal_parameter || !param_type_of_(&die, &v.type))
			continue;
		place(f, &abi, &die, &v);
		name = die_name(&die);
		n++;
		if (is_word(name))
			rc = take_param(out, &v, name, what, wanted);
	}
	return rc < 0 ? rc : rc || what == PARAMS_ALL ? 0 : -ENOENT;
}

static int answer_returned(const struct function *f, const char *wanted, struct parser_bytes *out)
{
	struct param_value v = { .place = { .reg = PARAM_RETURNED }, .known = true };
	Dwarf_Die die = f->die;
	int rc;

	if (!param_type_of_(&die, &v.type))
		return -ENOENT;
	if (param_abi_in_memory_(&v.type))
		v.place.steps[v.place.nsteps++] = 0;
	rc = take_param(out, &v, "ret", PARAMS_ONE, wanted);
	return rc < 0 ? rc : rc ? 0 : -ENOENT;
}

/* ---- inlined functions -------------------------------------------------------------- */

struct inlined {
	const char *wanted;      /* without parameters: "shop::add" */
	bool found;
};

static bool has_name(Dwarf_Die *die, const char *wanted)
{
	const char *own = die_name(die), *linked, *last = strrchr(wanted, ':');
	char bare[DEMANGLE_MAX];
	Dwarf_Attribute attr;

	if (!own || strcmp(own, last ? last + 1 : wanted))
		return false;
	linked = last && dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ? die_text(&attr) : NULL;
	return !linked || (!demangle(linked, bare) && !strcmp(bare, wanted));
}

static int take_inlined(Dwarf_Die *die, void *ctx)
{
	struct inlined *i = ctx;

	if (!dwarf_func_inline(die) || !has_name(die, i->wanted))
		return DWARF_CB_OK;
	i->found = true;
	return DWARF_CB_ABORT;
}

static int answer_inlined(Dwarf *dwarf, const char *wanted, struct parser_bytes *out)
{
	struct param_value none = { 0 };
	struct inlined i = { .wanted = wanted };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	while (!i.found && !dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL))
		if (unit.addr && (type == DW_UT_compile || type == DW_UT_partial))
			dwarf_getfuncs(&unit, take_inlined, &i, 0);
	return !i.found ? -ENOENT : put(out, &none, "inlined", 7);
}

static int answer(Elf *elf, Dwarf *dwarf, const struct params_question *q, const char *wanted, struct parser_bytes *out)
{
	struct function f = { .address = q->address };
	GElf_Ehdr header;

	if (q->what == PARAMS_INLINED)
		return answer_inlined(dwarf, wanted, out);
	if (!gelf_getehdr(elf, &header) || !find_function(dwarf, &f))
		return f.split ? -EREMOTE : -ENODATA;
	f.machine = header.e_machine;
	if (q->is_copy)
		f.by = BY_UNKNOWN;
	return q->what == PARAMS_RETURNED ? answer_returned(&f, wanted, out) : answer_params(&f, q->what, wanted, out);
}

int params_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct elf_source main = { .fd = -1 }, alt = { .fd = -1 };
	const char *name = (const char *)q->bytes + sizeof(struct params_question);
	struct params_question question;
	int rc;

	if (q->nfds != 1 || q->size <= sizeof(question) || q->size > MAX_QUESTION || ((const char *)q->bytes)[q->size - 1])
		return -EINVAL;
	memcpy(&question, q->bytes, sizeof(question));
	rc = elf_source_open_(&main, q->fds[0], true) ? -ENODATA : elf_source_empty_(&alt);
	if (!rc) {
		dwarf_setalt(main.dwarf, alt.dwarf);
		rc = answer(main.elf, main.dwarf, &question, name, out);
	}
	elf_source_close_(&main);
	elf_source_close_(&alt);
	return rc;
}
