/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/code.h"

#include <string.h>

/* ---- fields ------------------------------------------------------------------------- */

/* Address of a field; NULL if it reaches beyond its area. */
static inline const char *field_at(const struct expr_insn *in, const struct expr_run *run)
{
	if ((uint64_t)in->offset + in->size > run->area[in->area].size)
		return NULL;
	return (const char *)run->area[in->area].bytes + in->offset;
}

uint64_t expr_places(const struct expr *expr, uint8_t area)
{
	uint64_t places = 0;

	for (size_t i = 0; i < expr->ninsns; i++) {
		const struct expr_insn *in = &expr->insns[i];
		uint32_t place = in->offset / 8u;

		if (in->code >= CODE_U8 && in->code <= CODE_REL_LOC && in->area == area)
			places |= UINT64_C(1) << (place < 63 ? place : 63);
	}
	return places;
}

bool expr_reads(const struct expr *expr, uint8_t area, uint16_t offset)
{
	for (size_t i = 0; i < expr->ninsns; i++) {
		const struct expr_insn *in = &expr->insns[i];

		if (in->code >= CODE_U8 && in->code <= CODE_REL_LOC && in->area == area && in->offset == offset)
			return true;
	}
	return false;
}

bool expr_calls(const struct expr *expr, const struct expr_func *func)
{
	for (size_t i = 0; expr && i < expr->ninsns; i++)
		if (expr->insns[i].code == CODE_CALL && expr->insns[i].func == func)
			return true;
	return false;
}

#define LOAD(type, member)                                                                         \
	do {                                                                                       \
		const char *p_ = field_at(in, run);                                                \
		type v_;                                                                           \
		if (!p_)                                                                           \
			return EXPR_DATA;                                                          \
		memcpy(&v_, p_, sizeof(v_));                                                       \
		(top++)->member = v_;                                                              \
	} while (0)

/* Text ends at the first NUL, or at `size`. */
static void set_text(struct expr_value *value, const char *text, size_t size)
{
	value->text = text;
	value->len = (uint32_t)strnlen(text, size);
	value->type = EXPR_TEXT;
}

static int load_chars(const struct expr_insn *in, const struct expr_run *run,
		      struct expr_value *value)
{
	const char *p = field_at(in, run);

	if (!p)
		return EXPR_DATA;
	set_text(value, p, in->size);
	return EXPR_FINE;
}

/* Whether the text before another one could not be read: it lies where that one does. */
static bool is_next_text(const struct expr_insn *in, const char *bytes, uint32_t size, uint32_t word)
{
	uint32_t next;

	if (!in->number || in->number + sizeof(next) > size)
		return false;
	memcpy(&next, bytes + in->number, sizeof(next));
	return (uint16_t)next == (uint16_t)word;
}

static int load_located(const struct expr_insn *in, const struct expr_run *run, uint32_t base,
			struct expr_value *value)
{
	const char *p = field_at(in, run), *bytes = run->area[in->area].bytes;
	uint32_t word, at, len, size = run->area[in->area].size;

	if (!p || in->size != 4)
		return EXPR_DATA;
	memcpy(&word, p, 4);
	at = base + (word & 0xffff);
	len = word >> 16;
	if (at > size || len > size - at)
		return EXPR_DATA;
	set_text(value, bytes + at, is_next_text(in, bytes, size, word) ? 0 : len);
	return EXPR_FINE;
}

/* ---- operators ---------------------------------------------------------------------- */

