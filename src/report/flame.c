/* SPDX-License-Identifier: Apache-2.0 */
/* --flame-graph: the kind of a file, and the walk over the nodes of a picture. */
#include "base/artifact.h"
#include "base/columns.h"
#include "base/escape.h"
#include "report/flame_private.h"
#include "report/picture.h"
#include "report/quote.h"
#include "report/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- svg -------------------------------------------------------------------------------- */

/* A flame graph as a self-contained SVG: roots at the bottom, a box per frame, numbers in tooltips. */

enum { WIDTH = 1200, MARGIN = 10, TOP = 40, BOTTOM = 30, ROW = 17 };
static const double least = 0.1, letter = 7.3;   /* px: minimum width of a box, width of a character */

struct svg {
	const struct folded *f;
	const char *unit;
	size_t deepest;
	double most;                 /* largest change of a share */
	FILE *out;
};

static double scale(const struct svg *s)
{
	uint64_t total = folded_total(s->f) - folded_overflow(s->f);

	return total ? (double)(WIDTH - 2 * MARGIN) / (double)total : 0;
}

static void measure(const struct flame_node *node, void *arg)
{
	struct svg *s = arg;
	double change = fabs(flame_change(s->f, node));

	if ((double)node->weight * scale(s) >= least && node->depth + 1 > s->deepest)
		s->deepest = node->depth + 1;
	s->most = change > s->most ? change : s->most;
}

/* ---- colours ------------------------------------------------------------------------------- */

static const struct {
	int hue, saturation;
} colours[FOLDED_KINDS] = {
	[FOLDED_USER] = { 35, 90 },    [FOLDED_KERNEL] = { 12, 85 },
	[FOLDED_INLINED] = { 55, 80 }, [FOLDED_SCRIPT] = { 120, 45 },
	[FOLDED_UNKNOWN] = { 0, 0 },   [FOLDED_TASK] = { 45, 30 },
	[FOLDED_TIME] = { 0, 0 },      [FOLDED_BLOCKED] = { 215, 65 },
};

/* A name always has the same shade; neighbours differ slightly. */
static int shade(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (int)(hash % 12);
}

static void put_colour(const struct svg *s, const struct flame_node *node)
{
	enum folded_kind kind = folded_frame_kind(s->f, node->frame);
	double change = flame_change(s->f, node);

	if (folded_before(s->f))
		fprintf(s->out, "hsl(%d,85%%,%.0f%%)", change > 0 ? 5 : 220,
			95 - 40 * (s->most > 0 ? fabs(change) / s->most : 0));
	else
		fprintf(s->out, "hsl(%d,%d%%,%d%%)", colours[kind].hue, colours[kind].saturation,
			60 + shade(folded_frame_name(s->f, node->frame)));
}

/* ---- boxes --------------------------------------------------------------------------------- */

static void put_hover(const struct svg *s, const struct flame_node *node)
{
	const char *name = folded_frame_name(s->f, node->frame);
	double total = (double)folded_total(s->f);

	fputs("<title>", s->out);
	quote_xml(name, strlen(name), s->out);
	fprintf(s->out, " (%" PRIu64 " %s, %.2f%%", node->weight, s->unit,
		100 * (double)node->weight / total);
	if (folded_before(s->f))
		fprintf(s->out, "; %+.2f points", 100 * flame_change(s->f, node));
	fputs(")</title>", s->out);
}

static void put_label(const struct svg *s, const char *name, double x, double y, double width)
{
	size_t room = width > 4 ? (size_t)((width - 4) / letter) : 0, bytes;

	if (room < 3)
		return;
	bytes = columns_of(name) <= room ? strlen(name) : columns_fit(name, room - 1);
	fprintf(s->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 2, y + ROW - 5);
	quote_xml(name, bytes, s->out);
	fputs(name[bytes] ? "\xe2\x80\xa6</text>" : "</text>", s->out);
}

static void put_node(const struct flame_node *node, void *arg)
{
	const struct svg *s = arg;
	double width = (double)node->weight * scale(s), x = MARGIN + (double)node->start * scale(s);
	double y = (double)(TOP + (s->deepest - node->depth - 1) * ROW);

	if (width < least || node->depth >= s->deepest)
		return;
	fputs("<g>", s->out);
	put_hover(s, node);
	fprintf(s->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x, y, width,
		ROW - 1);
	put_colour(s, node);
	fputs("\"/>", s->out);
	put_label(s, folded_frame_name(s->f, node->frame), x, y, width);
	fputs("</g>\n", s->out);
}

