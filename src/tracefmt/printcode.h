/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of a "print fmt". Numbers are computed on a stack; text is written to the output at
 * once. All offsets of fixed fields lie within fmt->min_size, and the stack's depth is checked.
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
	CODE_LOAD,           /* push the number at b, of type a */
	CODE_ELEM,           /* pop i, push element i of region c, of type a */
	CODE_LENGTH,         /* push the length of field c */
	CODE_CONVERT,        /* convert to type a */
	CODE_UNARY,          /* operator b in type a */
	CODE_MATH,           /* pop two, operator b in type a */
	CODE_JUMP,           /* jump to c */
	CODE_JUMP_IF_NOT,    /* pop; jump to c if 0 */
	/* texts */
	CODE_TEXT,           /* b bytes of the pool at c */
	CODE_INT,            /* pop; print by spec c */
	CODE_DECIMAL,        /* pop, in type a */
	CODE_CHAR,           /* pop; print by spec c */
	CODE_POINTER,        /* pop */
	CODE_HEX_NUMBER,     /* pop */
	CODE_KERNEL_TEXT,    /* pop the address of a text in the kernel; without such a text, the address */
	CODE_FUNCTION,       /* pop; with its offset if a */
	CODE_STRING,         /* region c up to a NUL */
	CODE_FLAGS,          /* pop; print by table c */
	CODE_SYMBOLIC,
	CODE_HEX,            /* pop a count of bytes in region c; separator b (or 0) */
	CODE_ARRAY,          /* pop a count of elements of a bytes in region c */
	CODE_BITMASK,        /* region c; as a list if a */
	CODE_BITS,           /* the same; pop a number of bits */
	CODE_MAC,            /* region c; a: the letter after p, b: two letters after it */
	CODE_IP4,
	CODE_IP6,
	CODE_SOCKADDR,
	CODE_UUID,
	CODE_BEGIN,          /* the following output is padded... */
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
	bool width_arg, precision_arg;         /* '*': on the stack, precision on top */
	bool has_precision;
	uint8_t size;                          /* bytes of a number */
	uint16_t width, precision;
	char variant[4];                       /* after p */
};

/* Parses a conversion, starting after its "%". Returns its end; NULL: incomplete, or it asks for
 * more than PRINT_MAX_WIDTH. */
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
