/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --annotate: the source lines of a function, with their shares. A sample counts for the line of the function's innermost
 * frame: the line that ran, or that called what ran. Inlined functions have lines of their own; in the function that
 * contains them, they count for the line of the call.
 */
#include "analysis/profiles/annotate.h"
#include "base/escape.h"
#include "base/nearest.h"
#include "report/fit_name.h"
#include "report/json.h"
#include "report/sourcefile.h"
#include "report/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stands for what a shortened name leaves out. */
#define MORE "\xe2\x80\xa6"

/* Lines with a HOT_LINE-th of the function or more have their instructions. */
enum { HOT_LINE = 50, CONTEXT = 3, NAME_SIZE = 4096, LEAST_COLUMNS = 40, MORE_SIZE = sizeof(MORE) - 1 };

/* How well a function has the asked name. */
enum likeness {
	NOT_NAMED,
	LIKE_PLAIN,                  /* without arguments */
	LIKE_ARGUMENTS,              /* with the arguments that were asked for, but without some namespaces */
	LIKE_WHOLE,                  /* to the letter; a shortened name leaves out what its "…" stands for */
};

/* What was asked for: as typed, and without arguments. */
struct asked {
	char whole[NAME_SIZE], plain[NAME_SIZE];
	bool has_arguments;
};

/* A function with the asked name, or another one that was looked at. */
struct candidate {
	const char *symbol;          /* equal texts have equal addresses */
	enum likeness named;
	bool chosen;
	uint64_t weight;
	UT_hash_handle hh;
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

/* Of "Cart::total() const", which `nm -C` prints: the table has no qualifiers. */
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
	return ends_in(name, strlen(name), asked) || ends_in(name, unclone(name), asked);
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
	const size_t whole = strlen(symbol), len = unclone(symbol);

	if (!is_named(symbol, asked->plain))
		return NOT_NAMED;
	if (is_like(symbol, whole, asked->whole) || is_like(symbol, len, asked->whole))
		return LIKE_WHOLE;
	if (asked->has_arguments && (ends_like(symbol, whole, asked->whole) || ends_like(symbol, len, asked->whole)))
		return LIKE_ARGUMENTS;
	return LIKE_PLAIN;
}

static bool is_clone(const char *symbol, const char *other)
{
	const size_t len = unclone(symbol);

	return len == unclone(other) && !strncmp(symbol, other, len);
}

/* Of "Mixer<int>::mix(char)": the table has no parameters. */
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

/* ---- samples ---------------------------------------------------------------------------- */

static struct candidate *candidate_of(struct candidate **all, const char *symbol, const struct asked *asked)
{
	struct candidate *c = NULL;

	HASH_FIND(hh, *all, &symbol, sizeof(symbol), c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->symbol = symbol;
	c->named = likeness_of(symbol, asked);
	HASH_ADD(hh, *all, symbol, sizeof(symbol), c);
	return HASH_KEPT(c);
}

/* A name of the table that resembles the asked one, with as many scopes. */
static void suggest(const struct candidate *all, const char *asked, char *buf, size_t size)
{
	struct nearest near;
	char name[NAME_SIZE];

	nearest_begin(&near, asked);
	for (const struct candidate *c = all; c; c = c->hh.next) {
		plain_name(c->symbol, name);
		name[unclone(name)] = '\0';
		for (const char *p = name; p; p = strstr(p, "::") ? strstr(p, "::") + 2 : NULL)
			nearest_offer(&near, p);
	}
	snprintf(buf, size, "%s", nearest_get(&near) ? nearest_get(&near) : "");
}

/* Chooses the hottest function that has the name best, and its clones: all are made of the same source. */
static void choose(struct annotation *n, const struct hotspots *h, struct analysis_opts *o)
{
	struct candidate *best = NULL, *all = NULL;
	struct asked asked;

	read_asked(o->annotate, &asked);
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		for (uint32_t i = 0; i < hotspot_stack(spot)->n; i++) {
			const char *symbol = hotspot_stack(spot)->frames[i]->symbol;
			struct candidate *c = symbol ? candidate_of(&all, symbol, &asked) : NULL;

			if (c)
				c->weight += spot->weight;
		}
	for (struct candidate *c = all; c; c = c->hh.next)
		if (c->named && (!best || c->named > best->named || (c->named == best->named && c->weight > best->weight)))
			best = c;
	for (struct candidate *c = all; c; c = c->hh.next) {
		c->chosen = c->named && is_clone(c->symbol, best->symbol);
		n->others += best && c->named == best->named && !c->chosen;
	}
	n->symbol = best ? best->symbol : NULL;
	n->functions = all;
	if (!best)
		suggest(all, asked.plain, o->annotate_near, sizeof(o->annotate_near));
}

static bool is_chosen(const struct annotation *n, const char *symbol)
{
	struct candidate *c = NULL;

	if (symbol)
		HASH_FIND(hh, n->functions, &symbol, sizeof(symbol), c);
	return c && c->chosen;
}

/* The instruction of a frame: that at its address or, if it is a return address, the call before it. */
static uint64_t insn_of(const struct callstack *stack, uint32_t i, bool blocked)
{
	const struct frame *const *frames = stack->frames;

	return frames[i]->at - (i && !frames[i - 1]->inlined && (blocked || !frames[i - 1]->kernel));
}

/* NULL: out of memory. */
static struct place *credit_place(struct place **places, struct place_key key, uint64_t weight, bool self)
{
	struct place *p = NULL;

