/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function by its address, and its parameters; this runs inside the jail. */
#include "symbols/dwarf/params.h"
#include "symbols/dwarf/private.h"
#include "symbols/dwarf/text.h"
#include "symbols/elf/demangle.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value and its type. Without steps it is in the register itself; an object in memory has one step at least. */
struct param_value {
	struct param place;      /* without name and type */
	bool known;              /* false: it is in no register, or in a part of several */
	Dwarf_Die type;          /* addr NULL: void */
};

/* ---- params_type.c */

/* ---- params_abi.c: where a function's arguments are by the calling convention of C, one after the other. */
struct param_abi {
	unsigned int integers, floats;   /* registers that are taken */
	uint64_t stack;                  /* offset of the next argument on the stack */
	bool lost;                       /* it is not known where the others are */
	bool stack_lost;                 /* the same for those on the stack */
};

static bool param_type_of_(Dwarf_Die *die, Dwarf_Die *type);
static bool param_is_aggregate_(Dwarf_Die *type);
static bool param_is_float_(Dwarf_Die *type);
static bool param_is_member_(Dwarf_Die *die);

/*
 * The System V convention of x86-64, and AAPCS64. Programs that were compiled without optimization describe their
 * parameters only behind the code that copies them to the stack; when a function is entered, the convention says where
 * they are.
 */

enum { MAX_FIELDS = 64, MAX_CHILDREN = 4096, STACK_POINTER_X86 = 7, STACK_POINTER_ARM = 31 };

