/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a "print fmt", which is C after the kernel's preprocessor. */
#ifndef TRACEFMT_PRINTLEX_H
#define TRACEFMT_PRINTLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A C type, as far as numbers are concerned. */
struct ctype {
	uint8_t size;        /* bytes; 0: unknown, the number is not converted */
	bool is_signed;
	bool pointer;
	bool boolean;
	uint8_t elem;        /* size and sign of what a pointer points to */
	bool elem_signed;
};

enum token {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,        /* including 'c' */
	TOKEN_STRING,        /* one literal, without its quotes */
	TOKEN_OP,
	TOKEN_BAD,
};

#define OP2(a, b) ((unsigned int)(a) | (unsigned int)(b) << 8)

struct lexer {
	const char *at, *end;        /* at: end of the current token */
	enum token token;
	const char *text;            /* the name or string */
	size_t len;
	uint64_t number;
	struct ctype type;           /* of a number */
	unsigned int op;             /* '+', or OP2('-', '>') */
};

/* The first token is read by lexer_next(). */
void lexer_begin(struct lexer *lx, const char *text, size_t len);
void lexer_next(struct lexer *lx);
bool lexer_is(const struct lexer *lx, unsigned int op);
bool lexer_is_name(const struct lexer *lx, const char *name);
/* Skips the operator if it is the current token. */
bool lexer_take(struct lexer *lx, unsigned int op);
/* Skips the name of a type. False, at any position, if there is none; *certain: it cannot be anything else. */
bool lexer_type(struct lexer *lx, struct ctype *type, bool *certain);
/* The character for an escape such as \n. */
char unescaped(char c);

#endif
