/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lambdas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "name (file:12)": the end of the line that begins at the last colon; NULL: p is not that colon. */
static const char *line_end(const char *p, unsigned long *line)
{
	const size_t digits = *p == ':' ? strspn(p + 1, "0123456789") : 0;

	if (!digits || strcmp(p + 1 + digits, ")"))
		return NULL;
	*line = strtoul(p + 1, NULL, 10);
	return p + 1 + digits;
}

/* The end of a place that begins at p, and its line; NULL: none begins there. Names may be from files of others. */
static const char *place_end(const char *p, unsigned long *line)
{
	static const char *const kinds[] = { "{lambda at ", "{unnamed at " };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *end = p + strcspn(p, "}"), *digits = end;

		if (strncmp(p, kinds[i], strlen(kinds[i])))
			continue;
		while (digits > p && isdigit((unsigned char)digits[-1]))
			digits--;
		*line = strtoul(digits, NULL, 10);
		return end;
	}
	return line_end(p, line);
}

/* A function of a script, whose name ends with its place: "run (job.py:12)". */
struct script {
	struct lambda *function;
	const char *file;            /* in its name, which ends 2 characters before it */
	size_t name_len, file_len;
	unsigned long line;
};

static bool script_of(const char *name, struct script *s)
{
	const char *colon = strrchr(name, ':'), *paren = strstr(name, " (");

	if (!colon || !paren || paren == name || colon < paren + 3 || !line_end(colon, &s->line))
		return false;
	s->name_len = (size_t)(paren - name);
	s->file = paren + 2;
	s->file_len = (size_t)(colon - s->file);
	return true;
}

bool lambda_has_place(const char *name)
{
	struct script script;
	unsigned long line;

	if (script_of(name, &script))
		return true;
	for (; (name = strchr(name, '{')); name++)
		if (place_end(name, &line))
			return true;
	return false;
}

/* By the names without their places. If these are equal, *lines is the order of the first lines that differ. */
static int by_names(const char *a, const char *b, int *lines)
{
	*lines = 0;
	for (;;) {
		unsigned long x = 0, y = 0;
		const char *end = place_end(a, &x), *other = place_end(b, &y);

		if (end && other && *a == *b && (*a == ':' || a[1] == b[1])) {
			*lines = *lines ? *lines : (x > y) - (x < y);
			a = end;
			b = other;
		} else if (!end != !other) {
			return end ? -1 : 1;
		} else if (*a != *b || !*a) {
			return (unsigned char)*a - (unsigned char)*b;
		} else {
			a++;
			b++;
		}
	}
}

static int by_function(const struct lambda *a, const struct lambda *b, int *lines)
{
	const int order = strcmp(a->file, b->file);

	return order ? order : by_names(a->name, b->name, lines);
}

static int by_place(const void *a_, const void *b_)
{
	const struct lambda *a = a_, *b = b_;
	int lines, order = by_function(a, b, &lines);

	return order ? order : lines ? lines : strcmp(a->name, b->name);
}

/* How many of `all` are of the same function as the first one. */
static size_t group_size(const struct lambda *all, size_t n)
{
	size_t i = 1;
	int lines;

	while (i < n && !by_function(all, &all[i], &lines))
		i++;
	return i;
}

static void pair_group(struct lambda *before, size_t nbefore, const struct lambda *after, size_t nafter)
{
	for (size_t i = 0; i < nbefore; i++)
		before[i].other = nbefore == nafter ? &after[i] : bsearch(&before[i], after, nafter, sizeof(*after), by_place);
}

/* ---- scripts that were renamed ---------------------------------------------------------- */

