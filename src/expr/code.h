/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled expression: instructions for a stack machine. Types and the depth of the stack were
 * checked by the compiler; the data is checked at run time.
 */
#ifndef EXPR_CODE_H
#define EXPR_CODE_H

#include "expr/expr.h"

enum { EXPR_STACK = 80 };

enum expr_code {
	CODE_END,
	/* push */
	CODE_CONSTANT, CODE_U8, CODE_U16, CODE_U32, CODE_U64, CODE_S8, CODE_S16, CODE_S32,
	CODE_CHARS, CODE_DATA_LOC, CODE_REL_LOC,
	/* on the topmost */
	CODE_NOT, CODE_BOOL, CODE_NEGATE, CODE_INVERT, CODE_GLOB,
	/* on the two topmost */
	CODE_EQ, CODE_NE, CODE_LT_S, CODE_LT_U, CODE_LE_S, CODE_LE_U, CODE_TEXT_EQ, CODE_TEXT_NE,
	CODE_ADD, CODE_SUB, CODE_MUL, CODE_DIV_S, CODE_DIV_U, CODE_MOD_S, CODE_MOD_U,
	CODE_AND, CODE_OR, CODE_XOR, CODE_SHL, CODE_SHR_S, CODE_SHR_U,
	/* LT and LE with swapped operands */
	CODE_GT_S, CODE_GT_U, CODE_GE_S, CODE_GE_U,
	/* AND_THEN, OR_ELSE: jump to `target` if the topmost is 0 (not 0), leaving 0 or 1, else
	 * drop it; UNLESS: jump if the topmost is 0, and drop it; JUMP: always */
	CODE_AND_THEN, CODE_OR_ELSE, CODE_UNLESS, CODE_JUMP,
	CODE_CALL,
};

struct expr_insn {
	uint8_t code;                 /* enum expr_code */
	uint8_t area;
	uint16_t offset;              /* of a field in the area; number of arguments of a call */
	uint32_t size;                /* of a field; of text; target of a jump */
	union {
		uint64_t number;      /* of CODE_DATA_LOC: `next` of the field */
		const char *text;
		const struct expr_func *func;
	};
};

struct expr {
	struct expr_insn *insns;
	size_t ninsns;
	char *strings;                /* text constants */
	enum expr_type type;
};
#endif
