/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/candidates.h"

#include "base/nearest.h"
#include "report/fit.h"
#include "symbols/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Stands for what a shortened name leaves out. */
#define MORE "\xe2\x80\xa6"

enum { NAME_SIZE = 4096, MORE_SIZE = sizeof(MORE) - 1 };

/* What was asked for: as typed, and without arguments. */
struct asked {
	char whole[NAME_SIZE], plain[NAME_SIZE];
	bool has_arguments;
};

/* ---- names ------------------------------------------------------------------------------ */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of the symbol at `at` of a name: of what stands behind "operator", such as "()" and "<<"; 0: there is none. */
static size_t symbol_length(const char *name, size_t at)
{
	static const char operator[] = "operator";
	const size_t len = sizeof(operator) - 1;

	if (at < len || strncmp(name + at - len, operator, len) || (at > len && is_word(name[at - len - 1])))
		return 0;
	return fit_name_operator(name + at);
}

/* Copies a name without arguments in <> and () behind it, so that a shortened name is equal to the whole one. */
static void plain_name(const char *name, char *out)
{
	size_t n = 0, depth = 0, i = 0;
	bool named = false;          /* a word or an operator ends here */

	while (name[i] && n < NAME_SIZE - 1) {
		const char c = name[i];
		size_t symbol = depth ? 0 : symbol_length(name, i);

		if (symbol > NAME_SIZE - 1 - n)
			symbol = NAME_SIZE - 1 - n;
		memcpy(out + n, name + i, symbol);
		n += symbol;
		i += symbol ? symbol : 1;
		if (symbol)
			named = true;
		else if ((c == '<' || c == '(') && (depth || named))
			depth++;
		else if (depth && (c == ')' || (c == '>' && name[i - 2] != '-')))
			depth--;
		else if (!depth)
			named = is_word(out[n++] = c);
	}
	out[n] = '\0';
}

/* Cuts " const" off "Cart::total() const", which `nm -C` prints: the table has no qualifiers. */
static void cut_qualifiers(char *name)
{
	static const char *const words[] = { " const", " volatile", " &", " &&" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (len > strlen(words[i]) && !strcmp(name + len - strlen(words[i]), words[i])) {
			name[len -= strlen(words[i])] = '\0';
			i = (size_t)-1;
		}
}

/* Where a compiler's suffix of a clone begins (".constprop.0", ".cold"); `end`: it has none. Demangled names never have one. */
static const char *clone_suffix(const char *name, const char *end)
{
	static const char *const suffixes[] = { ".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm" };
	const char *dot = end;

	while (dot > name && isdigit((unsigned char)dot[-1]))
		dot--;
	dot -= dot < end && dot > name && dot[-1] == '.';
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const size_t len = strlen(suffixes[i]);

		if ((size_t)(dot - name) > len && !strncmp(dot - len, suffixes[i], len))
			return dot - len;
	}
	return end;
}

/* The length of a name without the suffixes of clones. */
static size_t unclone(const char *name)
{
	const char *end = name + strlen(name), *last;

	do {
		last = end;
		end = clone_suffix(name, last);
	} while (end != last);
	return (size_t)(end - name);
}

static bool ends_in(const char *name, size_t len, const char *asked)
{
	const size_t end = strlen(asked);

	if (len < end || strncmp(name + len - end, asked, end))
		return false;
	return len == end || (len > end + 1 && !strncmp(name + len - end - 2, "::", 2));
}

/* Whether `symbol` is the function that was asked for: its name, or the end of it. asked: a plain name. */
static bool is_named(const char *symbol, const char *asked)
{
	char name[NAME_SIZE];

	plain_name(symbol, name);
	return ends_in(name, strlen(name), asked) || ends_in(name, unclone(name), asked) || ends_in(name, unversioned(name), asked);
}

/* Whether the first `len` bytes are the pattern, in which each "…" stands for anything. */
static bool is_like(const char *name, size_t len, const char *pattern)
{
	const char *rest = NULL;     /* behind the last "…" */
	size_t i = 0, from = 0;

	while (i < len) {
		if (!strncmp(pattern, MORE, MORE_SIZE)) {
			rest = pattern += MORE_SIZE;
			from = i;
		} else if (*pattern == name[i]) {
			pattern++;
			i++;
		} else if (rest) {
			pattern = rest;
			i = ++from;
		} else {
			return false;
		}
	}
	while (!strncmp(pattern, MORE, MORE_SIZE))
		pattern += MORE_SIZE;
	return !*pattern;
}