static void put_frame(const struct svg *s, const char *title)
{
	size_t height = TOP + s->deepest * ROW + BOTTOM;

	fprintf(s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
		"viewBox=\"0 0 %d %zu\">\n"
		"<style>text{font:12px monospace;pointer-events:none}rect{stroke:#fff;stroke-width:.3}"
		"g:hover rect{stroke:#000;stroke-width:1}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"24\" text-anchor=\"middle\" style=\"font-size:16px\">",
		WIDTH, height, WIDTH, height, WIDTH / 2);
	quote_xml(title, strlen(title), s->out);
	fprintf(s->out, "</text>\n<text x=\"%d\" y=\"%zu\">%" PRIu64 " ", MARGIN, height - 10,
		folded_total(s->f));
	quote_xml(s->unit, strlen(s->unit), s->out);
	if (folded_before(s->f))
		fprintf(s->out, ", before %" PRIu64 "; red: larger share than before, blue: smaller "
			"share", folded_before(s->f));
	if (folded_overflow(s->f))
		fprintf(s->out, "; %" PRIu64 " not shown: too many different stacks",
			folded_overflow(s->f));
	fputs("</text>\n", s->out);
}

int flame_svg(const struct folded *f, const struct flame_title *title, FILE *out)
{
	struct svg s = { .f = f, .unit = flame_unit(title), .out = out };

	if (flame_walk(f, measure, &s))
		return -ENOMEM;
	put_frame(&s, title->title ? title->title : "");
	if (flame_walk(f, put_node, &s))
		return -ENOMEM;
	fputs("</svg>\n", out);
	return 0;
}

/* ---- speedscope ------------------------------------------------------------------------- */

/* Stacks in speedscope's file format, as one sampled profile. */

/* The units known to the format. */
static const char *unit_of(const struct flame_title *title)
{
	static const char *const units[][2] = {
		{ "ns", "nanoseconds" }, { "us", "microseconds" }, { "ms", "milliseconds" },
		{ "s", "seconds" }, { "bytes", "bytes" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(flame_unit(title), units[i][0]))
			return units[i][1];
	return "none";
}

static void put_frames(const struct folded *f, FILE *out)
{
	for (uint32_t i = 0; i < folded_frames(f); i++) {
		fputs(i ? ",\n{\"name\":" : "{\"name\":", out);
		quote_json(folded_frame_name(f, i), out);
		fputc('}', out);
	}
}

static void put_stack(const struct folded_stack *s, FILE *out)
{
	for (size_t k = 0; k < s->n; k++)
		fprintf(out, "%s%" PRIu32, k ? "," : "[", s->frames[k]);
	fputc(']', out);
}

int flame_speedscope(const struct folded *f, const struct flame_title *title, FILE *out)
{
	size_t n;
	struct folded_stack *stacks = folded_stacks(f, &n);

	if (!stacks)
		return -ENOMEM;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"perf-prof\",\n\"shared\":{\"frames\":[\n", out);
	put_frames(f, out);
	fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":", out);
	quote_json(title->title ? title->title : "", out);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[\n",
		unit_of(title), folded_total(f) - folded_overflow(f));
	for (size_t i = 0; i < n; i++) {
		put_stack(&stacks[i], out);
		fputs(i + 1 < n ? ",\n" : "", out);
	}
	fputs("],\n\"weights\":[", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", stacks[i].weight);
	fputs("]}]}\n", out);
	free(stacks);
	return 0;
}

#define AT(member) offsetof(struct flame_config, member)

const struct opt flame_opts[FLAME_OPTS] = {
	{ "flame-graph", 0, NULL, OPT_OUTFILE, AT(path), "FILE",
	  "Write a flame graph of the stacks: .svg, .html (zoom and search in a browser), "
	  ".speedscope.json, or .folded (text, a line per stack; default without a suffix). With "
	  "-i, each interval is a frame at the root, named by its time.", false, NULL },
	{ "flame-graph-before", 0, NULL, OPT_STRING, AT(before), "FILE",
	  "Colour the flame graph (.svg or .html) by the change since FILE, a .folded file: red if a share grew, "
	  "blue if it shrank.", false, NULL },
};

