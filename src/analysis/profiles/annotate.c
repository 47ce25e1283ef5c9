/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --annotate: the source lines of a function, with their shares. A sample counts for the line of the function's innermost
 * frame: the line that ran, or that called what ran. Inlined functions have lines of their own; in the function that
 * contains them, they count for the line of the call.
 */
#include "analysis/profiles/annotate.h"

#include "analysis/profiles/candidates.h"
#include "base/caller.h"
#include "base/escape.h"
#include "base/opener.h"
#include "base/room.h"
#include "report/fit.h"
#include "report/json.h"
#include "report/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The lines of a source file that a program's debug information names. */

struct sourcefile;

static void sourcefile_free(struct sourcefile *s);

enum { MAX_BYTES = 16 << 20, TAB = 8, MAX_LINE = 1024, NO_GROUP = 65534 };

struct sourcefile {
	char *text;
	size_t size, nlines;
	uint32_t *starts;            /* where each line begins in the text */
	struct timespec written;
	char line[MAX_LINE];
};

static int open_as(const char *path, uid_t owner)
{
	const struct caller other = { .uid = owner, .gid = NO_GROUP };
	struct caller_rights rights;
	uid_t sudo;
	int fd;

	if (geteuid() || caller_of_sudo(&sudo) || !owner)
		caller_begin(&rights);
	else
		caller_begin_as(&rights, &other);
	fd = opener_file(&opener_direct, 0, path);
	caller_end(&rights);
	return fd;
}

static bool read_all(struct sourcefile *s, int fd)
{
	while (s->size < MAX_BYTES) {
		ssize_t n = read(fd, s->text + s->size, MAX_BYTES - s->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return !n;
		s->size += (size_t)n;
	}
	errno = EFBIG;
	return false;
}

static bool find_lines(struct sourcefile *s)
{
	for (size_t at = 0; at < s->size;) {
		const char *end = memchr(s->text + at, '\n', s->size - at);

		if (!ROOM_FOR_ONE(s->starts, s->nlines))
			return false;
		s->starts[s->nlines++] = (uint32_t)at;
		at = end ? (size_t)(end - s->text) + 1 : s->size;
	}
	return true;
}

static bool fill(struct sourcefile *s, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size >= MAX_BYTES) {
		errno = EFBIG;
		return false;
	}
	s->written = st.st_mtim;
	s->text = malloc(MAX_BYTES);   /* only what is read takes memory */
	return s->text && read_all(s, fd) && find_lines(s);
}

/* The file is opened with the rights of the user who ran sudo. If root itself runs perf-prof: with the rights of `owner`,
 * to whom the program belongs, since anybody's program can name any file. Regular files by absolute paths, up to 16 MiB.
 * NULL with errno. */
static struct sourcefile *sourcefile_read(const char *path, uid_t owner)
{
	struct sourcefile *s = calloc(1, sizeof(*s));
	int fd = s ? open_as(path, owner) : -ENOMEM, error;
	bool good = fd >= 0 && fill(s, fd);

	error = fd < 0 ? -fd : errno;
	if (fd >= 0)
		close(fd);
	if (good)
		return s;
	sourcefile_free(s);
	errno = error;
	return NULL;
}

static void sourcefile_free(struct sourcefile *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->starts);
	free(s);
}

static size_t sourcefile_lines(const struct sourcefile *s)
{
	return s->nlines;
}

static struct timespec sourcefile_written(const struct sourcefile *s)
{
	return s->written;
}

/* Line n, from 1, with spaces for tabs; "" if there is none. Valid until the next call. */
static const char *sourcefile_line(struct sourcefile *s, size_t n)
{
	size_t at, end, out = 0;

	s->line[0] = '\0';
	if (!n || n > s->nlines)
		return s->line;
	at = s->starts[n - 1];
	end = n < s->nlines ? s->starts[n] : s->size;
	while (end > at && (s->text[end - 1] == '\n' || s->text[end - 1] == '\r'))
		end--;
	for (; at < end && out < MAX_LINE - TAB - 1; at++) {
		if (s->text[at] != '\t') {
			s->line[out++] = s->text[at];
			continue;
		}
		do
			s->line[out++] = ' ';
		while (out % TAB);
	}
	s->line[out] = '\0';
	return s->line;
}