static int by_text(const char *a, size_t na, const char *b, size_t nb)
{
	const int order = memcmp(a, b, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

static int by_file(const struct script *a, const struct script *b)
{
	return by_text(a->file, a->file_len, b->file, b->file_len);
}

static int by_script_name(const struct script *a, const struct script *b)
{
	return by_text(a->function->name, a->name_len, b->function->name, b->name_len);
}

static int by_file_and_line(const void *a_, const void *b_)
{
	const struct script *a = a_, *b = b_;
	int order = by_file(a, b);

	order = order ? order : by_script_name(a, b);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* The functions of a file that is on one side only, by name and line. */
struct script_file {
	const struct script *first;
	size_t n, matches;
	const struct script_file *other;   /* the last match */
};

struct script_side {
	struct script *functions;
	struct script_file *files;
	size_t nfunctions, nfiles;
};

/* Files that are none, "<string>" and "<frozen os>", are not renamed. */
static void side_of(struct script_side *side, struct lambda *all, size_t n)
{
	*side = (struct script_side){ calloc(n, sizeof(*side->functions)), calloc(n, sizeof(*side->files)), 0, 0 };
	for (size_t i = 0; i < n && side->functions && side->files; i++) {
		struct script *s = &side->functions[side->nfunctions];

		if (script_of(all[i].name, s) && *s->file != '<') {
			s->function = &all[i];
			side->nfunctions++;
		}
	}
	if (side->nfunctions)
		qsort(side->functions, side->nfunctions, sizeof(*side->functions), by_file_and_line);
}

static void free_side(struct script_side *side)
{
	free(side->functions);
	free(side->files);
}

typedef int script_order_fn(const struct script *a, const struct script *b);

/* How many begin with the same file, or, of a file, name. */
static size_t run_of(const struct script *all, size_t n, script_order_fn *order)
{
	size_t i = 1;

	while (i < n && !order(all, &all[i]))
		i++;
	return i;
}

static void find_files(struct script_side *side, const struct script_side *other)
{
	for (size_t i = 0, k = 0, n; i < side->nfunctions; i += n) {
		const struct script *first = &side->functions[i];

		n = run_of(first, side->nfunctions - i, by_file);
		while (k < other->nfunctions && by_file(&other->functions[k], first) < 0)
			k++;
		if (k == other->nfunctions || by_file(&other->functions[k], first))
			side->files[side->nfiles++] = (struct script_file){ first, n, 0, NULL };
	}
}

/* Names that many scripts have, such as <module>, main and __init__, say nothing about which one it is. */
static bool is_telling(const struct script *s)
{
	const char *name = s->function->name;

	return *name != '<' && strncmp(name, "__", 2) && !(s->name_len == 4 && !strncmp(name, "main", 4));
}

static size_t count_telling(const struct script_file *f)
{
	size_t found = 0;

	for (size_t i = 0; i < f->n; i += run_of(&f->first[i], f->n - i, by_script_name))
		found += is_telling(&f->first[i]);
	return found;
}

/* The functions of a name in two files: before[0] to before[n - 1], and as many in after. */
typedef void same_name_fn(const struct script *before, const struct script *after, size_t n, size_t *found);

static void count_names(const struct script *before, const struct script *after, size_t n, size_t *found)
{
	(void)after;
	(void)n;
	*found += is_telling(before);
}

static void pair_names(const struct script *before, const struct script *after, size_t n, size_t *found)
{
	for (size_t i = 0; i < n; i++)
		before[i].function->other = after[i].function;
	*found += n;
}

static size_t each_name(const struct script_file *before, const struct script_file *after, same_name_fn *fn)
{
	size_t found = 0;

	for (size_t i = 0, k = 0; i < before->n && k < after->n;) {
		const size_t n = run_of(&before->first[i], before->n - i, by_script_name);
		const size_t m = run_of(&after->first[k], after->n - k, by_script_name);
		const int order = by_script_name(&before->first[i], &after->first[k]);

		if (!order && n == m)
			fn(&before->first[i], &after->first[k], n, &found);
		i += order <= 0 ? n : 0;
		k += order >= 0 ? m : 0;
	}
	return found;
}

/* Different files may have some functions in common: of the same one, these are most, before or after. */
static bool is_same_file(const struct script_file *before, const struct script_file *after)
{
	const size_t common = each_name(before, after, count_names);

	return common && (2 * common > count_telling(before) || 2 * common > count_telling(after));
}

/* One that could be several files is none of them. */
static void pair_files(struct script_side *before, struct script_side *after)
{
	find_files(before, after);
	find_files(after, before);
	for (size_t i = 0; i < before->nfiles; i++) {
		for (size_t k = 0; k < after->nfiles; k++) {
			if (!is_same_file(&before->files[i], &after->files[k]))
				continue;
			before->files[i].matches++;
			after->files[k].matches++;
			before->files[i].other = &after->files[k];
		}
	}
	for (size_t i = 0; i < before->nfiles; i++)
		if (before->files[i].matches == 1 && before->files[i].other->matches == 1)
			each_name(&before->files[i], before->files[i].other, pair_names);
}

/* Without memory, they stay apart. */
static void pair_scripts(struct lambda *before, size_t nbefore, struct lambda *after, size_t nafter)
{
	struct script_side sides[2];

	side_of(&sides[0], before, nbefore);
	side_of(&sides[1], after, nafter);
	if (sides[0].nfunctions && sides[1].nfunctions)
		pair_files(&sides[0], &sides[1]);
	free_side(&sides[0]);
	free_side(&sides[1]);
}

void lambdas_pair(struct lambda *before, size_t nbefore, struct lambda *after, size_t nafter)
{
	if (!nbefore || !nafter)
		return;
	qsort(before, nbefore, sizeof(*before), by_place);
	qsort(after, nafter, sizeof(*after), by_place);
	for (size_t i = 0, k = 0; i < nbefore && k < nafter;) {
		int lines, order = by_function(&before[i], &after[k], &lines);
		const size_t n = group_size(&before[i], nbefore - i), m = group_size(&after[k], nafter - k);

		if (!order)
			pair_group(&before[i], n, &after[k], m);
		i += order <= 0 ? n : 0;
		k += order >= 0 ? m : 0;
	}
	pair_scripts(before, nbefore, after, nafter);
}

const char *lambda_now(const struct lambda *before, size_t nbefore, const char *name)
{
	const struct lambda key = { .name = name, .file = "" };
	const struct lambda *found = nbefore ? bsearch(&key, before, nbefore, sizeof(key), by_place) : NULL;

	return found && found->other ? found->other->name : NULL;
}