	HASH_FIND(hh, *places, &key, sizeof(key), p);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->key = key;
		HASH_ADD(hh, *places, key, sizeof(key), p);
		p = HASH_KEPT(p);
	}
	if (!p)
		return NULL;
	p->total += weight;
	p->self += self ? weight : 0;
	return p;
}

static void credit(struct annotation *n, const struct frame *frame, uint64_t at, uint64_t weight, bool self)
{
	const bool known = frame->file && frame->line;
	const struct place_key key = { known ? frame->file : NULL, known ? frame->line : 0, known ? 0 : at, NULL };
	struct place *p;

	n->object = frame->object ? frame->object : n->object;
	n->dso = frame->dso;
	n->kernel |= frame->kernel;
	n->total += weight;
	n->self += self ? weight : 0;
	p = credit_place(&n->places, key, weight, self);
	if (p && known && frame->object)
		credit_place(&p->insns, (struct place_key){ .at = at, .object = frame->object }, weight, self);
}

/* Self: the frame, or one that is inlined into it, is what ran. */
static void count_spot(struct annotation *n, const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);
	const uint32_t own = hotspot_own_frame(spot);
	bool self = true;

	for (uint32_t i = own; i < stack->n; i++) {
		if (is_chosen(n, stack->frames[i]->symbol)) {
			credit(n, stack->frames[i], insn_of(stack, i, spot->key.blocked), spot->weight, self);
			return;
		}
		self = self && stack->frames[i]->inlined;
	}
}

/* By file, then by line; unknown ones last. */
static int by_line(const struct place *a, const struct place *b)
{
	int order;

	if (!a->key.file || !b->key.file)
		return a->key.file || b->key.file ? (a->key.file == NULL) - (b->key.file == NULL)
						  : a->key.at < b->key.at ? -1 : a->key.at > b->key.at;
	order = strcmp(a->key.file, b->key.file);
	return order ? order : a->key.line < b->key.line ? -1 : a->key.line > b->key.line;
}

/* Of one object together. */
static int by_offset(const struct place *a, const struct place *b)
{
	if (a->key.object != b->key.object)
		return dso_serial(a->key.object) < dso_serial(b->key.object) ? -1 : 1;
	return a->key.at < b->key.at ? -1 : a->key.at > b->key.at;
}

/* ---- output ----------------------------------------------------------------------------- */

/* The table of a source file's lines. */
struct lines {
	struct analysis *a;
	const struct hotspots *h;
	const struct annotation *n;
	struct table *t;
};

static const struct table_column line_columns[] = {
	{ "shown_self", TABLE_TEXT, .title = "self%", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "shown_total", TABLE_TEXT, .title = "total%", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "self", TABLE_PERCENT, .where = TABLE_ONLY_JSON }, { "total", TABLE_PERCENT, .where = TABLE_ONLY_JSON },
	{ "shown_line", TABLE_TEXT, .title = "line", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "line", TABLE_INTEGER, .where = TABLE_ONLY_JSON }, { "shown", TABLE_TEXT, .title = "source", .where = TABLE_ONLY_TEXT },
	{ "source", TABLE_TEXT, .where = TABLE_ONLY_JSON }, { "address", TABLE_HEX, .where = TABLE_ONLY_JSON },
	{ "instruction", TABLE_TEXT, .where = TABLE_ONLY_JSON },
};

static void put_shares(struct table *t, const struct hotspots *h, uint64_t self, uint64_t total)
{
	const double percent[] = { hotspots_percent(self, h->weight), hotspots_percent(total, h->weight) };

	for (int i = 0; i < 2; i++)
		table_printf(t, "%.2f", percent[i]);
	for (int i = 0; i < 2; i++)
		table_number(t, percent[i]);
}