static int print_folded(const struct folded *f, const struct flame_title *title, FILE *out)
{
	struct folded_samples samples;
	const int rc = folded_print(f, out);

	/* else the last line has the event of the samples */
	if (rc || !title->unit || strcmp(title->unit, "ns") || !folded_total(f) || folded_samples(f, &samples))
		return rc;
	fprintf(out, "# weight=%" PRIu64, folded_total(f));
	folded_print_builds(f, out);
	fputs(" unit=ns\n", out);
	return 0;
}

enum { FOLDED, SVG, HTML, SPEEDSCOPE, KINDS };

static const struct kind {
	int (*print)(const struct folded *f, const struct flame_title *title, FILE *out);
	bool compares;
} kinds[KINDS] = {
	[FOLDED] = { print_folded, false },
	[SVG] = { flame_svg, true },
	[HTML] = { flame_html, true },
	[SPEEDSCOPE] = { flame_speedscope, false },
};

static const char *const suffixes[KINDS + 1] = {
	[FOLDED] = ".folded", [SVG] = ".svg", [HTML] = ".html", [SPEEDSCOPE] = ".speedscope.json",
};
static const struct picture picture = { "--flame-graph", suffixes };

static int check_kind(const struct flame_config *c, const struct kind *kind, struct fault *f)
{
	if (kind->print == flame_html && !flame_has_html())
		return fault_usage(f, "%s: this perf-prof was built without .html; `make html` in its sources "
				   "builds it with .html (needs npm); or name a file .svg, .speedscope.json or .folded", c->path);
	if (c->before && !kind->compares)
		return fault_usage(f, "%s: only .svg and .html can show the change since %s", c->path,
				   c->before);
	if (c->compared && !kind->compares)
		return fault_usage(f, "%s: only .svg and .html can show a change", c->path);
	return 0;
}

int flame_open_before(struct flame_config *c, struct fault *f)
{
	if (!c->path || !c->before || c->old || c->before_is_open)
		return 0;
	c->before_fd = folded_open(c->before, f);
	c->before_is_open = c->before_fd >= 0;
	return c->before_is_open ? 0 : -1;
}

/* It reads the file once, because a pipe cannot be read again. */
static int read_before(struct flame_config *c, struct fault *f)
{
	if (!c->before || c->old)
		return 0;
	if (flame_open_before(c, f))
		return -1;
	c->old = folded_new();
	if (!c->old)
		return fault_set(f, EXIT_FAILED, "out of memory");
	c->before_is_open = false;
	if (!folded_read_from(c->old, c->before_fd, c->before, f))
		return 0;
	flame_free(c);
	return -1;
}

void flame_free(struct flame_config *c)
{
	folded_free(c->old);
	folded_free(c->folded);
	c->old = c->folded = NULL;
	if (c->before_is_open)
		close(c->before_fd);
	c->before_is_open = false;
}

int flame_check(struct flame_config *c, int verbose, struct fault *f)
{
	struct picture_file file;
	int rc;

	if (!c->path)
		return c->before ? fault_usage(f, "--flame-graph-before %s needs --flame-graph", c->before)
				 : 0;
	if (picture_name(&picture, c->path, &file, f))
		return -1;
	rc = check_kind(c, &kinds[file.kind], f);
	if (!rc)
		rc = artifact_check(picture.option, file.path, f);
	if (!rc)
		picture_tell(&picture, c->path, &file, verbose);
	free(file.path);
	return rc ? rc : read_before(c, f);
}

