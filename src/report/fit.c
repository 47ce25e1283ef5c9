/* SPDX-License-Identifier: Apache-2.0 */
/* A text is shortened in place, one piece at a time, until it fits. */
#include "report/fit.h"

#include "base/columns.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Paths lose folders from the left: "…/bin/app". */

/* ---- path ------------------------------------------------------------------------------- */

static const char more[] = "\xe2\x80\xa6";   /* … */

/* The slash before its last part; NULL: it has no folder. */
static const char *last_slash(const char *path)
{
	const char *last = strrchr(path, '/');

	return last && last > path && last[1] ? last : NULL;
}

/* Shortens it in place; the file's name stays, even if it is too long. */
static void fit_path_body(char *path, size_t columns)
{
	const char *slash = path, *last = last_slash(path);
	size_t left = columns_of(path);   /* from `slash` on */

	if (!last || left <= columns)
		return;
	do {
		const char *next = strchr(slash + 1, '/');

		left -= columns_of_part(slash, (size_t)(next - slash));
		slash = next;
	} while (slash < last && 1 + left > columns);
	if (1 + left > columns || slash - path < (ptrdiff_t)sizeof(more) - 1) {
		memmove(path, last + 1, strlen(last));
		return;
	}
	memmove(path + sizeof(more) - 1, slash, strlen(slash) + 1);
	memcpy(path, more, sizeof(more) - 1);
}

size_t fit_path_least(const char *path)
{
	const char *last = last_slash(path);

	return last ? 1 + columns_of(last) : columns_of(path);
}

/* ---- name ------------------------------------------------------------------------------- */

/*
 * Brackets that have a partner are groups. Others are text: "operator<", "->", and those of names that were cut off or
 * have no meaning. So a name never has to be valid.
 */

enum { MAX_DEPTH = 256, MAX_STEPS = 64 };

enum { MORE = sizeof(more) - 1 };

struct name {
	char *text;
	size_t len, columns;
	uint16_t partner[FIT_MAX];   /* of a bracket: the index of the other one, plus 1; 0: it is none */
	bool symbol[FIT_MAX];        /* part of "operator<<" and the like */
};

/* ---- groups ------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

size_t fit_name_operator(const char *text)
{
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">" };

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (!strncmp(text, symbols[i], strlen(symbols[i])))
			return strlen(symbols[i]);
	return strspn(text, "+-*/%^&|~!=,");
}

/* Bytes at i that are no brackets: 0, or the length of "operator" with its symbol. */
static size_t operator_length(struct name *n, size_t i)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;
	size_t symbol;

	if (n->text[i] != *word || (i && is_word(n->text[i - 1])) || strncmp(n->text + i, word, len))
		return 0;
	symbol = fit_name_operator(n->text + i + len);
	memset(n->symbol + i + len, true, symbol);
	return len + symbol;
}

struct open_brackets {
	uint16_t at[MAX_DEPTH];
	size_t n;
};

static void close_bracket(struct name *n, struct open_brackets *o, size_t i, char opening)
{
	size_t k = o->n;

	if (opening == '<' && i && (n->text[i - 1] == '-' || n->text[i - 1] == '='))
		return;   /* -> or => */
	/* a "<" within parentheses may be less-than; parentheses in "<>" are always complete */
	while (k && n->text[o->at[k - 1]] != opening && opening != '<')
		k--;
	if (!k || n->text[o->at[k - 1]] != opening)
		return;
	o->n = k - 1;
	n->partner[o->at[k - 1]] = (uint16_t)(i + 1);
	n->partner[i] = (uint16_t)(o->at[k - 1] + 1);
}

static void find_groups(struct name *n)
{
	static const char opening[] = "<({[", closing[] = ">)}]";
	struct open_brackets o = { .n = 0 };

	n->len = strlen(n->text);
	memset(n->partner, 0, (n->len + 1) * sizeof(*n->partner));
	memset(n->symbol, 0, (n->len + 1) * sizeof(*n->symbol));
	for (size_t i = 0; i < n->len; i++) {
		const size_t skipped = operator_length(n, i);
		const char *found;

		if (skipped)
			i += skipped - 1;
		else if (strchr(opening, n->text[i]) && o.n < MAX_DEPTH)
			o.at[o.n++] = (uint16_t)i;
		else if ((found = strchr(closing, n->text[i])))
			close_bracket(n, &o, i, opening[found - closing]);
	}
}

static size_t columns_between(const struct name *n, size_t from, size_t to)
{
	return columns_of_part(n->text + from, to - from);
}

