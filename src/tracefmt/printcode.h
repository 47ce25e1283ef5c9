/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of a "print fmt". Numbers go over a stack; texts go to the output at once.
 * All offsets of fixed fields lie within fmt->min_size, the stack's depth is known.
 */
#ifndef TRACEFMT_PRINTCODE_H
#define TRACEFMT_PRINTCODE_H

#include "tracefmt/printfmt.h"

enum {
	PRINT_STACK = 64,
	PRINT_MAX_WIDTH = 4096,
};

enum opcode {
	/* numbers */
	CODE_CONST,          /* push constants[c] */
	CODE_LOAD,           /* push what lies at b, of type a */
	CODE_ELEM,           /* pop i, push element i of region c, of type a */
	CODE_LENGTH,         /* push the length of field c */
	CODE_CONVERT,        /* to type a */
	CODE_UNARY,          /* operator b in type a */
	CODE_MATH,           /* pop two, operator b in type a */
	CODE_JUMP,           /* to c */
	CODE_JUMP_IF_NOT,    /* pop; to c if 0 */
	/* texts */
	CODE_TEXT,           /* b bytes of the pool at c */
	CODE_INT,            /* pop, by spec c */
	CODE_DECIMAL,        /* pop, in type a */
	CODE_CHAR,           /* pop, by spec c */
	CODE_POINTER,        /* pop */
	CODE_HEX_NUMBER,     /* pop */
	CODE_FUNCTION,       /* pop; with its offset if a */
	CODE_STRING,         /* of region c up to a NUL */
	CODE_FLAGS,          /* pop, by table c */
	CODE_SYMBOLIC,
	CODE_HEX,            /* pop a count, of region c, b (or 0) between bytes */
	CODE_ARRAY,          /* pop a count, of region c, elements of a bytes */
	CODE_BITMASK,        /* of region c */
	CODE_CPUMASK,
	CODE_BITS,           /* pop how many, of region c, as a list if a */
	CODE_MAC,            /* of region c; b: variants after the letter */
	CODE_IP4,
	CODE_IP6,
	CODE_SOCKADDR,
	CODE_UUID,
	CODE_BEGIN,          /* what follows is padded... */
	CODE_END,            /* ...by spec c */
};

struct code {
	uint8_t op, a;
	uint16_t b;
	uint32_t c;
};

/* A conversion: %-08.3lx */
struct spec {
	char letter;                           /* d, u, x, X, o, c, s, p */
	bool left, zero, alternate, plus, space;
	bool width_arg, precision_arg;         /* '*': popped, precision first */
	bool has_precision;
	uint8_t size;                          /* bytes of a number */
	uint16_t width, precision;
	char variant[4];                       /* behind p */
};

/* From what stands behind a "%". Returns what comes behind it; NULL if the text ends in it, or
 * it wants more than PRINT_MAX_WIDTH. */
const char *spec_read(struct spec *spec, const char *at, const char *end);

/* Bytes of a field, fixed or dynamic. */
struct region {
	const struct trace_field *field;
	bool dynamic;
};

struct value_name {
	uint64_t value;
	uint32_t at, len;                      /* in the pool */
};

struct value_table {
	uint32_t first, count;
	uint32_t delimiter, delimiter_len;
};

struct printfmt {
	struct code *code;
	uint32_t ncode;
	uint64_t *constants;
	struct spec *specs;
	struct region *regions;
	struct value_name *names;
	struct value_table *tables;
	char *pool;
	uint32_t nconstants, nspecs, nregions, nnames, ntables, npool;
};

#endif