#if defined(__aarch64__)
enum { MACHINE = EM_AARCH64, NINTEGERS = 8, NFLOATS = 8, STACK_POINTER = STACK_POINTER_ARM, STACK_BEGIN = 0 };
static const uint8_t integer_registers[NINTEGERS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
#elif defined(__x86_64__)
enum { MACHINE = EM_X86_64, NINTEGERS = 6, NFLOATS = 8, STACK_POINTER = STACK_POINTER_X86, STACK_BEGIN = 8 };
static const uint8_t integer_registers[NINTEGERS] = { 5, 4, 1, 2, 8, 9 };
#else
enum { MACHINE = EM_NONE, NINTEGERS = 1, NFLOATS = 1, STACK_POINTER = 0, STACK_BEGIN = 0 };
static const uint8_t integer_registers[NINTEGERS] = { 0 };
#endif

/* ---- what a type needs -------------------------------------------------------- */

struct needs {
	unsigned int integers, floats;
	uint64_t size;
	bool memory;             /* on the stack, or, if by_address, at an address in one register */
	bool by_address;
};

/* The first 16 bytes of a structure, by halves: which kinds of numbers they have. */
struct halves {
	bool integer[2], number[2];
	unsigned int fields;
	bool odd;                /* what needs its own rules: long double, a bit field, an unaligned field */
};

static void look_at(struct halves *h, Dwarf_Die *type, uint64_t at, int depth);

static void look_at_members(struct halves *h, Dwarf_Die *type, uint64_t at, int depth)
{
	Dwarf_Die die;

	for (int rc = dwarf_child(type, &die); !rc && h->fields < MAX_FIELDS; rc = dwarf_siblingof(&die, &die)) {
		Dwarf_Attribute attr;
		Dwarf_Word offset = 0;
		Dwarf_Die of;

		if (!param_is_member_(&die))
			continue;
		h->odd |= dwarf_hasattr_integrate(&die, DW_AT_bit_size);
		if (dwarf_attr_integrate(&die, DW_AT_data_member_location, &attr) && dwarf_formudata(&attr, &offset))
			h->odd = true;
		if (!h->odd && param_type_of_(&die, &of))
			look_at(h, &of, at + offset, depth + 1);
	}
}

static void look_at(struct halves *h, Dwarf_Die *type, uint64_t at, int depth)
{
	Dwarf_Word size;

	if (depth > 8 || ++h->fields >= MAX_FIELDS || dwarf_aggregate_size(type, &size) || at >= 16) {
		h->odd = true;
	} else if (dwarf_tag(type) == DW_TAG_array_type) {
		Dwarf_Die of;
		Dwarf_Word one;

		h->odd |= !param_type_of_(type, &of) || dwarf_aggregate_size(&of, &one) || !one;
		for (Dwarf_Word i = 0; !h->odd && i < size / one; i++)
			look_at(h, &of, at + i * one, depth + 1);
	} else if (param_is_aggregate_(type)) {
		look_at_members(h, type, at, depth);
	} else if (size > 8 || at / 8 != (at + (size ? size - 1 : 0)) / 8) {
		h->odd = true;
	} else {
		h->number[at / 8] = true;
		h->integer[at / 8] |= !param_is_float_(type);
	}
}

enum passing { BY_VALUE, BY_ADDRESS, UNKNOWN };

/* Whether it is a constructor ("Cart" in "Cart<int>") or a destructor, not one that the compiler made. */
static bool is_of_class(Dwarf_Die *function, const char *class, bool *destructor)
{
	const char *name = dwarf_tag(function) == DW_TAG_subprogram ? die_name(function) : NULL;
	size_t len = strcspn(class, "<");

	if (!name || dwarf_hasattr_integrate(function, DW_AT_artificial) || dwarf_hasattr_integrate(function, DW_AT_defaulted))
		return false;
	*destructor = name[0] == '~';
	name += *destructor;
	return strcspn(name, "<") == len && !memcmp(name, class, len);
}

/* C++ passes objects with a destructor or a copy constructor of their own at an address. GCC does not say which these are. */
static enum passing passing_of(Dwarf_Die *type, int depth)
{
	const char *class = die_name(type);
	enum passing found = BY_VALUE;
	Dwarf_Attribute attr;
	Dwarf_Word convention;
	Dwarf_Die die, of;
	int n = 0;

	if (dwarf_attr_integrate(type, DW_AT_calling_convention, &attr) && !dwarf_formudata(&attr, &convention))
		return convention == DW_CC_pass_by_reference ? BY_ADDRESS : BY_VALUE;
	for (int rc = dwarf_child(type, &die); !rc && n++ < MAX_CHILDREN; rc = dwarf_siblingof(&die, &die)) {
		enum passing inner = BY_VALUE;
		bool destructor;

		if (class && is_of_class(&die, class, &destructor))
			inner = destructor ? BY_ADDRESS : UNKNOWN;
		else if (param_is_member_(&die) && param_type_of_(&die, &of) && param_is_aggregate_(&of))
			inner = depth < 8 ? passing_of(&of, depth + 1) : UNKNOWN;
		if (inner == BY_ADDRESS)
			return BY_ADDRESS;
		found = inner == UNKNOWN ? UNKNOWN : found;
	}
	return found;
}

/* False: not known. */
static bool needs_of_aggregate(Dwarf_Die *type, struct needs *n)
{
	enum passing passing = passing_of(type, 0);
	struct halves h = { 0 };

	n->by_address = passing == BY_ADDRESS || (MACHINE == EM_AARCH64 && n->size > 16);
	n->memory = n->by_address || n->size > 16;
	n->integers = n->by_address;
	if (n->memory || passing == UNKNOWN)
		return n->by_address || passing != UNKNOWN;
	look_at(&h, type, 0, 0);
	for (int i = 0; i < 2; i++) {
		n->integers += h.integer[i];
		n->floats += h.number[i] && !h.integer[i];
	}
	if (MACHINE == EM_AARCH64 && n->floats) {
		n->integers = 0;   /* up to four equal floats, or as many integers as it is long: floats are not counted */
		return false;
	}
	return !h.odd;
}

static bool needs_of(Dwarf_Die *type, struct needs *n)
{
	*n = (struct needs){ 0 };
	if (dwarf_aggregate_size(type, &n->size)) {
		int tag = dwarf_tag(type);

		n->size = sizeof(uint64_t);   /* pointers may have no size of their own */
		if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			return false;
	}
	if (param_is_aggregate_(type))
		return needs_of_aggregate(type, n);
	if (n->size > 8)
		return false;   /* long double, __int128, pointers to member functions */
	n->floats = param_is_float_(type);
	n->integers = !n->floats;
	return true;
}

/* Whether it may have to begin at a multiple of 16 bytes. */
static bool may_be_aligned(Dwarf_Die *type, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Word align, size;
	Dwarf_Die die, of;
	int n = 0;

	if (depth > 8 || (dwarf_attr_integrate(type, DW_AT_alignment, &attr) && (dwarf_formudata(&attr, &align) || align > 8)))
		return true;
	if (dwarf_tag(type) == DW_TAG_array_type)
		return !param_type_of_(type, &of) || may_be_aligned(&of, depth + 1);
	if (!param_is_aggregate_(type))
		return !dwarf_aggregate_size(type, &size) && size > 8;
	for (int rc = dwarf_child(type, &die); !rc && n++ < MAX_CHILDREN; rc = dwarf_siblingof(&die, &die))
		if (param_is_member_(&die) && (dwarf_hasattr_integrate(&die, DW_AT_alignment) || !param_type_of_(&die, &of) ||
					       may_be_aligned(&of, depth + 1)))
			return true;
	return false;
}

/* Whether a value of that type is returned in memory whose address is in the register of returned values. */
/* ---- arguments ---------------------------------------------------------------- */
static bool param_abi_in_memory_(Dwarf_Die *returned)
{
	struct needs n;

	return param_is_aggregate_(returned) && needs_of(returned, &n) && n.memory;
}

/* returned: the type that the function returns, or NULL. False: this machine's convention is not known. */
static bool param_abi_begin_(struct param_abi *abi, Dwarf_Die *returned, unsigned int machine)
{
	*abi = (struct param_abi){ .stack = STACK_BEGIN };
	if (MACHINE == EM_X86_64 && returned)
		abi->integers = param_abi_in_memory_(returned);
	return machine == MACHINE && MACHINE != EM_NONE;
}

/* Whether arguments may be in that register. */
static bool param_abi_has_(unsigned int reg)
{
	for (unsigned int i = 0; i < NINTEGERS; i++)
		if (integer_registers[i] == reg)
			return true;
	return false;
}

static void put_on_stack(struct param_abi *abi, struct param_value *v, const struct needs *n)
{
	abi->stack_lost |= !n->by_address && n->size > 8 && may_be_aligned(&v->type, 0);
	v->place.reg = STACK_POINTER;
	v->place.steps[v->place.nsteps++] = (int32_t)abi->stack;
	v->known = !abi->stack_lost && abi->stack < 1 << 16;
	abi->stack += (n->size + 7) & ~7ull;
}

/* Fills v->place and v->known, for v->type. */
static void param_abi_next_(struct param_abi *abi, struct param_value *v)
{
	struct needs n;
	bool by_register;

	v->place = (struct param){ 0 };
	v->known = false;
	if (abi->lost || !needs_of(&v->type, &n)) {
		abi->lost = true;
		return;
	}
	by_register = (!n.memory || n.by_address) && abi->integers + n.integers <= NINTEGERS && abi->floats + n.floats <= NFLOATS;
	if (!by_register) {
		if (n.by_address)
			n.size = sizeof(uint64_t);
		put_on_stack(abi, v, &n);
	} else if (n.integers == 1 && (n.by_address || !param_is_aggregate_(&v->type))) {
		v->place.reg = integer_registers[abi->integers];
		v->known = true;
	}
	if (v->known && n.by_address)
		v->place.steps[v->place.nsteps++] = 0;
	if (by_register) {
		abi->integers += n.integers;
		abi->floats += n.floats;
	}
}

/* Types of parameters, members of structures, and what of them a probe can fetch. */

enum { MAX_PEELED = 32, MAX_MEMBERS = 4096 };

/* The type without names for types and qualifiers; false: none. */
static bool param_peel_(Dwarf_Die *type)
{
	for (int i = 0; i < MAX_PEELED; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dwarf_attr_integrate(type, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &next))
				return false;
			*type = next;
			break;
		case DW_TAG_invalid:
			return false;
		default:
			return true;
		}
	}
	return false;
}