static bool ends_like(const char *name, size_t len, const char *pattern)
{
	for (const char *p = strstr(name, "::"); p && p + 2 < name + len; p = strstr(p + 2, "::"))
		if (is_like(p + 2, (size_t)(name + len - p - 2), pattern))
			return true;
	return false;
}

static enum likeness likeness_of(const char *symbol, const struct asked *asked)
{
	const size_t whole = strlen(symbol), len = unclone(symbol), bare = unversioned(symbol);

	if (!is_named(symbol, asked->plain))
		return NOT_NAMED;
	if (is_like(symbol, whole, asked->whole) || is_like(symbol, len, asked->whole) || is_like(symbol, bare, asked->whole))
		return LIKE_WHOLE;
	if (asked->has_arguments && (ends_like(symbol, whole, asked->whole) || ends_like(symbol, len, asked->whole)))
		return LIKE_ARGUMENTS;
	return LIKE_PLAIN;
}

bool candidates_are_clones(const char *symbol, const char *other)
{
	const size_t len = unclone(symbol);

	return len == unclone(other) && !strncmp(symbol, other, len);
}

/* Cuts "(char)" off "Mixer<int>::mix(char)": the table has no parameters. */
static void cut_parameters(char *name)
{
	size_t i = strlen(name), depth = 0;

	if (!i || name[i - 1] != ')')
		return;
	do {
		i--;
		depth += name[i] == ')';
		depth -= name[i] == '(';
	} while (i && depth);
	if (i && !symbol_length(name, i))
		name[i] = '\0';
}

static void read_asked(const char *text, struct asked *asked)
{
	static const char scopes[] = MORE "::";   /* the beginning of a shortened name */

	text += strncmp(text, scopes, sizeof(scopes) - 1) ? 0 : sizeof(scopes) - 1;
	snprintf(asked->whole, sizeof(asked->whole), "%s", text);
	cut_qualifiers(asked->whole);
	cut_parameters(asked->whole);
	plain_name(asked->whole, asked->plain);
	asked->has_arguments = strcmp(asked->whole, asked->plain) != 0;
}

/* ---- functions -------------------------------------------------------------------------- */

struct groups candidates_of(const struct hotspots *h, const char *text)
{
	struct groups all = { 0 };
	struct asked asked;

	read_asked(text, &asked);
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		for (uint32_t i = 0; i < hotspot_stack(spot)->n; i++) {
			const char *symbol = hotspot_stack(spot)->frames[i]->symbol;
			const uint32_t n = all.n;
			struct candidate *c = symbol ? groups_get(&all, &symbol, sizeof(symbol), sizeof(*c), UINT32_MAX) : NULL;

			if (all.n > n)
				c->named = likeness_of(symbol, &asked);
			if (c)
				c->weight += spot->weight;
		}
	return all;
}

void candidates_choose(struct groups *all, const char *text)
{
	enum likeness least = LIKE_PLAIN;
	struct asked asked;

	read_asked(text, &asked);
	for (const struct candidate *c = groups_first(all); c && asked.has_arguments; c = groups_next(c))
		least = c->named > least ? LIKE_ARGUMENTS : least;
	for (struct candidate *c = groups_first(all); c; c = groups_next(c))
		c->chosen = c->named >= least;
}

struct candidate *candidates_chosen(const struct groups *all, const char *symbol)
{
	struct candidate *c = symbol ? groups_find(all, &symbol, sizeof(symbol)) : NULL;

	return c && c->chosen ? c : NULL;
}

void candidates_suggest(const struct groups *all, const char *text, char *buf, size_t size)
{
	struct nearest near;
	struct asked asked;
	char name[NAME_SIZE];

	read_asked(text, &asked);
	nearest_begin(&near, asked.plain);
	for (const struct candidate *c = groups_first(all); c; c = groups_next(c)) {
		plain_name(c->symbol, name);
		name[unversioned(name)] = '\0';
		name[unclone(name)] = '\0';
		for (const char *p = name; p; p = strstr(p, "::") ? strstr(p, "::") + 2 : NULL)
			nearest_offer(&near, p);
	}
	snprintf(buf, size, "%s", nearest_get(&near) ? nearest_get(&near) : "");
}
