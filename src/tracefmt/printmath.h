/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C arithmetic on 64-bit words. A word holds a number of a type, extended to 64 bits by sign or
 * zeros. An operation converts its operands to a type, computes, and converts the result to that
 * type.
 */
#ifndef TRACEFMT_PRINTMATH_H
#define TRACEFMT_PRINTMATH_H

#include "tracefmt/printlex.h"

/* Types of the program: size and sign. */
enum {
	MATH_U64, MATH_S64, MATH_U32, MATH_S32, MATH_U16, MATH_S16, MATH_U8, MATH_S8, MATH_BOOL,
};

static inline unsigned int math_size(unsigned int type)
{
	return type == MATH_BOOL ? 1 : 8u >> type / 2;
}

enum math {
	MATH_ADD, MATH_SUB, MATH_MUL, MATH_DIV, MATH_MOD, MATH_AND, MATH_OR, MATH_XOR, MATH_SHL,
	MATH_SHR, MATH_EQ, MATH_NE, MATH_LT, MATH_LE, MATH_GT, MATH_GE, MATH_LAND, MATH_LOR,
};

static inline uint64_t math_convert(uint64_t n, unsigned int type)
{
	switch (type) {
	case MATH_U32:
		return (uint32_t)n;
	case MATH_S32:
		return (uint64_t)(int64_t)(int32_t)n;
	case MATH_U16:
		return (uint16_t)n;
	case MATH_S16:
		return (uint64_t)(int64_t)(int16_t)n;
	case MATH_U8:
		return (uint8_t)n;
	case MATH_S8:
		return (uint64_t)(int64_t)(int8_t)n;
	case MATH_BOOL:
		return n != 0;
	default:
		return n;
	}
}

static inline unsigned int math_type(const struct ctype *t)
{
	static const uint8_t of[9] = { [1] = MATH_U8, [2] = MATH_U16, [4] = MATH_U32 };

	if (t->boolean)
		return MATH_BOOL;
	return t->size > 8 ? MATH_U64 : of[t->size] + (t->is_signed && t->size);
}

/* Divisions that would trap, which the kernel cannot have computed, give 0. */
static inline uint64_t math_divide(uint64_t a, uint64_t b, bool is_signed, bool rest)
{
	if (!b)
		return 0;
	if (!is_signed)
		return rest ? a % b : a / b;
	if ((int64_t)b == -1)
		return rest ? 0 : 0 - a;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static inline uint64_t math_do(unsigned int op, unsigned int type, uint64_t a, uint64_t b)
{
	bool is_signed = type == MATH_S64 || type == MATH_S32;
	unsigned int shift = b & (type == MATH_U32 || type == MATH_S32 ? 31 : 63);

	a = math_convert(a, type);
	if (op != MATH_SHL && op != MATH_SHR)
		b = math_convert(b, type);
	switch (op) {
	case MATH_ADD: return math_convert(a + b, type);
	case MATH_SUB: return math_convert(a - b, type);
	case MATH_MUL: return math_convert(a * b, type);
	case MATH_DIV: return math_convert(math_divide(a, b, is_signed, false), type);
	case MATH_MOD: return math_convert(math_divide(a, b, is_signed, true), type);
	case MATH_AND: return a & b;
	case MATH_OR: return a | b;
	case MATH_XOR: return a ^ b;
	case MATH_SHL: return math_convert(a << shift, type);
	case MATH_SHR: return is_signed ? (uint64_t)((int64_t)a >> shift) : a >> shift;
	case MATH_EQ: return a == b;
	case MATH_NE: return a != b;
	case MATH_LT: return is_signed ? (int64_t)a < (int64_t)b : a < b;
	case MATH_LE: return is_signed ? (int64_t)a <= (int64_t)b : a <= b;
	case MATH_GT: return is_signed ? (int64_t)a > (int64_t)b : a > b;
	case MATH_GE: return is_signed ? (int64_t)a >= (int64_t)b : a >= b;
	case MATH_LAND: return a && b;
	default: return a || b;
	}
}

static inline uint64_t math_unary(unsigned int op, unsigned int type, uint64_t a)
{
	switch (op) {
	case '!':
		return !a;
	case '~':
		return math_convert(~a, type);
	case '-':
		return math_convert(0 - a, type);
	default:
		return math_convert(a, type);
	}
}

#endif