/* Lines with a HOT_LINE-th of the function or more have their instructions. */
enum { HOT_LINE = 50, CONTEXT = 3, LEAST_COLUMNS = 40 };

/* ---- samples ---------------------------------------------------------------------------- */

/* A function of --annotate that no table had, the first; NULL: there is none. */
static const char *not_annotated(const struct analysis_opts *o)
{
	for (size_t i = 0; i < o->annotate.n && i < 64; i++)
		if (!(o->annotated >> i & 1))
			return o->annotate.v[i];
	return NULL;
}

/* Chooses the hottest function that has the name best, and its clones: all are made of the same source. */
static void choose(struct annotation *n, const struct hotspots *h, struct analysis_opts *o, const char *asked)
{
	struct candidate *best = NULL;

	n->functions = candidates_of(h, asked);
	for (struct candidate *c = groups_first(&n->functions); c; c = groups_next(c))
		if (c->named && (!best || c->named > best->named || (c->named == best->named && c->weight > best->weight)))
			best = c;
	for (struct candidate *c = groups_first(&n->functions); c && best; c = groups_next(c)) {
		c->chosen = c->named && candidates_are_clones(c->symbol, best->symbol);
		n->others += c->named == best->named && !c->chosen;
	}
	n->symbol = best ? best->symbol : NULL;
	if (!best && asked == not_annotated(o))
		candidates_suggest(&n->functions, asked, o->annotate_near, sizeof(o->annotate_near));
}

/* The instruction of a frame: that at its address or, if it is a return address, the call before it. */
static uint64_t insn_of(const struct callstack *stack, uint32_t i, bool blocked)
{
	const struct frame *const *frames = stack->frames;

	return frames[i]->at - (i && !frames[i - 1]->inlined && (blocked || !frames[i - 1]->kernel));
}

/* NULL: out of memory. */
static struct place *credit_place(struct groups *places, struct place_key key, uint64_t weight, bool self)
{
	struct place *p = groups_get(places, &key, sizeof(key), sizeof(*p), UINT32_MAX);

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
		if (candidates_chosen(&n->functions, stack->frames[i]->symbol)) {
			credit(n, stack->frames[i], insn_of(stack, i, spot->key.blocked), spot->weight, self);
			return;
		}
		self = self && stack->frames[i]->inlined;
	}
}

/* By file, then by line; unknown ones last. */
static int by_line(const void *a_, const void *b_)
{
	const struct place *a = a_, *b = b_;
	int order;

	if (!a->key.file || !b->key.file)
		return a->key.file || b->key.file ? (a->key.file == NULL) - (b->key.file == NULL)
						  : a->key.at < b->key.at ? -1 : a->key.at > b->key.at;
	order = strcmp(a->key.file, b->key.file);
	return order ? order : a->key.line < b->key.line ? -1 : a->key.line > b->key.line;
}

