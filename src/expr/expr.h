/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of filters and keys: C's operators over the fields of an event.
 *
 *	struct expr *e;
 *	rc = expr_new(&e, "prio<10 && comm~\"java*\"", &schema, &err);
 *	...
 *	if (!expr_eval(e, &run, &value)) ...
 *	expr_free(e);
 *
 * Values are 64-bit integers, signed or unsigned, and text. Fields of all widths are
 * widened by value. An operation is unsigned if either side is (a u64 field, a constant
 * above 2^63-1, a constant with the suffix u), else signed; overflow wraps; a shift by
 * 64 or more shifts everything out. A constant that stands at == or != beside an integer
 * field and fits in the field's width, with sign or without, means the value of these
 * bits: 0xffffffff beside an int is -1.
 *
 * Precedence is C's, but for three traps. `!` negates all up to the next &&, ||, ?, : or
 * closing parenthesis, as in the kernel's filters: !pid==5 means !(pid==5). `&`, `|` and
 * `^` beside an unparenthesized comparison, and a comparison of a comparison, are errors.
 * `==`, `!=` compare text with text, and `~` matches text with a glob constant.
 *
 * Where fields lie is said by the caller (struct expr_schema), for a sample as for a
 * recording or a row of a table; every access is checked against the size of what is
 * there. Nothing is allocated after expr_new().
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr;
struct expr_run;

enum expr_type { EXPR_S64, EXPR_U64, EXPR_TEXT };

struct expr_value {
	union {
		int64_t s;
		uint64_t u;
		const char *text;     /* not terminated; lives as long as what it points into */
	};
	uint32_t len;                 /* of text */
	enum expr_type type;
};

enum expr_field_kind {
	EXPR_FIELD_UINT,              /* 1, 2, 4 or 8 bytes */
	EXPR_FIELD_SINT,
	EXPR_FIELD_CHARS,             /* char[size]: text up to the first NUL */
	EXPR_FIELD_DATA_LOC,          /* u32: offset (low 16 bits) and length of text in the area */
	EXPR_FIELD_REL_LOC,           /* the same, the offset counting from behind the u32 */
	EXPR_FIELD_POINTER,           /* char *: an address here, text for the kernel's filters */
	EXPR_FIELD_BYTES,             /* has no value here: an array, say */
	EXPR_FIELD_ELSEWHERE,         /* text that only the kernel's filters have */
};

struct expr_field {
	const char *name;
	enum expr_field_kind kind;
	uint8_t area;                 /* which of expr_run's areas it lies in */
	bool hidden;                  /* a second name: not offered in messages */
	uint16_t offset, size;        /* bytes within the area */
};

enum { EXPR_AREAS = 4, EXPR_MAX_ARGS = 8 };

/* What an expression is evaluated on. */
struct expr_run {
	struct {
		const void *bytes;
		uint32_t size;
	} area[EXPR_AREAS];
	void *ctx;                    /* for the caller's own functions */
	char *text;                   /* room for text that functions make; may be NULL */
	size_t text_size;
	size_t text_used;             /* the caller sets it to 0 before each evaluation */
};

/* A function that expressions may call. */
struct expr_func {
	const char *name;
	/* A letter per argument: i an integer, s text, c a text constant; a final * stands
	 * for any number more of any kind. */
	const char *params;
	enum expr_type result;
	/* Called once, when the expression is compiled, with constants filled in; others have
	 * their type only, and is_const[] says which. Returns NULL or what is wrong with
	 * argument *bad. May be NULL. */
	const char *(*check)(const struct expr_value *args, const bool *is_const, size_t nargs,
			     size_t *bad);
	/* Sets the result (of the type above). 0, or an enum expr_trouble. The arguments' types
	 * are not filled in: params and check() saw to them. */
	int (*call)(struct expr_run *run, const struct expr_value *args, size_t nargs,
		    struct expr_value *result);
};

struct expr_schema {
	const struct expr_field *fields;      /* the first of a name counts */
	size_t nfields;
	const struct expr_func *funcs;        /* the caller's own, beside the built-in ones */
	size_t nfuncs;
};

/* What is wrong, where, and what was expected there. */
struct expr_error {
	size_t at;                    /* byte offset in the expression's text */
	bool lists_fields;            /* expected[] is the fields there are */
	char message[200];
	char expected[512];
};

/* Why an expression has no value for an event. */
enum expr_trouble {
	EXPR_FINE,
	EXPR_DIVISION,                /* by zero */
	EXPR_DATA,                    /* a field reaches beyond the event's data */
	EXPR_ROOM,                    /* text does not fit in the room for it */
	EXPR_FAILED,                  /* a function said so */
	EXPR_TROUBLES
};

/* Takes the text apart and checks it against the schema, which is not used afterwards
 * (but for the names and functions in it). 0, -EINVAL with err filled, or -ENOMEM. */
int expr_new(struct expr **expr, const char *text, const struct expr_schema *schema,
	     struct expr_error *err);
void expr_free(struct expr *expr);
/* The type of its value. */
enum expr_type expr_type(const struct expr *expr);

/* Which 8 bytes of that area its fields lie in, a bit for each; what is beyond 63 of them is the last bit. */
uint64_t expr_places(const struct expr *expr, uint8_t area);

/* 0 with *value set, or an enum expr_trouble. Text in *value points into the areas, the
 * expression, or run->text. */
int expr_eval(const struct expr *expr, struct expr_run *run, struct expr_value *value);
/* "division by zero" */
const char *expr_trouble_text(int trouble);

/* The kernel's glob: * ? [a-z] [!a-z] and \ before a character that means itself. A `!`
 * at the head negates all of it. */
bool expr_glob(const char *pattern, size_t pattern_len, const char *text, size_t len);

/* The field of that name, or NULL. */
const struct expr_field *expr_field(const struct expr_schema *schema, const char *name, size_t len);
#endif