/* Replaces bytes from..to-1 by `by`. */
static void replace(struct name *n, size_t from, size_t to, const char *by)
{
	n->columns += columns_of(by) - columns_between(n, from, to);
	memmove(n->text + from + strlen(by), n->text + to, n->len - to + 1);
	memcpy(n->text + from, by, strlen(by));
	find_groups(n);
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* Whether a name ends before i, so that a group there is its arguments. */
static bool is_behind_name(const struct name *n, size_t i)
{
	if (i && n->text[i - 1] == ' ' && i > 1 && n->symbol[i - 2])   /* "operator< <int>" */
		return true;
	return i && (is_word(n->text[i - 1]) || n->symbol[i - 1] || n->text[i - 1] == '>' || n->text[i - 1] == '}' ||
		     n->text[i - 1] == ']');
}

/* Whether a "<" at i begins arguments, also those of Rust's "name::<T>"; not a type or trait such as "<T as Trait>". */
static bool is_template(const struct name *n, size_t i)
{
	static const char impl[] = "impl ";

	if (n->text[i] != '<' || n->partner[i] < i + 1)
		return false;
	return is_behind_name(n, i) || (i > 2 && n->text[i - 1] == ':' && strncmp(n->text + i + 1, impl, sizeof(impl) - 1));
}

static bool is_list(const struct name *n, size_t i)
{
	return n->text[i] == '(' && n->partner[i] > i + 1 && is_behind_name(n, i);
}

/* The group with the longest content of those that contain no other one (leaf) or of all; SIZE_MAX: none. */
static size_t longest(const struct name *n, bool (*is_one)(const struct name *n, size_t i), bool leaf)
{
	size_t found = SIZE_MAX, last = SIZE_MAX, most = 1;

	for (size_t i = 0; i < n->len; i++) {
		const size_t from = n->partner[i] ? n->partner[i] - 1u : SIZE_MAX;

		if (is_one(n, i) && strncmp(n->text + i + 1, more, MORE))
			last = i;
		if (from >= i || !is_one(n, from) || (leaf && from != last) || !strncmp(n->text + from + 1, more, MORE))
			continue;
		if (i - from - 1 > most) {
			most = i - from - 1;
			found = from;
		}
	}
	return found;
}

/* The innermost first; in a name of very many groups, whole ones. */
static void shorten_groups(struct name *n, size_t columns, bool (*is_one)(const struct name *n, size_t i))
{
	for (int step = 0; step < 2 * MAX_STEPS && n->columns > columns; step++) {
		const size_t at = longest(n, is_one, step < MAX_STEPS);

		if (at == SIZE_MAX)
			return;
		replace(n, at + 1, n->partner[at] - 1u, more);
	}
}

/* ---- what is in front --------------------------------------------------------------------- */

/* Removes "core::fmt::" from names within `from`..`to`. */
static void drop_namespaces(struct name *n, size_t from, size_t to)
{
	char *text = n->text;
	const size_t before = columns_between(n, from, to);
	size_t out = from, start = from;     /* start: of the present word, in what is kept */

	for (size_t i = from; i < to; i++) {
		if (text[i] == ':' && text[i + 1] == ':' && out > start && is_word(text[i + 2])) {
			out = start;
			i++;
			continue;
		}
		if (!is_word(text[i]))
			start = out + 1;
		text[out++] = text[i];
	}
	n->columns -= before - columns_between(n, from, out);
	memmove(text + out, text + to, n->len - to + 1);
	find_groups(n);
}

/* Rust's "<impl core::fmt::Display for alloc::string::String>::fmt". */
static void shorten_types(struct name *n, size_t columns)
{
	int steps = MAX_STEPS;

	for (size_t i = 0; i < n->len && n->columns > columns && steps; i++)
		if (n->text[i] == '<' && n->partner[i] > i && !is_template(n, i) && steps--)
			drop_namespaces(n, i + 1, n->partner[i] - 1u);
}

/* Whether a part of a name begins at i, behind a separator. */
static bool is_part(const struct name *n, size_t i)
{
	return n->text[i - 1] == '/' ? is_word(n->text[i]) : n->text[i] && !is_template(n, i);
}

/* The separator after i that is in no group; its end. SIZE_MAX: there is none. */
static size_t next_part(const struct name *n, size_t i, const char *separator)
{
	const size_t len = strlen(separator);

	while (i < n->len) {
		if (n->partner[i] > i + 1) {
			i = n->partner[i];
			continue;
		}
		if (!strncmp(n->text + i, separator, len) && is_part(n, i + len))
			return i + len;
		i++;
	}
	return SIZE_MAX;
}

/* Parts are dropped from the left; the last one is the function. */
static void shorten_front(struct name *n, size_t columns)
{
	const char *separator = next_part(n, 0, "::") != SIZE_MAX ? "::" : "/";
	const size_t len = strlen(separator);
	size_t part = 0, next = 0, front = 0, left = n->columns;   /* left: columns from `front` on */

	if (left <= columns)
		return;
	while (1 + left > columns && (next = next_part(n, next, separator)) != SIZE_MAX) {
		part = next;
		left -= columns_between(n, front, part - len);
		front = part - len;
	}
	if (part && 1 + left <= columns)
		replace(n, 0, front, more);
	else
		replace(n, 0, part, "");
}

/* ---- names with paths --------------------------------------------------------------------- */

/* The path in "py::NAME:/FILE" and "JS:*NAME /FILE:12"; NULL: it has none. */
static char *path_in(const struct name *n)
{
	for (size_t i = 0; i + 1 < n->len; i++) {
		if (n->partner[i] > i + 1)
			i = n->partner[i] - 1u;
		else if ((n->text[i] == ' ' || n->text[i] == ':') && n->text[i + 1] == '/')
			return n->text + i + 1;
	}
	return NULL;
}

/* Shortens it in place; the function itself stays, even if it is too long. Each "…" adds at most a byte. */
static void fit_name_body(char *text, size_t columns)
{
	struct name n;
	char *path;

	n.text = text;
	n.columns = columns_of(text);
	find_groups(&n);
	path = path_in(&n);
	if (path) {
		const size_t head = n.columns - columns_of(path);

		fit_path_body(path, columns > head ? columns - head : 1);
		return;
	}
	shorten_groups(&n, columns, is_template);
	shorten_groups(&n, columns, is_list);
	shorten_types(&n, columns);
	shorten_front(&n, columns);
}

enum {
	LEAST_BODY = 8,      /* columns: with less, remarks are cut off, too */
	ROOM = 512,          /* bytes that "…" may add */
};


/* ---- parts of a text ---------------------------------------------------------------------- */

/* Length of the text without remarks: " (inlined)", " (deleted)", and ":12" behind a path. */
static size_t without_remarks(const char *text, size_t len)
{
	size_t start = len;

	while (start && text[start - 1] == ')') {
		size_t i = start - 1;

		while (i && islower((unsigned char)text[i - 1]))
			i--;
		if (i == start - 1 || i < 3 || text[i - 1] != '(' || text[i - 2] != ' ')
			break;
		start = i - 2;
	}
	return start;
}

static size_t without_line(const char *text, size_t len)
{
	size_t start = len;

	while (start && isdigit((unsigned char)text[start - 1]))
		start--;
	return start < len && start > 1 && text[start - 1] == ':' ? start - 1 : len;
}

/* ---- bodies ------------------------------------------------------------------------------- */

/* Cuts off the end, between characters. */
static void cut_end(char *body, size_t columns)
{
	if (columns_of(body) > columns)
		strcpy(body + columns_fit(body, columns - 1), more);
}

static void (*const bodies[])(char *body, size_t columns) = {
	[FIT_END] = cut_end, [FIT_NAME] = fit_name_body, [FIT_PATH] = fit_path_body,
};

/* For texts that are too long or too narrow for more. */
static const char *cut_only(const char *text, size_t columns, char *buf)
{
	const size_t most = columns_fit(text, columns - 1), n = most < FIT_MAX - sizeof(more) ? most : 0;

	memcpy(buf, text, n);
	strcpy(buf + n, more);
	return buf;
}

const char *fit_text(enum fit how, const char *text, size_t columns, char buf[FIT_MAX])
{
	const size_t len = strlen(text), indent = how == FIT_END ? 0 : strspn(text, " ");
	size_t rest = how == FIT_END ? len : without_remarks(text, len), around;
	char *body = buf + indent;

	if (columns_of(text) <= columns)
		return text;
	if (how == FIT_PATH)
		rest = without_line(text, rest);
	around = indent + columns_of(text + rest);
	if (rest <= indent || around + LEAST_BODY > columns) {
		rest = len;
		around = indent;
	}
	if (len > FIT_MAX - ROOM || indent >= columns)
		return cut_only(text, columns, buf);
	memcpy(buf, text, rest);
	buf[rest] = '\0';
	bodies[how](body, columns - around);
	cut_end(body, columns - around);
	strcat(body, text + rest);
	return buf;
}
