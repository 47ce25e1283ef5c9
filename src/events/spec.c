/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of event lists works on offsets into the text, so that every error can show its
 * place. A first pass checks that quotes and parentheses are balanced; later code skips them
 * without checks.
 */
#include "events/spec.h"

#include "base/columns.h"
#include "base/escape.h"
#include "base/room.h"
#include "events/probename.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ----------------------------------------------------------------------------- */

/* Messages about errors in an event list, with a caret. */

/* Characters shown on each side of the caret; each takes at most 4 bytes once escaped. */
#define SHOWN_BEFORE 50
#define SHOWN_AFTER 60

static bool continues_char(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The offset n characters before or after at, at a character's first byte. */
static size_t step_back(const char *text, size_t at, size_t n)
{
	while (at && n--)
		for (at--; at && continues_char(text[at]);)
			at--;
	return at;
}

static size_t step_on(const char *text, size_t len, size_t at, size_t n)
{
	while (at < len && n--)
		for (at++; at < len && continues_char(text[at]);)
			at++;
	return at;
}

static void show_place(struct spec_error *err, const char *text, size_t at)
{
	size_t len = strlen(text), from, to, used;

	if (at > len)
		at = len;
	from = step_back(text, at, SHOWN_BEFORE);
	to = step_on(text, len, at, SHOWN_AFTER);
	used = (size_t)snprintf(err->text, sizeof(err->text), "%s", from ? "..." : "");
	used += escape_terminal(text + from, at - from, err->text + used, sizeof(err->text) - used);
	err->at = columns_of(err->text);
	used += escape_terminal(text + at, to - at, err->text + used, sizeof(err->text) - used);
	if (to < len)
		snprintf(err->text + used, sizeof(err->text) - used, "...");
}

void spec_complain_of(struct spec_error *err, const char *text, size_t at, const char *message,
		      const char *expected)
{
	if (!err)
		return;
	expected = expected ? expected : "";
	escape_terminal(message, strlen(message), err->message, sizeof(err->message));
	escape_terminal(expected, strlen(expected), err->expected, sizeof(err->expected));
	show_place(err, text, at);
}

void spec_complain(struct spec_error *err, const struct spec_item *item, size_t at,
		   const char *message, const char *expected)
{
	spec_complain_of(err, item->text, at, message, expected);
}

size_t spec_error_text(const struct spec_error *err, char *buf, size_t size)
{
	const char *label = !err->expected[0] ? "" : strncmp(err->expected, "did you mean ", 13) ? "\nexpected: " : "\n";
	int n = snprintf(buf, size, "%s\n  %s\n  %*s^%s%s", err->message, err->text, (int)err->at, "", label,
			 err->expected);
	size_t len = n < 0 ? 0 : (size_t)n;

	return len < size ? len : size ? size - 1 : 0;
}

int spec_fault(struct fault *f, const struct spec_item *item, size_t at, const char *message,
	       const char *expected)
{
	struct spec_error err;
	char text[1600];

	spec_complain(&err, item, at, message, expected);
	spec_error_text(&err, text, sizeof(text));
	return fault_usage(f, "%s", text);
}

struct parser {
	const char *text;
	size_t pos;
	struct spec_item *items;
	size_t nitems;
	bool in_filter;               /* the previous item ended in its filter, without a slash */
	struct spec_group *groups;
	size_t ngroups;
	bool in_group;                /* in the last group, before its brace */
	struct spec_error *err;
};

/* Separators that end a name or a slot. */
static const char *ends(const struct parser *p)
{
	return p->in_group ? ",/}" : ",/";
}

static int fail(struct parser *p, size_t at, const char *message, const char *expected)
{
	spec_complain_of(p->err, p->text, at, message, expected);
	return -EINVAL;
}

/* ------------------------------------------------------------------------
 * Quotes and parentheses
 */

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* The end of the string that begins at i, or `end` if it is not closed. */
static size_t skip_string(const char *text, size_t i, size_t end)
{
	char quote = text[i++];

	while (i < end && text[i] != quote)
		i += text[i] == '\\' && i + 1 < end ? 2 : 1;
	return i < end ? i + 1 : end;
}

static bool string_closed(const char *text, size_t from, size_t behind)
{
	size_t i = from + 1;

	while (i < behind && text[i] != text[from])
		i += text[i] == '\\' ? 2 : 1;
	return i + 1 == behind;
}

static int check_balance(struct parser *p)
{
	size_t len = strlen(p->text), depth = 0, outermost = 0;

	for (size_t i = 0, next; i < len; i = next) {
		next = i + 1;
		if (is_quote(p->text[i])) {
			next = skip_string(p->text, i, len);
			if (!string_closed(p->text, i, next))
				return fail(p, i, "this quote is not closed",
					    "the same quote again; a backslash before a quote "
					    "makes it part of the string");
		} else if (p->text[i] == '(') {
			outermost = depth++ ? outermost : i;
		} else if (p->text[i] == ')' && !depth--) {
			return fail(p, i, "this parenthesis closes nothing",
				    "an opening parenthesis before it");
		}
	}
	if (depth)
		return fail(p, outermost, "this parenthesis is not closed", "\")\"");
	return 0;
}

/* The offset of the first of seps in text[from, end) outside strings and parentheses, or end. */
static size_t find_sep(const char *text, size_t from, size_t end, const char *seps)
{
	size_t depth = 0;

	for (size_t i = from; i < end;) {
		if (!depth && strchr(seps, text[i]))
			return i;
		depth += text[i] == '(';
		depth -= text[i] == ')';
		i = is_quote(text[i]) ? skip_string(text, i, end) : i + 1;
	}
	return end;
}

/* ------------------------------------------------------------------------
 * Pieces of text
 */

struct piece {
	size_t from, to;
};

static struct piece trim(const char *text, size_t from, size_t to)
{
	while (from < to && isspace((unsigned char)text[from]))
		from++;
	while (to > from && isspace((unsigned char)text[to - 1]))
		to--;
	return (struct piece){ from, to };
}

/* The offset of the comma before `at`. */
static size_t trim_back(const char *text, size_t at)
{
	while (at && text[at - 1] != ',')
		at--;
	return at ? at - 1 : 0;
}

static char *copy_piece(const char *text, struct piece s)
{
	return strndup(text + s.from, s.to - s.from);
}

/* Whether s is one quoted string and nothing else. */
static bool wholly_quoted(const char *text, struct piece s)
{
	return s.from < s.to && is_quote(text[s.from]) && skip_string(text, s.from, s.to) == s.to;
}

/* Copies the text between the quotes and moves s there. */
static char *unquote(const char *text, struct piece *s)
{
	char quote = text[s->from++];
	char *out = copy_piece(text, (struct piece){ s->from, --s->to });
	char *w = out;

	for (const char *r = out; r && *r; *w++ = *r++)
		if (*r == '\\' && (r[1] == quote || r[1] == '\\'))
			r++;
	if (w)
		*w = '\0';
	return out;
}

/* A filter or value begins after a slash or "=" and spaces, or after its quote. */
size_t spec_place(const struct spec_item *item, size_t from, size_t offset)
{
	const char *text = item->text;
	char quote = from && is_quote(text[from - 1]) ? text[from - 1] : '\0';

	if (!quote)
		return from + offset;
	for (;; from++) {
		if (text[from] == '\\' && (text[from + 1] == quote || text[from + 1] == '\\'))
			from++;
		if (!offset-- || !text[from])
			break;
	}
	return from;
}

static char *copy_value(const char *text, struct piece *s)
{
	return wholly_quoted(text, *s) ? unquote(text, s) : copy_piece(text, *s);
}

/* ------------------------------------------------------------------------
 * Names
 */

/* True for the second part of cpus=0-3,7; no event has such a name. */
static bool only_numbers(const char *text, struct piece s)
{
	return strspn(text + s.from, "0123456789-") >= s.to - s.from;
}

/* True for the second part of name/pid>1,prio<3/. */
static bool looks_like_condition(const char *text, struct piece s)
{
	return find_sep(text, s.from, s.to, "<>=!~&|") < s.to;
}

static int check_name(struct parser *p, struct piece s)
{
	size_t space = find_sep(p->text, s.from, s.to, " \t\r\n\v\f");

	if (p->in_filter && looks_like_condition(p->text, s))
		return fail(p, trim_back(p->text, s.from), "a comma does not join conditions: it ends the "
			    "event", "&& (and) or || (or) within a filter");
	if (s.from == s.to && p->text[s.to] == '/')
		return fail(p, s.from, "no event name before the slash",
			    "sys:name[/filter/attribute/.../]");
	if (s.from == s.to)
		return fail(p, s.from, "an empty item in the event list", "the name of an event");
	if (space < s.to)
		return fail(p, trim(p->text, space, s.to).from, "a space in an event's name",
			    "\",\" between events, \"/\" before a filter");
	if (p->nitems && only_numbers(p->text, s))
		return fail(p, s.from, "a number where an event's name should be",
			    "quotes around a list within an event: name//cpus=\"0-3,7\"/");
	return 0;
}

/* Whether a path without quotes begins before or at the slash at `end`: uprobe:main@./app */
static bool has_path(const struct parser *p, size_t from, size_t end)
{
	static const char *const words[] = { "uprobe:", "uretprobe:", "usdt:" };
	size_t at = find_sep(p->text, from, end, "@");

	for (size_t i = 0; at < end && i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(p->text + from, words[i], strlen(words[i])))
			return p->text[end] == '/' && !is_quote(p->text[end - 1]);
	return false;
}

/* The slash after such a path: before an empty filter, before a filter, or the last one of the item. */
static size_t path_end(const struct parser *p, size_t slash)
{
	size_t len = strlen(p->text);

	for (;;) {
		size_t next = find_sep(p->text, slash + 1, len, ends(p)), last = p->text[next] != '/';

		if (trim(p->text, slash + 1, next).from == next || strchr("<>=!~&|(", p->text[slash + 1]) ||
		    find_sep(p->text, slash + 1, next, "<>=!~&|") < next)
			return slash;
		if (last)
			return next;
		slash = next;
	}
}

/* uprobe:/bin/ls:main, the order of bpftrace. `at`: behind the first colon. */
static int path_before_function(struct parser *p, const struct spec_item *item, size_t at)
{
	const struct probe_word *kind = probe_word_of(item);
	size_t end = find_sep(p->text, at, strlen(p->text), ","), colon = find_sep(p->text, at, end, ":");
	size_t behind = colon + 1 < end ? find_sep(p->text, colon + 1, end, "/ ") : end;
	char expected[512];

	snprintf(expected, sizeof(expected), "%s", kind->expected);
	if (behind > colon + 1 && behind - at < sizeof(expected) / 2)
		snprintf(expected, sizeof(expected), "%s, such as %s:%.*s@%.*s", kind->expected, item->sys, (int)(behind - colon - 1),
			 p->text + colon + 1, (int)(colon - at), p->text + at);
	return fail(p, at, "the function must come before the file", expected);
}

/* Whether the slash behind the colon of a probe begins a path: uprobe:/bin/ls, uprobe:./app */
static bool has_path_first(const struct parser *p, const struct spec_item *item, struct piece name, size_t end)
{
	const struct probe_word *kind = probe_word_of(item);

	return kind && kind->space == PROBE_USER && p->text[end] == '/' && p->text[end + 1] &&
	       strspn(p->text + name.from, ".") >= name.to - name.from;
}

static int take_name(struct parser *p, struct spec_item *item)
{
	size_t end = find_sep(p->text, p->pos, strlen(p->text), ends(p)), colon;
	struct piece s = trim(p->text, p->pos, end);
	int err;

	if (has_path(p, s.from, end))
		end = path_end(p, end);
	s = trim(p->text, p->pos, end);
	colon = find_sep(p->text, s.from, s.to, ":");
	err = check_name(p, s);
	if (err)
		return err;
	item->at = s.from;
	p->pos = end;
	if (colon < s.to) {
		if (colon == s.from)
			return fail(p, colon, "nothing before the colon", "sys:name");
		item->sys = copy_piece(p->text, (struct piece){ s.from, colon });
		s.from = colon + 1;
		if (has_path_first(p, item, s, end))
			return path_before_function(p, item, s.from);
		if (s.from == s.to)
			return fail(p, s.from, "no event name after the colon", "sys:name");
		if (!item->sys)
			return -ENOMEM;
	}
	item->name = copy_piece(p->text, s);
	return item->name ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * Filter and attributes
 */

/* Takes the next slot; skips the slash at its end, if there is one. */
static struct piece take_slot(struct parser *p)
{
	size_t end = find_sep(p->text, p->pos, strlen(p->text), ends(p));
	struct piece s = trim(p->text, p->pos, end);

	p->pos = p->text[end] == '/' ? end + 1 : end;
	return s;
}

/* The end of WORD or WORD=VALUE at i; i if there is none. */
static size_t term_end(const char *text, size_t i, bool *has_value)
{
	size_t end = i;

	while (isalnum((unsigned char)text[end]) || (text[end] && strchr("_-.", text[end])))
		end++;
	if (end == i || text[end] != '=')
		return end;
	*has_value = true;
	if (text[end + 1] == '\'')
		return skip_string(text, end + 1, strlen(text));
	return end + 1 + strcspn(text + end + 1, ",/{}()<>=!&~\"' \t\n");
}

/* The offset of the slash after terms; 0: there are no terms. */
static size_t terms_end(const struct parser *p, const struct spec_item *item)
{
	bool has_value = false, has_comma = false;

	for (size_t i = p->pos;; i++) {
		size_t end = term_end(p->text, i, &has_value);

		if (end == i || p->text[end - 1] == '=')
			return 0;
		if (p->text[end] == '/')
			return has_comma && item->sys && !has_value ? 0 : end;
		if (p->text[end] != ',')
			return 0;
		has_comma = true;
		i = end;
	}
}

static struct piece take_first_slot(struct parser *p, struct spec_item *item)
{
	size_t end = terms_end(p, item);
	struct piece s = { p->pos, end };

	if (!end)
		return take_slot(p);
	item->terms = true;
	p->pos = end + 1;
	return s;
}

static int take_filter(struct parser *p, struct spec_item *item)
{
	struct piece s = take_first_slot(p, item);
	char *filter = copy_value(p->text, &s);

	p->in_filter = p->text[p->pos - 1] != '/';
	item->filter_at = s.from;
	if (!filter)
		return -ENOMEM;
	if (!filter[0]) {
		free(filter);
		return 0;
	}
	item->filter = filter;
	return 0;
}

static size_t word_end(const char *text, struct piece s)
{
	size_t i = s.from;

	if (i < s.to && (isalpha((unsigned char)text[i]) || text[i] == '_'))
		while (i < s.to && (isalnum((unsigned char)text[i]) || strchr("_-.", text[i])))
			i++;
	return i;
}

/* Finds the parts of word[=value]; value.from is 0 without "=". */
static int split_attr(struct parser *p, struct piece s, struct piece *word, struct piece *value)
{
	size_t end = word_end(p->text, s);
	size_t sign = trim(p->text, end, s.to).from;

	*word = (struct piece){ s.from, end };
	*value = (struct piece){ 0, 0 };
	if (end == s.from)
		return fail(p, s.from, "not an attribute",
			    "word or word=value; a division needs quotes: top-by=\"runtime/1000\"");
	if (sign == s.to)
		return 0;
	if (isalpha((unsigned char)p->text[sign]) || p->text[sign] == '_')
		return fail(p, sign, "two attributes without a slash between them",
			    "\"/\" before this one");
	if (p->text[sign] != '=' || p->text[sign + 1] == '=')
		return fail(p, sign, "not an attribute",
			    "word or word=value; the filter is the first slot: name/filter/word/, and a slash in it, as in a path, needs "
			    "quotes");
	*value = trim(p->text, sign + 1, s.to);
	if (value->from == value->to)
		return fail(p, value->from, "an attribute without its value",
			    "a value after \"=\"; an empty one is \"\"");
	return 0;
}

static struct spec_attr *add_attr(struct spec_item *item)
{
	return APPENDED(item->attrs, item->nattrs);
}

#define MODIFIERS "ukhIGHpPDeSW"

/* Whether s is "u" or ":u", in the slot after the filter's. */
static bool are_modifiers(const char *text, struct piece *s)
{
	size_t from = s->from + (text[s->from] == ':');

	if (from == s->to || from + strspn(text + from, MODIFIERS) < s->to)
		return false;
	s->from = from;
	return true;
}

static int take_attr(struct parser *p, struct spec_item *item)
{
	struct piece s = take_slot(p), word, value;
	struct spec_attr *attr;
	int err;

	if (s.from == s.to)
		return 0;
	if (!item->nattrs && !item->modifiers && are_modifiers(p->text, &s)) {
		item->modifiers_at = s.from;
		item->modifiers = copy_piece(p->text, s);
		return item->modifiers ? 0 : -ENOMEM;
	}
	err = split_attr(p, s, &word, &value);
	if (err)
		return err;
	attr = add_attr(item);
	if (!attr)
		return -ENOMEM;
	attr->name = copy_piece(p->text, word);
	attr->at = word.from;
	attr->value_at = word.to;
	if (value.from) {
		attr->value = copy_value(p->text, &value);
		attr->value_at = value.from;
	}
	return attr->name && (attr->value || !value.from) ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * Items and lists
 */

static struct spec_item *add_item(struct parser *p)
{
	if (!ROOM_FOR_ONE(p->items, p->nitems))
		return NULL;
	p->items[p->nitems] = (struct spec_item){ .text = p->text };
	return &p->items[p->nitems];
}

static void free_item(struct spec_item *item)
{
	for (size_t i = 0; i < item->nattrs; i++) {
		free(item->attrs[i].name);
		free(item->attrs[i].value);
	}
	free(item->attrs);
	free(item->sys);
	free(item->name);
	free(item->filter);
	free(item->modifiers);
}

static bool at_item_end(const struct parser *p)
{
	return !p->text[p->pos] || p->text[p->pos] == ',' || (p->in_group && p->text[p->pos] == '}');
}

static int fill_item(struct parser *p, struct spec_item *item)
{
	int err = take_name(p, item);

	p->in_filter = false;
	item->filter_at = p->pos;
	if (!err && p->text[p->pos] == '/') {
		p->pos++;
		err = take_filter(p, item);
	}
	while (!err && !at_item_end(p))
		err = take_attr(p, item);
	item->len = trim(p->text, item->at, p->pos).to - item->at;
	return err;
}

/* ------------------------------------------------------------------------
 * Groups
 */

/* "{" or "NAME:{" */
static bool at_group(const struct parser *p, struct piece *name)
{
	size_t end = p->pos;

	while (isalnum((unsigned char)p->text[end]) || (p->text[end] && strchr("_-.", p->text[end])))
		end++;
	*name = (struct piece){ p->pos, end };
	return p->text[p->pos] == '{' || (end > p->pos && !strncmp(p->text + end, ":{", 2));
}

static int begin_group(struct parser *p, struct piece name)
{
	struct spec_group *group = APPENDED(p->groups, p->ngroups);

	if (!group)
		return -ENOMEM;
	group->at = p->pos;
	p->in_group = true;
	p->pos = name.to + (name.to > name.from) + 1;
	if (name.to == name.from)
		return 0;
	group->name = copy_piece(p->text, name);
	return group->name ? 0 : -ENOMEM;
}

/* "}" or "}:MODIFIERS" */
static int end_group(struct parser *p)
{
	struct spec_group *g = &p->groups[p->ngroups - 1];
	size_t from = ++p->pos, len;

	p->in_group = false;
	if (p->text[from] == ':') {
		len = strspn(p->text + ++from, MODIFIERS);
		if (!len)
			return fail(p, from, "not a modifier of a group", "letters of " MODIFIERS);
		g->modifiers = strndup(p->text + from, len);
		if (!g->modifiers)
			return -ENOMEM;
		p->pos = from + len;
	}
	p->pos = trim(p->text, p->pos, strlen(p->text)).from;
	if (at_item_end(p))
		return 0;
	return fail(p, p->pos, "unexpected text after a group", "\":\" and modifiers (" MODIFIERS
		    "), a comma or the end");
}

static void free_group(struct spec_group *g)
{
	free(g->name);
	free(g->modifiers);
}

/* ------------------------------------------------------------------------
 * Lists
 */

static int take_item(struct parser *p)
{
	struct spec_item *item = add_item(p);
	int err;

	if (!item)
		return -ENOMEM;
	item->group = p->in_group ? p->ngroups : 0;
	err = fill_item(p, item);
	if (err) {
		free_item(item);
		return err;
	}
	p->nitems++;
	return p->in_group && p->text[p->pos] == '}' ? end_group(p) : 0;
}

static int take_items(struct parser *p)
{
	size_t len = strlen(p->text);

	for (;;) {
		struct piece name;
		int err = 0;

		p->pos = trim(p->text, p->pos, len).from;
		if (p->pos == len && p->in_group)
			return fail(p, p->groups[p->ngroups - 1].at, "this group is not closed",
				    "\"}\" after its last event");
		if (p->pos == len)
			return p->nitems ? 0 : fail(p, p->pos, "no event", "the name of an event");
		if (!at_group(p, &name))
			err = take_item(p);
		else if (p->in_group)
			err = fail(p, p->pos, "a group within a group", "the name of an event");
		else
			err = begin_group(p, name);
		if (err)
			return err;
		p->pos += p->text[p->pos] == ',';
	}
}

/* Makes room in the list for the parser's results. */
static int grow(const struct parser *p, struct spec_list *list)
{
	struct spec_item *items;
	struct spec_group *groups;

	if (!ROOM_FOR_ONE(list->texts, list->ntexts))
		return -ENOMEM;
	items = realloc(list->items, (list->nitems + p->nitems) * sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	groups = realloc(list->groups, (list->ngroups + p->ngroups + 1) * sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	list->groups = groups;
	return 0;
}

/* Moves the parser's items and its text into the list, all or none. */
static int hand_over(struct parser *p, struct spec_list *list, char *text)
{
	if (grow(p, list))
		return -ENOMEM;
	for (size_t i = 0; i < p->nitems; i++)
		p->items[i].group += p->items[i].group ? list->ngroups : 0;
	memcpy(list->items + list->nitems, p->items, p->nitems * sizeof(*p->items));
	if (p->ngroups)
		memcpy(list->groups + list->ngroups, p->groups, p->ngroups * sizeof(*p->groups));
	list->nitems += p->nitems;
	list->ngroups += p->ngroups;
	list->texts[list->ntexts++] = text;
	p->nitems = p->ngroups = 0;
	return 0;
}

int spec_parse(struct spec_list *list, const char *text, struct spec_error *err)
{
	char *own = strdup(text);
	struct parser p = { .text = own, .err = err };
	int ret;

	if (err)
		*err = (struct spec_error){ 0 };
	if (!own)
		return -ENOMEM;
	ret = check_balance(&p);
	if (!ret)
		ret = take_items(&p);
	if (!ret)
		ret = hand_over(&p, list, own);
	if (ret)
		free(own);
	for (size_t i = 0; i < p.nitems; i++)
		free_item(&p.items[i]);
	for (size_t i = 0; i < p.ngroups; i++)
		free_group(&p.groups[i]);
	free(p.items);
	free(p.groups);
	return ret;
}

void spec_free(struct spec_list *list)
{
	for (size_t i = 0; i < list->nitems; i++)
		free_item(&list->items[i]);
	for (size_t i = 0; i < list->ngroups; i++)
		free_group(&list->groups[i]);
	for (size_t i = 0; i < list->ntexts; i++)
		free(list->texts[i]);
	free(list->items);
	free(list->groups);
	free(list->texts);
	*list = (struct spec_list){ 0 };
}

const char *spec_attr(const struct spec_item *item, const char *name)
{
	for (size_t i = item->nattrs; i-- > 0;)
		if (!strcmp(item->attrs[i].name, name))
			return item->attrs[i].value ? item->attrs[i].value : "";
	return NULL;
}

bool spec_is_glob(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i = is_quote(name[i]) ? skip_string(name, i, len) : i + 1)
		if (strchr("*?[", name[i]))
			return true;
	return false;
}