static void put_line(struct table *t, uint64_t line, struct sourcefile *source)
{
	const char *text = source ? sourcefile_line(source, line) : "";

	table_printf(t, "%llu", (unsigned long long)line);
	table_unsigned(t, line);
	for (int i = 0; i < 2; i++)
		table_text(t, text);
}

/* A line without samples. */
static void put_context(struct table *t, uint64_t line, struct sourcefile *source)
{
	table_row(t);
	for (int i = 0; i < 2; i++)
		table_text(t, "");
	for (int i = 0; i < 2; i++)
		table_none(t);
	put_line(t, line, source);
}

static void put_insn(struct table *t, const struct hotspots *h, const struct line_insn *insn)
{
	table_row(t);
	table_part(t, "instructions");
	put_shares(t, h, insn->self, insn->total);
	table_text(t, "");
	table_none(t);
	table_printf(t, "    | 0x%llx  %s", (unsigned long long)insn->addr, insn->text);
	table_none(t);
	table_unsigned(t, insn->addr);
	table_text(t, insn->text);
}

/* A line with samples and, if it is hot, with its hottest instructions. */
static void put_row(const struct lines *l, const struct place *p, struct sourcefile *source)
{
	struct line_insn insns[LINE_INSNS];
	size_t n = p->total >= l->n->total / HOT_LINE ? annotate_line(l->a, p, insns) : 0;

	table_row(l->t);
	put_shares(l->t, l->h, p->self, p->total);
	put_line(l->t, p->key.line, source);
	for (size_t i = 0; i < n; i++)
		put_insn(l->t, l->h, &insns[i]);
}

/* Lines that have samples, and a few around them; JSON has only these. */
static const struct place *put_file(const struct lines *l, const struct place *p, struct sourcefile *source)
{
	const char *file = p->key.file;
	const size_t context = source && !l->a->opts->json ? CONTEXT : 0;
	uint64_t next = 1;

	for (; p && p->key.file == file; p = p->hh.next) {
		const struct place *after = p->hh.next && ((struct place *)p->hh.next)->key.file == file ? p->hh.next : NULL;
		uint64_t from = p->key.line > next + context ? p->key.line - context : next;
		uint64_t to = p->key.line + context;

		for (; from < p->key.line && context; from++)
			put_context(l->t, from, source);
		put_row(l, p, source);
		to = source && to > sourcefile_lines(source) ? sourcefile_lines(source) : to;
		for (from = p->key.line + 1; from <= to && context && (!after || from < after->key.line); from++)
			put_context(l->t, from, source);
		next = from;
	}
	return p;
}

static bool is_newer(const struct annotation *n, const struct sourcefile *source)
{
	const struct timespec file = sourcefile_written(source);
	struct timespec program;
	uid_t owner;

	return n->object && dso_file(n->object, &owner, &program) &&
	       (file.tv_sec > program.tv_sec || (file.tv_sec == program.tv_sec && file.tv_nsec > program.tv_nsec));
}

/* In a container, another file may have that path here. */
static struct sourcefile *read_source(const struct annotation *n, const char *file)
{
	struct timespec written;
	uid_t owner = (uid_t)-2;     /* if it is not known: nobody */

	if (n->object && dso_is_elsewhere(n->object)) {
		errno = EXDEV;
		return NULL;
	}
	if (n->object && !dso_file(n->object, &owner, &written))
		owner = (uid_t)-2;
	return sourcefile_read(file, owner);
}

static const char *why_not(const char *file, int error)
{
	return *file != '/' ? "the program names no folder for it" : error == EINVAL ? "not a regular file" :
	       error == EXDEV ? "the program's file is not at its path here: it is in a container, or was deleted" : strerror(error);
}

static const struct place *print_file(struct analysis *a, const struct hotspots *h, const struct annotation *n, const struct place *p)
{
	const char *file = p->key.file;
	struct table_style style = { .terminal = analysis_terminal(a->opts) };
	struct sourcefile *source = read_source(n, file);
	const int error = errno;
	struct table t;

	table_init(&t, "annotate", line_columns, sizeof(line_columns) / sizeof(*line_columns));
	p = put_file(&(struct lines){ a, h, n, &t }, p, source);
	table_extra(&t, "function", json_text(n->symbol, strlen(n->symbol)));
	table_extra(&t, "dso", json_text(n->dso, strlen(n->dso)));
	table_extra(&t, "file", json_text(file, strlen(file)));
	if (source && is_newer(n, source))
		table_extra(&t, "newer", json_object_new_boolean(true));
	if (source)
		table_caption(&t, "%s%s", file, is_newer(n, source) ? " (newer than the program: its lines may be others now)" : "");
	else
		table_caption(&t, "%s (not shown: %s)", file, why_not(file, error));
	analysis_put_table(a, &t, &style);
	table_free(&t);
	sourcefile_free(source);
	return p;
}