static bool same_text(const struct expr_value *a, const struct expr_value *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* Dividing the minimum by -1 overflows in C: here it wraps. */
static int64_t divide(int64_t a, int64_t b)
{
	return b == -1 ? (int64_t)-(uint64_t)a : a / b;
}

static int64_t modulo(int64_t a, int64_t b)
{
	return b == -1 ? 0 : a % b;
}

static uint64_t shift_left(uint64_t a, uint64_t n)
{
	return n < 64 ? a << n : 0;
}

static uint64_t shift_right(uint64_t a, uint64_t n)
{
	return n < 64 ? a >> n : 0;
}

static int64_t shift_right_signed(int64_t a, uint64_t n)
{
	return a >> (n < 64 ? n : 63);
}

/* The result replaces a; false: division by zero. */
static bool divide_by(enum expr_code code, struct expr_value *a, const struct expr_value *b)
{
	if (!b->u)
		return false;
	switch (code) {
	case CODE_DIV_S: a->s = divide(a->s, b->s); break;
	case CODE_MOD_S: a->s = modulo(a->s, b->s); break;
	case CODE_DIV_U: a->u /= b->u; break;
	default: a->u %= b->u; break;
	}
	return true;
}

/* The result replaces the first argument. */
static int call(const struct expr_insn *in, struct expr_run *run, struct expr_value *args)
{
	struct expr_value result = { .type = in->func->result };
	int trouble = in->func->call(run, args, in->offset, &result);

	args[0] = result;
	return trouble;
}

/* ---- stack machine ------------------------------------------------------------------ */

#define BINARY(member, value)                                                                      \
	do {                                                                                       \
		top--;                                                                             \
		top[-1].member = (value);                                                          \
	} while (0)
#define A(member) top[-1].member
#define B(member) top[0].member

/* The instructions, a row each. */
#define LOADS(ROW)                                                                                 \
	ROW(CODE_U8, LOAD(uint8_t, u)) ROW(CODE_S8, LOAD(int8_t, s))                               \
	ROW(CODE_U16, LOAD(uint16_t, u)) ROW(CODE_S16, LOAD(int16_t, s))                           \
	ROW(CODE_U32, LOAD(uint32_t, u)) ROW(CODE_S32, LOAD(int32_t, s))                           \
	ROW(CODE_U64, LOAD(uint64_t, u))
#define UNARIES(ROW)                                                                               \
	ROW(CODE_NOT, A(s) = !A(u)) ROW(CODE_BOOL, A(s) = A(u) != 0)                               \
	ROW(CODE_NEGATE, A(u) = -A(u)) ROW(CODE_INVERT, A(u) = ~A(u))
#define BINARIES(ROW)                                                                              \
	ROW(CODE_EQ, BINARY(s, A(u) == B(u))) ROW(CODE_NE, BINARY(s, A(u) != B(u)))                \
	ROW(CODE_LT_S, BINARY(s, A(s) < B(s))) ROW(CODE_LT_U, BINARY(s, A(u) < B(u)))              \
	ROW(CODE_LE_S, BINARY(s, A(s) <= B(s))) ROW(CODE_LE_U, BINARY(s, A(u) <= B(u)))            \
	ROW(CODE_GT_S, BINARY(s, A(s) > B(s))) ROW(CODE_GT_U, BINARY(s, A(u) > B(u)))              \
	ROW(CODE_GE_S, BINARY(s, A(s) >= B(s))) ROW(CODE_GE_U, BINARY(s, A(u) >= B(u)))            \
	ROW(CODE_TEXT_EQ, BINARY(s, same_text(&top[-1], &top[0])))                                 \
	ROW(CODE_TEXT_NE, BINARY(s, !same_text(&top[-1], &top[0])))                                \
	ROW(CODE_ADD, BINARY(u, A(u) + B(u))) ROW(CODE_SUB, BINARY(u, A(u) - B(u)))                \
	ROW(CODE_MUL, BINARY(u, A(u) * B(u))) ROW(CODE_AND, BINARY(u, A(u) & B(u)))                \
	ROW(CODE_OR, BINARY(u, A(u) | B(u))) ROW(CODE_XOR, BINARY(u, A(u) ^ B(u)))                 \
	ROW(CODE_SHL, BINARY(u, shift_left(A(u), B(u))))                                           \
	ROW(CODE_SHR_U, BINARY(u, shift_right(A(u), B(u))))                                        \
	ROW(CODE_SHR_S, BINARY(s, shift_right_signed(A(s), B(u))))
#define CASE(code, what) case code: what; break;

/* Numbers on the stack have no type: the instructions imply it. Functions know the types of their
 * arguments from the compiler's checks. */
int expr_eval(const struct expr *expr, struct expr_run *run, struct expr_value *value)
{
	struct expr_value stack[EXPR_STACK + 1], *top = stack;
	const struct expr_insn *insns = expr->insns;
	int trouble;

	for (const struct expr_insn *in = insns;; in++) {
		switch ((enum expr_code)in->code) {
		case CODE_END:
			*value = stack[0];
			value->type = expr->type;
			return EXPR_FINE;
		case CODE_CONSTANT:
			top->u = in->number;
			(top++)->len = in->size;
			break;
		LOADS(CASE)
		case CODE_CHARS:
			trouble = load_chars(in, run, top++);
			if (trouble)
				return trouble;
			break;
		case CODE_DATA_LOC:
		case CODE_REL_LOC:
			trouble = load_located(in, run, in->code == CODE_REL_LOC ? in->offset + 4u : 0,
					       top++);
			if (trouble)
				return trouble;
			break;
		UNARIES(CASE)
		case CODE_GLOB:
			top[-1].s = expr_glob(in->text, in->size, top[-1].text, top[-1].len);
			break;
		BINARIES(CASE)
		case CODE_DIV_S: case CODE_DIV_U: case CODE_MOD_S: case CODE_MOD_U:
			top--;
			if (!divide_by((enum expr_code)in->code, &top[-1], &top[0]))
				return EXPR_DIVISION;
			break;
		case CODE_AND_THEN:
			if ((--top)->u)
				break;
			(top++)->s = 0;
			in = &insns[in->size - 1];
			break;
		case CODE_OR_ELSE:
			if (!(--top)->u)
				break;
			(top++)->s = 1;
			in = &insns[in->size - 1];
			break;
		case CODE_UNLESS:
			if (!(--top)->u)
				in = &insns[in->size - 1];
			break;
		case CODE_JUMP:
			in = &insns[in->size - 1];
			break;
		case CODE_CALL:
			top -= in->offset;
			trouble = call(in, run, top++);
			if (trouble)
				return trouble;
			break;
		}
	}
}

const char *expr_trouble_text(int trouble)
{
	static const char *const texts[EXPR_TROUBLES] = {
		[EXPR_FINE] = "no trouble",
		[EXPR_DIVISION] = "division by zero",
		[EXPR_DATA] = "a field beyond the event's data",
		[EXPR_ROOM] = "text too long",
		[EXPR_FAILED] = "a function that has no result",
	};

	return trouble >= 0 && trouble < EXPR_TROUBLES ? texts[trouble] : "?";
}
