/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printlex.h"

#include <ctype.h>
#include <string.h>

void lexer_begin(struct lexer *lx, const char *text, size_t len)
{
	*lx = (struct lexer){ .at = text, .end = text + len };
}

bool lexer_is(const struct lexer *lx, unsigned int op)
{
	return lx->token == TOKEN_OP && lx->op == op;
}

bool lexer_is_name(const struct lexer *lx, const char *name)
{
	return lx->token == TOKEN_NAME && strlen(name) == lx->len &&
	       !memcmp(lx->text, name, lx->len);
}

bool lexer_take(struct lexer *lx, unsigned int op)
{
	if (!lexer_is(lx, op))
		return false;
	lexer_next(lx);
	return true;
}

char unescaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return c;
	}
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* C's rule: the first of int, unsigned, long, unsigned long in which it fits; the unsigned ones
 * only with a U or for numbers that are not decimal. */
static void number_type(struct lexer *lx, bool decimal)
{
	bool is_unsigned = false, is_long = false;
	uint64_t n = lx->number;

	for (; lx->at < lx->end && isalpha((unsigned char)*lx->at); lx->at++) {
		is_unsigned |= (*lx->at | 0x20) == 'u';
		is_long |= (*lx->at | 0x20) == 'l';
	}
	is_long |= n > UINT32_MAX || (decimal && !is_unsigned && n > INT32_MAX);
	if (!decimal || n > INT64_MAX)
		is_unsigned |= n > (is_long ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX);
	lx->type = (struct ctype){ .size = is_long ? 8 : 4, .is_signed = !is_unsigned };
}

static void read_number(struct lexer *lx)
{
	int base = 10;

	if (*lx->at == '0') {
		base = 8;
		if (lx->end - lx->at > 2 && (lx->at[1] | 0x20) == 'x') {
			base = 16;
			lx->at += 2;
		}
	}
	lx->token = TOKEN_NUMBER;
	lx->number = 0;
	for (; lx->at < lx->end && digit(*lx->at) < base; lx->at++)
		lx->number = lx->number * (unsigned int)base + (unsigned int)digit(*lx->at);
	number_type(lx, base == 10);
}

static void read_string(struct lexer *lx, char quote)
{
	lx->text = ++lx->at;
	while (lx->at < lx->end && *lx->at != quote)
		lx->at += *lx->at == '\\' && lx->end - lx->at > 1 ? 2 : 1;
	if (lx->at >= lx->end) {
		lx->token = TOKEN_BAD;
		return;
	}
	lx->len = (size_t)(lx->at++ - lx->text);
	lx->token = TOKEN_STRING;
}

static void read_char(struct lexer *lx)
{
	read_string(lx, '\'');
	if (lx->token == TOKEN_BAD)
		return;
	lx->token = TOKEN_BAD;
	if (lx->len == 1 || (lx->len == 2 && lx->text[0] == '\\')) {
		lx->token = TOKEN_NUMBER;
		lx->number = (uint64_t)(lx->len == 1 ? lx->text[0] : unescaped(lx->text[1]));
		lx->type = (struct ctype){ .size = 4, .is_signed = true };
	}
}

static void read_op(struct lexer *lx)
{
	static const char pairs[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };

	lx->token = TOKEN_OP;
	for (size_t i = 0; lx->end - lx->at > 1 && i < sizeof(pairs) / sizeof(*pairs); i++)
		if (!memcmp(lx->at, pairs[i], 2)) {
			lx->op = OP2(lx->at[0], lx->at[1]);
			lx->at += 2;
			return;
		}
	lx->op = (unsigned char)*lx->at++;
}

void lexer_next(struct lexer *lx)
{
	while (lx->at < lx->end && isspace((unsigned char)*lx->at))
		lx->at++;
	if (lx->at >= lx->end) {
		lx->token = TOKEN_END;
	} else if (isdigit((unsigned char)*lx->at)) {
		read_number(lx);
	} else if (in_name(*lx->at)) {
		lx->token = TOKEN_NAME;
		lx->text = lx->at;
		while (lx->at < lx->end && in_name(*lx->at))
			lx->at++;
		lx->len = (size_t)(lx->at - lx->text);
	} else if (*lx->at == '"') {
		read_string(lx, '"');
	} else if (*lx->at == '\'') {
		read_char(lx);
	} else {
		read_op(lx);
	}
}