/* Places of one object stay together. */
static int by_offset(const void *a_, const void *b_)
{
	const struct place *a = a_, *b = b_;

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

	for (; p && p->key.file == file; p = groups_next(p)) {
		const struct place *following = groups_next(p), *after = following && following->key.file == file ? following : NULL;
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

void hotspots_put(const struct analysis *a, enum fit fit, const char *text)
{
	const size_t columns = analysis_terminal(a->opts).columns;
	char buf[FIT_MAX], *escaped = escape_whole(text);

	fputs(!escaped ? "" : columns > LEAST_COLUMNS ? fit_text(fit, escaped, columns - LEAST_COLUMNS, buf) : escaped, stdout);
	free(escaped);
}

static void print_head(const struct analysis *a, const struct hotspots *h, const struct annotation *n)
{
	printf("\n%s of ", n->first && n->first->key.file ? "source lines" : "instructions");
	hotspots_put(a, FIT_NAME, n->symbol);
	for (const struct candidate *c = groups_first(&n->functions); c; c = groups_next(c))
		if (c->chosen && c->symbol != n->symbol) {
			fputs(" and ", stdout);
			hotspots_put(a, FIT_NAME, c->symbol);
		}
	printf(", %.2f %% self, %.2f %% total, in ", hotspots_percent(n->self, h->weight), hotspots_percent(n->total, h->weight));
	hotspots_put(a, FIT_PATH, n->dso);
	putchar('\n');
}

/* p: the first place without a known line. */
static void say_unknown(const struct hotspots *h, const struct annotation *n, const struct place *p)
{
	uint64_t weight = 0;

	for (; p; p = groups_next(p))
		weight += p->total;
	printf("%.2f %% are in code without known source lines", hotspots_percent(weight, h->weight));
	if (n->kernel)
		puts("; instructions of kernel functions are not shown");
	else
		printf(": build the program with -g%s\n", n->first->key.file ? "" : !disasm_is_built() ?
		       " (without libcapstone, this perf-prof shows no instructions)" :
		       "; its instructions cannot be read from its file");
}

static void print_lines(struct analysis *a, const struct hotspots *h, struct annotation *n)
{
	const struct place *p;

	for (p = n->first; p && p->key.file;)
		p = print_file(a, h, n, p);
	if (p == n->first && annotate_code(a, h, n))
		return;
	if (p && !a->opts->json)
		say_unknown(h, n, p);
}

static void free_places(struct annotation *n)
{
	for (struct place *p = groups_first(&n->places); p; p = groups_next(p))
		groups_free(&p->insns);
	groups_free(&n->places);
}

static void count_all(struct annotation *n, const struct hotspots *h)
{
	free_places(n);
	n->self = n->total = 0;
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		count_spot(n, spot);
	groups_sort(&n->places, by_line);
	for (struct place *p = groups_first(&n->places); p; p = groups_next(p))
		groups_sort(&p->insns, by_offset);
	n->first = groups_first(&n->places);
}

/* Clones have lines in common, but no instructions: then only the hottest is shown. False: there is only one. */
static bool leave_clones(struct annotation *n)
{
	const size_t before = n->others;

	for (struct candidate *c = groups_first(&n->functions); c; c = groups_next(c))
		if (c->chosen && c->symbol != n->symbol) {
			c->chosen = false;
			n->others++;
		}
	return n->others > before;
}

/* False: no stack has that function. */
static bool annotate(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view, const char *asked)
{
	struct annotation n = { .dso = "" };

	choose(&n, h, a->opts, asked);
	if (!n.symbol) {
		groups_free(&n.functions);
		return false;
	}
	count_all(&n, h);
	if (n.first && !n.first->key.file && leave_clones(&n))
		count_all(&n, h);
	if (!a->opts->json)
		print_head(a, h, &n);
	print_lines(a, h, &n);
	if (n.others) {
		fflush(stdout);   /* the lines are above this one where both go to one place */
		fprintf(stderr, "perf-prof: %s: --annotate %s: the hottest of %zu functions with this name is shown\n", view->name,
			asked, n.others + 1);
	}
	free_places(&n);
	groups_free(&n.functions);
	return true;
}

void hotspots_annotate(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	struct analysis_opts *o = a->opts;

	for (size_t i = 0; i < o->annotate.n; i++)
		if (annotate(a, h, view, o->annotate.v[i]) && i < 64)
			o->annotated |= UINT64_C(1) << i;
}

static int not_found(const struct analysis *a, const char *option, const char *asked, const char *near, const char *what,
		     struct fault *f)
{
	if (a->opts->chainless && strcmp(option, "--annotate"))
		return fault_set(f, EXIT_FAILED, "%s: %s %s: the samples have no call chains", a->ops->name, option, asked);
	return fault_set(f, EXIT_FAILED, "%s: %s %s: no sample of %s is in a function with this name; %s%s%s", a->ops->name, option,
			 asked, what, *near ? "did you mean " : "expected a name from the table; namespaces and arguments may be "
			 "left out", near, *near ? "?" : "");
}

int hotspots_found(const struct analysis *a, const char *what, struct fault *f)
{
	const struct analysis_opts *o = a->opts;
	const char *missing = not_annotated(o);

	if (hotspots_selected(a, what, "", f))
		return -1;
	if (o->callers && !o->called)
		return not_found(a, "--callers", o->callers, o->callers_near, what, f);
	if (o->callees && !o->called)
		return not_found(a, "--callees", o->callees, o->callers_near, what, f);
	return missing ? not_found(a, "--annotate", missing, o->annotate_near, what, f) : 0;
}
