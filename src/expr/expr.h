/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions for filters and keys: C's operators on the fields of an event.
 *
 *	struct expr *e;
 *	rc = expr_new(&e, "prio<10 && comm~\"java*\"", &schema, &err);
 *	...
 *	if (!expr_eval(e, &run, &value)) ...
 *	expr_free(e);
 *
 * Values are 64-bit integers, signed or unsigned, and text. Fields of all widths are extended by
 * value. An operation is unsigned if either side is (a u64 field, a constant above 2^63-1, a
 * constant with the suffix u), else signed; overflow wraps; a shift by 64 or more gives 0 or, for
 * negative signed numbers shifted right, -1. In a comparison by == or != with an integer field, a
 * constant that fits in the field's width, signed or unsigned, stands for its bits: compared with
 * an int, 0xffffffff is -1.
 *
 * Precedence is C's, with three exceptions. `!` negates everything up to the next &&, ||, ?, : or
 * closing parenthesis, as in the kernel's filters: !pid==5 means !(pid==5). `&`, `|` and `^` next
 * to an unparenthesized comparison, and a comparison of a comparison, are errors. `==`, `!=`
 * compare text with text, and `~` matches text with a glob constant.
 *
 * The caller describes the fields (struct expr_schema): those of a sample, a recording or a row
 * of a table. Every access is checked against the size of the data. Nothing is allocated after
 * expr_new().
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
		const char *text;     /* not terminated; points into an area, the expression or run->text */
	};
	uint32_t len;                 /* of text */
	enum expr_type type;
};

enum expr_field_kind {
	EXPR_FIELD_UINT,              /* 1, 2, 4 or 8 bytes */
	EXPR_FIELD_SINT,
	EXPR_FIELD_CHARS,             /* char[size]: text up to the first NUL */
	EXPR_FIELD_DATA_LOC,          /* u32: offset (low 16 bits) and length of text in the area */
	EXPR_FIELD_REL_LOC,           /* the same, the offset counting from the end of the u32 */
	EXPR_FIELD_POINTER,           /* char *: an address here, text in the kernel's filters */
	EXPR_FIELD_BYTES,             /* has no value here, such as an array */
	EXPR_FIELD_CALLED,            /* what function `offset` of the schema returns without arguments */
};

struct expr_field {
	const char *name;
	enum expr_field_kind kind;
	uint8_t area;                 /* index of its area in expr_run */
	bool hidden;                  /* an alias: not offered in messages */
	uint16_t offset, size;        /* bytes within the area */
	/* EXPR_FIELD_DATA_LOC: if the u32 there refers to the same place, this text could not be read, and is empty; 0: none. The
	 * kernel's filters know nothing of that. */
	uint16_t next;
};

enum { EXPR_AREAS = 4, EXPR_MAX_ARGS = 8 };

/* The data for an evaluation. */
struct expr_run {
	struct {
		const void *bytes;
		uint32_t size;
	} area[EXPR_AREAS];
	void *ctx;                    /* for the caller's own functions */
	char *text;                   /* buffer for text made by functions; may be NULL */
	size_t text_size;
	size_t text_used;             /* set it to 0 before each evaluation */
};

/* A function that expressions may call. */
struct expr_func {
	const char *name;
	/* A letter per argument: i an integer, s text, c a text constant; a final * allows any
	 * number of additional arguments of any type. */
	const char *params;
	enum expr_type result;
	/* Called once, when the expression is compiled. Constants have their value, other
	 * arguments only their type; is_const[] says which. Returns NULL or what is wrong with
	 * argument *bad. May be NULL. */
	const char *(*check)(const struct expr_value *args, const bool *is_const, size_t nargs,
			     size_t *bad);
	/* Sets the result (of the type above). Returns 0, or an enum expr_trouble. The types of
	 * the arguments are not set: params and check() have checked them. */
	int (*call)(struct expr_run *run, const struct expr_value *args, size_t nargs,
		    struct expr_value *result);
};

struct expr_schema {
	const struct expr_field *fields;      /* the first one of a name is used */
	size_t nfields;
	const struct expr_func *funcs;        /* additional to the built-in ones */
	size_t nfuncs;
};

/* What is wrong, where, and what was expected. */
struct expr_error {
	size_t at;                    /* byte offset in the expression's text */
	bool lists_fields;            /* expected[] lists the known fields */
	char message[200];
	char expected[512];
};

/* Why an expression has no value for an event. */
enum expr_trouble {
	EXPR_FINE,
	EXPR_DIVISION,                /* by zero */
	EXPR_DATA,                    /* a field reaches beyond the event's data */
	EXPR_ROOM,                    /* text does not fit in run->text */
	EXPR_FAILED,                  /* a function failed */
	EXPR_TROUBLES
};

/* Parses the text and checks it against the schema, of which only the names and functions are
 * used afterwards. 0, -EINVAL with err filled, or -ENOMEM. */
int expr_new(struct expr **expr, const char *text, const struct expr_schema *schema,
	     struct expr_error *err);
void expr_free(struct expr *expr);
/* The type of its value. */
enum expr_type expr_type(const struct expr *expr);

/* The 8-byte words of that area in which its fields lie, a bit for each; words from 63 on share
 * the last bit. */
uint64_t expr_places(const struct expr *expr, uint8_t area);
/* Whether it reads the field at that offset of the area. */
bool expr_reads(const struct expr *expr, uint8_t area, uint16_t offset);
/* Whether it calls that function. */
bool expr_calls(const struct expr *expr, const struct expr_func *func);

/* 0 with *value set, or an enum expr_trouble. Text in *value points into the areas, the
 * expression, or run->text. */
int expr_eval(const struct expr *expr, struct expr_run *run, struct expr_value *value);
/* "division by zero" */
const char *expr_trouble_text(int trouble);

/* The kernel's glob: * ? [a-z] [!a-z] and \ to quote a character. A leading `!` negates the whole pattern. */
bool expr_glob(const char *pattern, size_t pattern_len, const char *text, size_t len);

/* The field of that name, or NULL. */
const struct expr_field *expr_field(const struct expr_schema *schema, const char *name, size_t len);
#endif
