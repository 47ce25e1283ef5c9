/* SPDX-License-Identifier: Apache-2.0 */
/* Types of parameters, members of structures, and what of them a probe can fetch. */
#include "symbols/dwarf/params_private.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PEELED = 32, MAX_MEMBERS = 4096 };

bool param_peel_(Dwarf_Die *type)
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

bool param_type_of_(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type) && param_peel_(type);
}

bool param_is_aggregate_(Dwarf_Die *type)
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

bool param_is_float_(Dwarf_Die *type)
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

bool param_follow_(struct param_value *v)
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

bool param_is_member_(Dwarf_Die *die)
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

int param_member_(struct param_value *v, const char *name, size_t len)
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

void param_finish_(struct param_value *v)
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