static bool param_type_of_(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type) && param_peel_(type);
}

/* Whether it is passed as a structure, union or array. */
static bool param_is_aggregate_(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_array_type;
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	return dwarf_tag(type) == DW_TAG_base_type && dwarf_attr_integrate(type, DW_AT_encoding, &attr) &&
	       !dwarf_formudata(&attr, &encoding) ? encoding : 0;
}

static bool param_is_float_(Dwarf_Die *type)
{
	Dwarf_Word encoding = encoding_of(type);

	return encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_imaginary_float ||
	       encoding == DW_ATE_decimal_float;
}

/* ---- steps ------------------------------------------------------------------ */

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool add_step(struct param *place, int32_t offset)
{
	if (place->nsteps == PARAM_STEPS)
		return false;
	place->steps[place->nsteps++] = offset;
	return true;
}

/* Goes on to what the pointer or reference refers to; false: it is neither, or there are too many steps. */
static bool param_follow_(struct param_value *v)
{
	Dwarf_Die target;

	if (!is_pointer(dwarf_tag(&v->type)) || !param_type_of_(&v->type, &target) || !add_step(&v->place, 0))
		return false;
	v->type = target;
	return true;
}

/* Adds the member's offset. -EADDRNOTAVAIL: it is computed at run time, as for virtual bases; -ERANGE: too large. */
static int add_offset(Dwarf_Die *member, int32_t *place)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;

	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr))
		return 0;   /* in a union there is none */
	if (dwarf_formudata(&attr, &offset))
		return -EADDRNOTAVAIL;
	return offset >= INT32_MAX / 2 || __builtin_add_overflow(*place, (int32_t)offset, place) ? -ERANGE : 0;
}