/* ---- types ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	struct ctype type;
} named_types[] = {
	{ "u8", { 1, false } },          { "s8", { 1, true } },
	{ "u16", { 2, false } },         { "s16", { 2, true } },
	{ "u32", { 4, false } },         { "s32", { 4, true } },
	{ "u64", { 8, false } },         { "s64", { 8, true } },
	{ "__u8", { 1, false } },        { "__s8", { 1, true } },
	{ "__u16", { 2, false } },       { "__s16", { 2, true } },
	{ "__u32", { 4, false } },       { "__s32", { 4, true } },
	{ "__u64", { 8, false } },       { "__s64", { 8, true } },
	{ "__be16", { 2, false } },      { "__le16", { 2, false } },
	{ "__be32", { 4, false } },      { "__le32", { 4, false } },
	{ "__be64", { 8, false } },      { "__le64", { 8, false } },
	{ "uint8_t", { 1, false } },     { "int8_t", { 1, true } },
	{ "uint16_t", { 2, false } },    { "int16_t", { 2, true } },
	{ "uint32_t", { 4, false } },    { "int32_t", { 4, true } },
	{ "uint64_t", { 8, false } },    { "int64_t", { 8, true } },
	{ "uint", { 4, false } },        { "ushort", { 2, false } },
	{ "ulong", { sizeof(long), false } },
	{ "size_t", { sizeof(long), false } },
	{ "ssize_t", { sizeof(long), true } },
	{ "uintptr_t", { sizeof(long), false } },
	{ "loff_t", { 8, true } },       { "sector_t", { 8, false } },
	{ "ktime_t", { 8, true } },      { "time64_t", { 8, true } },
	{ "dma_addr_t", { 8, false } },  { "phys_addr_t", { 8, false } },
	{ "pid_t", { 4, true } },        { "gfp_t", { 4, false } },
	{ "fmode_t", { 4, false } },     { "dev_t", { 4, false } },
	{ "umode_t", { 2, false } },     { "__kernel_rwf_t", { 4, true } },
	{ "pgoff_t", { sizeof(long), false } },
	{ "bool", { .size = 1, .boolean = true } },
	{ "_Bool", { .size = 1, .boolean = true } },
};

static bool find_named(const struct lexer *lx, struct ctype *type)
{
	for (size_t i = 0; i < sizeof(named_types) / sizeof(*named_types); i++)
		if (lexer_is_name(lx, named_types[i].name)) {
			*type = named_types[i].type;
			return true;
		}
	return false;
}

static bool one_of(const struct lexer *lx, const char *const *names)
{
	for (; *names; names++)
		if (lexer_is_name(lx, *names))
			return true;
	return false;
}

/* unsigned, long, ...: in any order and number. */
static bool basic_word(const struct lexer *lx, struct ctype *type, bool *is_unsigned)
{
	static const struct {
		const char *name;
		uint8_t size;
	} words[] = {
		{ "char", 1 }, { "short", 2 }, { "long", sizeof(long) }, { "int", 4 },
		{ "unsigned", 4 }, { "signed", 4 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!lexer_is_name(lx, words[i].name))
			continue;
		if (lexer_is_name(lx, "unsigned"))
			*is_unsigned = true;
		if (!type->size || type->size == 4)   /* "short int" is short */
			type->size = words[i].size;
		type->is_signed = !*is_unsigned;
		return true;
	}
	return false;
}

static void make_pointer(struct ctype *type)
{
	*type = (struct ctype){ .size = sizeof(void *), .pointer = true,
				.elem = type->pointer ? sizeof(void *) : type->size,
				.elem_signed = type->is_signed };
}

bool lexer_type(struct lexer *lx, struct ctype *type, bool *certain)
{
	static const char *const ignored[] = { "const", "volatile", "__data_loc", "__rel_loc",
					       "__user", "static", NULL };
	static const char *const tagged[] = { "struct", "union", "enum", NULL };
	bool is_unsigned = false, basic = false, any = false;

	*type = (struct ctype){ 0 };
	*certain = false;
	for (; lx->token == TOKEN_NAME; lexer_next(lx)) {
		if (one_of(lx, ignored)) {
			*certain = true;
		} else if (one_of(lx, tagged)) {
			if (lexer_is_name(lx, "enum"))
				type->size = 4;
			lexer_next(lx);
			*certain = any = true;
		} else if (basic_word(lx, type, &is_unsigned)) {
			*certain = any = basic = true;
		} else if (any || basic) {
			break;
		} else {
			any = true;
			*certain |= find_named(lx, type) || lexer_is_name(lx, "void");
		}
	}
	while (any && lexer_take(lx, '*')) {
		make_pointer(type);
		*certain = true;
	}
	return any;
}
