/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a function by their names in the source, and where their values are when the function is entered; or
 * what it returns. From the file's DWARF, which a parser (jail/parser.h) reads.
 */
#ifndef SYMBOLS_DWARF_PARAMS_H
#define SYMBOLS_DWARF_PARAMS_H

#include "symbols/jail/parser.h"

enum { PARAM_STEPS = 4, PARAM_NAME = 32, PARAM_RETURNED = 255 };

enum param_type {
	PARAM_NO_VALUE,          /* a floating-point number or a structure in registers: nothing that a probe can fetch */
	PARAM_U8, PARAM_U16, PARAM_U32, PARAM_U64,
	PARAM_S8, PARAM_S16, PARAM_S32, PARAM_S64,
	PARAM_POINTER,
	PARAM_STRING,            /* the value is a pointer to its characters */
	PARAM_CHARS,             /* a string in an array: its characters are where the last step leads */
	PARAM_TYPES,
};

/* A value: that of a register; then, for each step, what is in memory at that value plus an offset. */
struct param {
	char name[PARAM_NAME];   /* a word; cut */
	uint8_t type;
	uint8_t reg;             /* DWARF's number, or PARAM_RETURNED */
	uint8_t nsteps;
	int32_t steps[PARAM_STEPS];
};

struct params {
	struct param *all;       /* in the function's order; or the one that was asked for */
	size_t n;
	struct parser_bytes bytes;
};

enum params_what {
	PARAMS_ALL,
	PARAMS_RETURNED,         /* one: "ret", or a member of it: "ret->id" */
	PARAMS_ONE,              /* that name, or a member: "item->id", "item.id", "p->next->id" */
	PARAMS_INLINED,          /* of no address: whether a function of that name is only inlined; one without a value if it is */
};

/* address: the function's first byte, as linked. symbol: the linker's name, which says whether the compiler made a copy with
 * other parameters. 0; -ENODATA: no DWARF for that function; -EREMOTE: it is in a .dwo file,
 * which is not read; -ENOENT: no such parameter, or nothing is returned; -ENXIO: no such member; -EOPNOTSUPP: it is a bit field;
 * -ERANGE: it is too far away; -EADDRNOTAVAIL: it is in a virtual base; -E2BIG: too many pointers on the way; -ENOTDIR: what
 * should have the member is no structure in memory; -errno. Release with params_free(). */
int params_find(struct params *out, struct parser *p, int fd, uint64_t address, const char *symbol, enum params_what what,
		const char *name);
void params_free(struct params *params);

/* params_answer.c: the handler of PARSER_PARAMS: a struct params_question and the name; to a struct param for each. */
int params_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
struct params_question {
	uint64_t address;
	uint32_t what;
	uint32_t is_copy;
};
#endif
