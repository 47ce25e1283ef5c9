/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int expr_fail(struct expr_error *err, size_t at, const char *expected, const char *message, ...)
{
	va_list ap;

	if (!err)
		return -EINVAL;
	err->at = at;
	err->lists_fields = false;
	snprintf(err->expected, sizeof(err->expected), "%s", expected);
	va_start(ap, message);
	vsnprintf(err->message, sizeof(err->message), message, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- numbers ------------------------------------------------------------------------ */

/* Skips the suffix u, l, ul, ull in any case and order; returns its end. */
static size_t skip_suffix(const char *text, size_t i, bool *is_unsigned)
{
	for (int n = 0; n < 3 && text[i] && strchr("uUlL", text[i]); n++, i++)
		*is_unsigned |= tolower((unsigned char)text[i]) == 'u';
	return i;
}

static int take_number(const char *text, struct token *t, struct expr_error *err)
{
	const char *start = text + t->from;
	bool hex = start[0] == '0' && (start[1] | 0x20) == 'x', is_unsigned = false;
	char *end;
	uint64_t value;

	/* strtoull() would parse 0x as a zero before an x */
	if (hex && !isxdigit((unsigned char)start[2]))
		return expr_fail(err, t->from + 2, "hexadecimal digits, such as 0x1f", "no digits after "
				 "0x");
	errno = 0;
	value = strtoull(start, &end, 0);
	if (errno == ERANGE)
		return expr_fail(err, t->from, "at most 18446744073709551615 (0xffffffffffffffff)",
				 "this number does not fit in 64 bits");
	t->to = (uint32_t)skip_suffix(text, (size_t)(end - text), &is_unsigned);
	if (text[t->to] == '.' && isdigit((unsigned char)text[t->to + 1]))
		return expr_fail(err, t->to, "an integer", "a number with a fraction");
	if (isalnum((unsigned char)text[t->to]) || text[t->to] == '_')
		return expr_fail(err, t->to, start[0] == '0' && !hex ?
				 "octal digits after the leading 0, or 0x before a hexadecimal number" :
				 "a number such as 10 or 0x1f, and then an operator",
				 "this is not a number");
	t->number = (struct expr_value){
		.u = value, .type = is_unsigned || value > INT64_MAX ? EXPR_U64 : EXPR_S64,
	};
	return 0;
}

/* ---- other tokens ------------------------------------------------------------------- */

static int take_string(const char *text, struct token *t, struct expr_error *err)
{
	char quote = text[t->from];
	size_t i = t->from + 1;

	while (text[i] && text[i] != quote)
		i += text[i] == '\\' && text[i + 1] ? 2 : 1;
	if (!text[i])
		return expr_fail(err, t->from, "the same quote again", "this quote is not closed");
	t->to = (uint32_t)i + 1;
	return 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Longer signs first. */
static const char *const signs[] = {
	"&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "<", ">", "!", "~", "&", "|", "^", "+", "-",
	"*", "/", "%", "?", ":", "(", ")", ",",
};

static const struct {
	char c;
	const char *message, *expected;
} strangers[] = {
	{ '=', "a single \"=\" compares nothing", "==, !=, <, <=, > or >=" },
	{ '{', "an expression has no braces", "\"(\"" },
	{ '[', "an expression cannot read elements of arrays", "a field that is a number or text" },
	{ '.', "a dot means nothing here", "an operator" },
	{ ';', "one expression, not two", "&& or || between conditions" },
};

static int stranger(const char *text, size_t at, struct expr_error *err)
{
	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		if (text[at] == strangers[i].c)
			return expr_fail(err, at, strangers[i].expected, "%s", strangers[i].message);
	return expr_fail(err, at, "a field, a number, a string or an operator",
			 "unexpected character");
}

static int take_sign(const char *text, struct token *t, struct expr_error *err)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t len = strlen(signs[i]);

		if (strncmp(text + t->from, signs[i], len))
			continue;
		memcpy(t->sign, signs[i], len + 1);
		t->to = t->from + (uint32_t)len;
		return 0;
	}
	return stranger(text, t->from, err);
}

int expr_next_token(const char *text, size_t pos, struct token *token, struct expr_error *err)
{
	char c;

	while (isspace((unsigned char)text[pos]))
		pos++;
	c = text[pos];
	*token = (struct token){ .from = (uint32_t)pos, .to = (uint32_t)pos };
	if (!c)
		return 0;
	if (isdigit((unsigned char)c)) {
		token->kind = TOKEN_NUMBER;
		return take_number(text, token, err);
	}
	if (c == '"' || c == '\'') {
		token->kind = TOKEN_STRING;
		return take_string(text, token, err);
	}
	if (is_word(c)) {
		token->kind = TOKEN_NAME;
		while (is_word(text[token->to]))
			token->to++;
		return 0;
	}
	token->kind = TOKEN_SIGN;
	return take_sign(text, token, err);
}
