/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of an expression. */
#ifndef EXPR_LEXER_H
#define EXPR_LEXER_H

#include "expr/tree.h"

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_STRING, TOKEN_NAME, TOKEN_SIGN };

struct token {
	enum token_kind kind;
	uint32_t from, to;            /* offsets in the text */
	struct expr_value number;
	char sign[3];                 /* "&&" */
};

/* The token at or after `pos`. 0, or -EINVAL with err. */
int expr_next_token(const char *text, size_t pos, struct token *token, struct expr_error *err);
#endif
