/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a "print fmt", which is C as the kernel's preprocessor left it. */
#ifndef TRACEFMT_PRINTLEX_H
#define TRACEFMT_PRINTLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type of C, as far as it changes a number. */
struct ctype {
	uint8_t size;        /* bytes; 0: not known, and the number stays as it is */
	bool is_signed;
	bool pointer;
	bool boolean;
	uint8_t elem;        /* what a pointer points to: its size and sign */
	bool elem_signed;
};

enum token {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,        /* 'c' too */
	TOKEN_STRING,        /* what stands between the quotes of one literal */
	TOKEN_OP,
	TOKEN_BAD,
};

#define OP2(a, b) ((unsigned int)(a) | (unsigned int)(b) << 8)

struct lexer {
	const char *at, *end;        /* behind the current token */
	enum token token;
	const char *text;            /* of a name or a string */
	size_t len;
	uint64_t number;
	struct ctype type;           /* of a number */
	unsigned int op;             /* '+', or OP2('-', '>') */
};

/* Stands before the first token. */
void lexer_begin(struct lexer *lx, const char *text, size_t len);
void lexer_next(struct lexer *lx);
bool lexer_is(const struct lexer *lx, unsigned int op);
bool lexer_is_name(const struct lexer *lx, const char *name);
/* Goes behind the operator if it stands here. */
bool lexer_take(struct lexer *lx, unsigned int op);
/* Goes behind a type's name. False, with the lexer somewhere, if there is none; *certain
 * if it can be nothing else. */
bool lexer_type(struct lexer *lx, struct ctype *type, bool *certain);
/* What stands for a character behind a backslash. */
char unescaped(char c);

#endif