int flame_begin(struct flame_config *c, int verbose, struct fault *f)
{
	if (flame_check(c, verbose, f))
		return -1;
	c->folded = c->path ? folded_new() : NULL;
	return c->path && !c->folded ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

static void copy_root(char *text, size_t size, const struct folded *folded, uint32_t frame)
{
	const char *name = folded_frame_name(folded, frame);

	escape_terminal(name, strlen(name), text, size);
}

void flame_compare(struct folded *folded, const struct folded *old, bool match_roots)
{
	struct folded_renamed root;
	char before[256], after[256];
	bool renamed = match_roots && folded_root_renamed(folded, old, &root);

	if (renamed) {
		copy_root(before, sizeof(before), old, root.before);
		copy_root(after, sizeof(after), folded, root.after);
		fprintf(stderr, "perf-prof: the stacks begin with %s, the earlier ones with %s: perf-prof compares %s and %s as the same "
			"program\n", after, before, after, before);
	}
	folded_compare(folded, old, renamed ? &root : NULL);
}

int flame_write(struct flame_config *c, struct folded *folded, const struct flame_title *title,
		struct fault *f)
{
	const struct kind *kind;
	struct picture_file file;
	struct artifact a;
	int rc;

	if (!c->path)
		return 0;
	if (picture_name(&picture, c->path, &file, f))
		return -1;
	kind = &kinds[file.kind];
	if (!folded_total(folded))
		fprintf(stderr, "perf-prof: %s: there were no samples with a stack: the flame graph is empty\n", file.path);
	if (c->before && c->old)
		flame_compare(folded, c->old, true);
	folded_free(c->old);
	c->old = NULL;
	rc = check_kind(c, kind, f) || artifact_open(&a, picture.option, file.path, f);
	if (!rc && kind->print(folded, title, a.out)) {
		rc = fault_set(f, EXIT_FAILED, "--flame-graph %s: out of memory", file.path);
		artifact_abandon(&a);
	} else if (!rc) {
		rc = artifact_close(&a, f);
	}
	free(file.path);
	return rc ? -1 : 0;
}

int flame_print(const struct folded *folded, enum flame_kind kind, const struct flame_title *title, FILE *out)
{
	return (kind == FLAME_FOLDED ? print_folded : flame_speedscope)(folded, title, out);
}

/* ---- nodes ------------------------------------------------------------------------------ */

const char *flame_unit(const struct flame_title *title)
{
	return title->unit ? title->unit : "samples";
}

/* "python" is the event of Python stacks, which are weighed by CPU time. Modifiers may follow (cpu-clock:u). */
const char *flame_unit_of(const struct folded_samples *s, uint64_t weight)
{
	static const char *const in_ns[] = { "cpu-clock", "task-clock", "python", "python-elapsed" };
	size_t len = strcspn(s->event, ":/");

	if (!s->n || s->n == weight)
		return "samples";
	for (size_t i = 0; i < sizeof(in_ns) / sizeof(*in_ns); i++)
		if (len == strlen(in_ns[i]) && !strncmp(s->event, in_ns[i], len))
			return "ns";
	return s->event;
}

double flame_change(const struct folded *f, const struct flame_node *node)
{
	uint64_t total = folded_total(f), before = folded_before(f);

	return (total ? (double)node->weight / (double)total : 0) -
	       (before ? (double)node->before / (double)before : 0);
}

/*
 * Stacks are sorted. A node is open while stacks begin with its path; the next stack closes it.
 * Its weight is the weight passed in between.
 */
struct walk {
	struct flame_node *open;     /* weight, before: those passed when the node was opened */
	size_t n;
	uint64_t weight, before;     /* passed so far */
	void (*fn)(const struct flame_node *node, void *arg);
	void *arg;
};

static void close_nodes(struct walk *w, size_t keep)
{
	while (w->n > keep) {
		struct flame_node node = w->open[--w->n];

		node.weight = w->weight - node.weight;
		node.before = w->before - node.before;
		w->fn(&node, w->arg);
	}
}

static void pass_stack(struct walk *w, const struct folded_stack *s)
{
	size_t common = 0;

	while (common < w->n && common < s->n && w->open[common].frame == s->frames[common])
		common++;
	close_nodes(w, common);
	for (; w->n < s->n; w->n++)
		w->open[w->n] = (struct flame_node){ s->frames[w->n], w->n, w->weight, w->weight,
						     w->before };
	w->weight += s->weight;
	w->before += s->before;
}

int flame_walk(const struct folded *f, void (*fn)(const struct flame_node *node, void *arg), void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };
	struct folded_stack *stacks;
	size_t n, deepest = 0;

	stacks = folded_stacks(f, &n);
	for (size_t i = 0; stacks && i < n; i++)
		deepest = stacks[i].n > deepest ? stacks[i].n : deepest;
	w.open = calloc(deepest + 1, sizeof(*w.open));
	for (size_t i = 0; stacks && w.open && i < n; i++)
		pass_stack(&w, &stacks[i]);
	if (stacks && w.open)
		close_nodes(&w, 0);
	n = stacks && w.open;
	free(stacks);
	free(w.open);
	return n ? 0 : -ENOMEM;
}
