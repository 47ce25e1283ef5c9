/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of params_answer. */
#ifndef SYMBOLS_DWARF_PARAMS_PRIVATE_H
#define SYMBOLS_DWARF_PARAMS_PRIVATE_H

#include "symbols/dwarf/params.h"
#include "symbols/dwarf/text.h"

#include <elfutils/libdw.h>

/* A value and its type. Without steps it is in the register itself; an object in memory has one step at least. */
struct param_value {
	struct param place;      /* without name and type */
	bool known;              /* false: it is in no register, or in a part of several */
	Dwarf_Die type;          /* addr NULL: void */
};

/* ---- params_type.c */

/* The type without names for types and qualifiers; false: none. */
bool param_peel_(Dwarf_Die *type);
bool param_type_of_(Dwarf_Die *die, Dwarf_Die *type);
/* Whether it is passed as a structure, union or array. */
bool param_is_aggregate_(Dwarf_Die *type);
bool param_is_float_(Dwarf_Die *type);
/* Whether the entry is a member or a base class, with a place in each object; bit fields count. */
bool param_is_member_(Dwarf_Die *die);
/* Goes on to what the pointer or reference refers to; false: it is neither, or there are too many steps. */
bool param_follow_(struct param_value *v);
/* Goes on to a member: 0, or as params_find(). */
int param_member_(struct param_value *v, const char *name, size_t len);
/* Turns the value into what a probe fetches. */
void param_finish_(struct param_value *v);

/* ---- params_abi.c: where a function's arguments are by the calling convention of C, one after the other. */
struct param_abi {
	unsigned int integers, floats;   /* registers that are taken */
	uint64_t stack;                  /* offset of the next argument on the stack */
	bool lost;                       /* it is not known where the others are */
	bool stack_lost;                 /* the same for those on the stack */
};
/* returned: the type that the function returns, or NULL. False: this machine's convention is not known. */
bool param_abi_begin_(struct param_abi *abi, Dwarf_Die *returned, unsigned int machine);
/* Fills v->place and v->known, for v->type. */
void param_abi_next_(struct param_abi *abi, struct param_value *v);
/* Whether a value of that type is returned in memory whose address is in the register of returned values. */
bool param_abi_in_memory_(Dwarf_Die *returned);
/* Whether arguments may be in that register. */
bool param_abi_has_(unsigned int reg);
#endif