/* Escaped, and not wider than a line of the terminal. */
static void put_fitting(const struct analysis *a, enum fit fit, const char *text)
{
	const size_t columns = analysis_terminal(a->opts).columns;
	char buf[FIT_MAX], *escaped = escape_whole(text);

	fputs(!escaped ? "" : columns > LEAST_COLUMNS ? fit_text(fit, escaped, columns - LEAST_COLUMNS, buf) : escaped, stdout);
	free(escaped);
}

static void print_head(const struct analysis *a, const struct hotspots *h, const struct annotation *n)
{
	printf("\n%s of ", n->places && n->places->key.file ? "source lines" : "instructions");
	put_fitting(a, FIT_NAME, n->symbol);
	for (const struct candidate *c = n->functions; c; c = c->hh.next)
		if (c->chosen && c->symbol != n->symbol) {
			fputs(" and ", stdout);
			put_fitting(a, FIT_NAME, c->symbol);
		}
	printf(", %.2f %% self, %.2f %% total, in ", hotspots_percent(n->self, h->weight), hotspots_percent(n->total, h->weight));
	put_fitting(a, FIT_PATH, n->dso);
	putchar('\n');
}

/* p: the first place without a known line. */
static void say_unknown(const struct hotspots *h, const struct annotation *n, const struct place *p)
{
	uint64_t weight = 0;

	for (; p; p = p->hh.next)
		weight += p->total;
	printf("%.2f %% are in code without known source lines", hotspots_percent(weight, h->weight));
	if (n->kernel)
		puts("; instructions of kernel functions are not shown");
	else
		printf(": build the program with -g%s\n", n->places->key.file ? "" : !disasm_is_built() ?
		       " (without libcapstone, this perf-prof shows no instructions)" :
		       "; its instructions cannot be read from its file");
}

static void print_lines(struct analysis *a, const struct hotspots *h, struct annotation *n)
{
	const struct place *p;

	for (p = n->places; p && p->key.file;)
		p = print_file(a, h, n, p);
	if (p == n->places && annotate_code(a, h, n))
		return;
	if (p && !a->opts->json)
		say_unknown(h, n, p);
}

static void free_places(struct annotation *n)
{
	for (struct place *p = n->places; p; p = p->hh.next)
		HASH_FREE(p->insns);
	HASH_FREE(n->places);
	n->places = NULL;
}

static void count_all(struct annotation *n, const struct hotspots *h)
{
	free_places(n);
	n->self = n->total = 0;
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		count_spot(n, spot);
	HASH_SORT(n->places, by_line);
	for (struct place *p = n->places; p; p = p->hh.next)
		HASH_SORT(p->insns, by_offset);
}

/* Clones have lines in common, but no instructions: then only the hottest is shown. False: there is only one. */
static bool leave_clones(struct annotation *n)
{
	const size_t before = n->others;

	for (struct candidate *c = n->functions; c; c = c->hh.next)
		if (c->chosen && c->symbol != n->symbol) {
			c->chosen = false;
			n->others++;
		}
	return n->others > before;
}

void hotspots_annotate(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	struct annotation n = { .dso = "" };

	choose(&n, h, a->opts);
	if (!n.symbol) {
		HASH_FREE(n.functions);
		return;
	}
	a->opts->annotated = true;
	count_all(&n, h);
	if (n.places && !n.places->key.file && leave_clones(&n))
		count_all(&n, h);
	if (!a->opts->json)
		print_head(a, h, &n);
	print_lines(a, h, &n);
	if (n.others) {
		fflush(stdout);   /* the lines are above this one where both go to one place */
		fprintf(stderr, "perf-prof: %s: --annotate %s: the hottest of %zu functions with this name is shown\n", view->name,
			a->opts->annotate, n.others + 1);
	}
	free_places(&n);
	HASH_FREE(n.functions);
}

int hotspots_annotated(const struct analysis *a, const char *what, struct fault *f)
{
	const struct analysis_opts *o = a->opts;
	const char *near = o->annotate_near;

	if (!o->annotate || o->annotated)
		return 0;
	return fault_set(f, EXIT_FAILED, "%s: --annotate %s: no sample of %s is in a function with this name; %s%s%s", a->ops->name,
			 o->annotate, what, *near ? "did you mean " : "expected a name from the table; namespaces and arguments may be "
			 "left out", near, *near ? "?" : "");
}
