/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/guard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text of a format ----------------------------------------------------- */

struct line {
	const char *at, *end;
};

/* Takes a line off *text; false if there is no whole one. */
static bool next_line(struct line *line, const char **text, const char *end)
{
	line->at = *text;
	line->end = *text < end ? memchr(*text, '\n', (size_t)(end - *text)) : NULL;
	if (line->end)
		*text = line->end + 1;
	return line->end != NULL;
}

static bool begins(const struct line *line, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(line->end - line->at) >= len && !memcmp(line->at, with, len);
}

/* Goes behind "KEY:NUMBER;" and the tab before it. */
static bool take_number(struct line *line, const char *key)
{
	bool digits = false;

	if (!begins(line, key))
		return false;
	for (line->at += strlen(key); line->at < line->end && isdigit((unsigned char)*line->at);
	     line->at++)
		digits = true;
	if (!digits || line->at == line->end || *line->at != ';')
		return false;
	line->at++;
	return true;
}

static const char *behind_word(const char *at, const char *end)
{
	while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'))
		at++;
	return at;
}

/* "[16]", "[TASK_COMM_LEN]", "[]": where it ends; NULL: nowhere. */
static const char *behind_bracket(const char *at, const char *end)
{
	for (at++; at < end && *at != ']'; at++)
		if (!*at || (!isalnum((unsigned char)*at) && !strchr("_ +-*/()<>", *at)))
			return NULL;
	return at < end ? at + 1 : NULL;
}

/* Words, stars between them, brackets behind a word: "__data_loc char[] name", "const char * x",
 * "u8 a[4]"; the last word is the name. */
static bool is_declaration(const char *at, const char *end)
{
	int words = 0;
	bool of_word = false;   /* what was last is a word, or its brackets */

	while (at < end) {
		const char *word = behind_word(at, end);

		if (word > at) {
			words++;
			of_word = true;
			at = word;
		} else if (*at == '[' && of_word) {
			at = behind_bracket(at, end);
			if (!at)
				return false;
		} else if (*at == '*' && words) {
			of_word = false;
			at++;
		} else if (*at++ != ' ') {
			return false;
		}
	}
	return words >= 2 && of_word;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;", the last not in old kernels. */
static bool is_field(struct line line)
{
	const char *name;

	if (!begins(&line, "\tfield:"))
		return false;
	line.at += strlen("\tfield:");
	name = memchr(line.at, ';', (size_t)(line.end - line.at));
	if (!name || !is_declaration(line.at, name))
		return false;
	line.at = name + 1;
	return take_number(&line, "\toffset:") && take_number(&line, "\tsize:") &&
	       (line.at == line.end || take_number(&line, "\tsigned:")) && line.at == line.end;
}

/* "KEY" and one word, which may have to be a number, or none. */
static bool is_head(struct line line, const char *key, bool word, bool number)
{
	if (!begins(&line, key))
		return false;
	line.at += strlen(key);
	if (!word)
		return line.at == line.end;
	for (const char *p = line.at; number && p < line.end; p++)
		if (!isdigit((unsigned char)*p))
			return false;
	return line.at < line.end && behind_word(line.at, line.end) == line.end;
}

bool guard_format(const char *text, size_t len)
{
	const char *end = text + len;
	struct line line;

	if (!next_line(&line, &text, end) || !is_head(line, "name: ", true, false) ||
	    !next_line(&line, &text, end) || !is_head(line, "ID: ", true, true) ||
	    !next_line(&line, &text, end) || !is_head(line, "format:", false, false))
		return false;
	while (next_line(&line, &text, end))
		if (begins(&line, "print fmt: \""))
			return true;
		else if (line.at != line.end && !is_field(line))
			return false;
	return false;
}

/* ---- raw data ------------------------------------------------------------------ */

const struct trace_field *guard_dynamic(const struct tracefmt *fmt, const void *raw,
					uint32_t raw_size)
{
	const char *data;
	uint32_t len;

	for (size_t i = 0; i < fmt->nfields; i++)
		if (fmt->fields[i].kind >= FIELD_DYN_STR &&
		    trace_field_data(&fmt->fields[i], raw, raw_size, &data, &len))
			return &fmt->fields[i];
	return NULL;
}

/* TEP_PRINT_CPUMASK, which 1.7 brought. */
enum { PRINT_CPUMASK = TEP_PRINT_HEX_STR + 1 };

struct bounds {
	struct tep_event *ev;
	const char *raw;
	uint32_t raw_size;
};

static bool field_counts(const struct bounds *b, const struct tep_print_arg *arg)
{
	const struct tep_format_field *f = tep_find_any_field(b->ev, arg->field.name);

	if (!f || f->offset < 0 || f->size <= 0 || f->size > 8 ||
	    (uint32_t)f->offset + (uint32_t)f->size > b->raw_size)
		return false;
	return tep_read_number(b->ev->tep, b->raw + f->offset, f->size) <= b->raw_size;
}

static bool makes_less(const char *op)
{
	return !strcmp(op, "/") || !strcmp(op, "%") || !strcmp(op, "&") || !strcmp(op, ">>");
}

/* Whether a count is at most as large as the raw data. */
static bool counts(const struct bounds *b, const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_ATOM:                /* the kernel's own */
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:   /* guard_dynamic() saw to it */
		return true;
	case TEP_PRINT_FIELD:
		return field_counts(b, arg);
	case TEP_PRINT_TYPE:
		return counts(b, arg->typecast.item);
	case TEP_PRINT_OP:
		return makes_less(arg->op.op) && counts(b, arg->op.left) &&
		       arg->op.right->type == TEP_PRINT_ATOM;
	default:
		return false;
	}
}

