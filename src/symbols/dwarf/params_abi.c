/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The System V convention of x86-64, and AAPCS64. Programs that were compiled without optimization describe their
 * parameters only behind the code that copies them to the stack; when a function is entered, the convention says where
 * they are.
 */
#include "symbols/dwarf/params_private.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

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

/* ---- arguments ---------------------------------------------------------------- */

bool param_abi_in_memory_(Dwarf_Die *returned)
{
	struct needs n;

	return param_is_aggregate_(returned) && needs_of(returned, &n) && n.memory;
}

bool param_abi_begin_(struct param_abi *abi, Dwarf_Die *returned, unsigned int machine)
{
	*abi = (struct param_abi){ .stack = STACK_BEGIN };
	if (MACHINE == EM_X86_64 && returned)
		abi->integers = param_abi_in_memory_(returned);
	return machine == MACHINE && MACHINE != EM_NONE;
}

bool param_abi_has_(unsigned int reg)
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

void param_abi_next_(struct param_abi *abi, struct param_value *v)
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