/* Whether the entry is a member or a base class, with a place in each object; bit fields count. */
static bool param_is_member_(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) && !dwarf_hasattr_integrate(die, DW_AT_external) &&
	       !dwarf_hasattr_integrate(die, DW_AT_declaration);
}

static bool is_bit_field(Dwarf_Die *member)
{
	return dwarf_hasattr_integrate(member, DW_AT_bit_size);
}

static int find_member(struct param_value *v, const char *name, size_t len, int depth);

/* 0: that entry is the member, or has it; -ENXIO: it does not have it; -errno: it cannot be fetched. */
static int try_member(struct param_value *v, Dwarf_Die *die, const char *name, size_t len, int depth)
{
	const char *own = dwarf_tag(die) == DW_TAG_member ? die_name(die) : NULL;
	struct param_value inner = *v;
	int32_t *last = &inner.place.steps[v->place.nsteps - 1];
	int rc = 0, unreachable;

	if (!param_is_member_(die) || !param_type_of_(die, &inner.type))
		return -ENXIO;
	unreachable = add_offset(die, last);
	if (!own)
		rc = find_member(&inner, name, len, depth + 1);
	else if (strlen(own) != len || memcmp(own, name, len))
		rc = -ENXIO;
	else if (is_bit_field(die))
		rc = -EOPNOTSUPP;
	if (!rc)
		rc = unreachable;
	if (!rc)
		*v = inner;
	return rc;
}

/* A member, also of a base class or of a structure without a name. */
static int find_member(struct param_value *v, const char *name, size_t len, int depth)
{
	Dwarf_Die type = v->type, die;
	int rc = -ENXIO, n = 0;

	if (depth > 8)
		return -ENXIO;
	for (int end = dwarf_child(&type, &die); !end && rc == -ENXIO && n++ < MAX_MEMBERS; end = dwarf_siblingof(&die, &die))
		rc = try_member(v, &die, name, len, depth);
	return rc;
}