/* Of an empty mask the room for its text is taken to be 4 GiB. */
static bool has_bits(const struct bounds *b, const struct tep_print_arg *arg)
{
	const struct tep_format_field *f = tep_find_any_field(b->ev, arg->bitmask.bitmask);

	return f && f->offset >= 0 && f->size == 4 && (uint32_t)f->offset + 4 <= b->raw_size &&
	       tep_read_number(b->ev->tep, b->raw + f->offset, 4) >> 16;
}

static bool is_constant(const struct tep_print_arg *arg)
{
	return !arg || arg->type == TEP_PRINT_ATOM;
}

/* It divides by 0, too. */
static bool is_divisor(const struct tep_print_arg *arg)
{
	return arg->type == TEP_PRINT_ATOM && strtoull(arg->atom.atom, NULL, 0);
}

/* Whether an argument is a width that can be: of a negative one libtraceevent makes none,
 * and takes the next argument for the width. */
static bool is_width(const struct bounds *b, const struct tep_print_arg *arg)
{
	return arg && (arg->type == TEP_PRINT_ATOM || arg->type == TEP_PRINT_FIELD ||
		       arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN) && counts(b, arg);
}

static bool widths_hold(const struct bounds *b, const struct tep_print_fmt *fmt)
{
	const struct tep_print_arg *arg = fmt->args;
	const char *at = fmt->format;

	while (at && (at = strchr(at, '%'))) {
		if (*++at == '%') {
			at++;
			continue;
		}
		for (at += strspn(at, "0123456789-#."); *at == '*';
		     at += 1 + strspn(at + 1, "0123456789-#.")) {
			if (!is_width(b, arg))
				return false;
			arg = arg->next;
		}
		at += strspn(at, "hlLzZ");
		if (*at && strchr("duixXops", *at) && arg)
			arg = arg->next;
		else if (strchr(at, '*'))
			return false;   /* it counts arguments in another way */
	}
	return true;
}

static bool holds(const struct bounds *b, const struct tep_print_arg *arg);

static bool op_holds(const struct bounds *b, const struct tep_print_arg *arg)
{
	if (!strcmp(arg->op.op, "[") && !is_constant(arg->op.right))
		return false;
	if ((!strcmp(arg->op.op, "/") || !strcmp(arg->op.op, "%")) && !is_divisor(arg->op.right))
		return false;
	return holds(b, arg->op.left) && holds(b, arg->op.right);
}

static bool one_holds(const struct bounds *b, const struct tep_print_arg *arg)
{
	if ((int)arg->type == PRINT_CPUMASK)
		return has_bits(b, arg);
	switch (arg->type) {
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return counts(b, arg->hex.size);
	case TEP_PRINT_INT_ARRAY:
		return counts(b, arg->int_array.count) && is_constant(arg->int_array.el_size);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return is_constant(arg->dynarray.index);
	case TEP_PRINT_OP:
		return op_holds(b, arg);
	case TEP_PRINT_TYPE:
		return holds(b, arg->typecast.item);
	case TEP_PRINT_FLAGS:
		return holds(b, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return holds(b, arg->symbol.field);
	case TEP_PRINT_FUNC:
		return holds(b, arg->func.args);
	default:
		return true;
	}
}

static bool holds(const struct bounds *b, const struct tep_print_arg *arg)
{
	for (; arg; arg = arg->next)
		if (!one_holds(b, arg))
			return false;
	return true;
}

bool guard_print_fmt(struct tep_event *ev, const void *raw, uint32_t raw_size)
{
	const struct bounds b = { ev, raw, raw_size };

	return widths_hold(&b, &ev->print_fmt) && holds(&b, ev->print_fmt.args);
}