/* Goes on to a member: 0, or as params_find(). */
static int param_member_(struct param_value *v, const char *name, size_t len)
{
	if (is_pointer(dwarf_tag(&v->type)) && v->place.nsteps == PARAM_STEPS)
		return -E2BIG;
	return param_is_aggregate_(&v->type) && v->place.nsteps ? find_member(v, name, len, 0) : -ENOTDIR;
}

/* ---- what a probe fetches ----------------------------------------------------- */

static enum param_type number(Dwarf_Die *type, Dwarf_Word size)
{
	Dwarf_Word encoding = encoding_of(type);
	bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	Dwarf_Die under;

	if (dwarf_tag(type) == DW_TAG_enumeration_type)
		is_signed = !param_type_of_(type, &under) || number(&under, size) >= PARAM_S8;
	switch (size) {
	case 1: return is_signed ? PARAM_S8 : PARAM_U8;
	case 2: return is_signed ? PARAM_S16 : PARAM_U16;
	case 4: return is_signed ? PARAM_S32 : PARAM_U32;
	case 8: return is_signed ? PARAM_S64 : PARAM_U64;
	default: return PARAM_NO_VALUE;
	}
}

/* char, not the numbers signed char and unsigned char. */
static bool is_char(Dwarf_Die *type)
{
	Dwarf_Word encoding = encoding_of(type);
	const char *name = die_name(type);

	return (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF) && name &&
	       (!strcmp(name, "char") || !strcmp(name, "char8_t"));
}

/* std::string of libstdc++ begins with a pointer to its characters. */
static bool is_string(Dwarf_Die *type)
{
	const char *name = die_name(type);
	Dwarf_Die member;
	int rc, n = 0;

	if (!name || strncmp(name, "basic_string<char", 17))
		return false;
	for (rc = dwarf_child(type, &member); !rc && n++ < MAX_MEMBERS; rc = dwarf_siblingof(&member, &member)) {
		const char *own = param_is_member_(&member) ? die_name(&member) : NULL;

		if (own)
			return !strcmp(own, "_M_dataplus");
	}
	return false;
}

static enum param_type finish_pointer(struct param_value *v)
{
	Dwarf_Die target;

	return param_type_of_(&v->type, &target) && is_char(&target) ? PARAM_STRING : PARAM_POINTER;
}

/* An array of char is a string; of other structures and arrays in memory there is the address. */
static enum param_type finish_aggregate(struct param_value *v)
{
	struct param *p = &v->place;
	Dwarf_Die element;

	if (!p->nsteps)
		return PARAM_NO_VALUE;
	if (is_string(&v->type))
		return PARAM_STRING;
	if (dwarf_tag(&v->type) == DW_TAG_array_type && param_type_of_(&v->type, &element) && is_char(&element))
		return PARAM_CHARS;
	if (p->steps[p->nsteps - 1])
		return PARAM_NO_VALUE;
	p->nsteps--;
	return PARAM_POINTER;
}

/* Turns the value into what a probe fetches. */
static void param_finish_(struct param_value *v)
{
	int tag = v->known ? dwarf_tag(&v->type) : DW_TAG_invalid;
	Dwarf_Word size;

	v->place.type = PARAM_NO_VALUE;
	if (!v->known || param_is_float_(&v->type))
		return;
	if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) {
		if (!param_follow_(v))
			return;
		tag = dwarf_tag(&v->type);
		if (param_is_float_(&v->type))
			return;
	}
	if (is_pointer(tag))
		v->place.type = tag == DW_TAG_pointer_type ? finish_pointer(v) : PARAM_POINTER;
	else if (param_is_aggregate_(&v->type))
		v->place.type = finish_aggregate(v);
	else if (!dwarf_aggregate_size(&v->type, &size))
		v->place.type = number(&v->type, size);
}

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
