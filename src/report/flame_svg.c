/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as a self-contained SVG: roots at the bottom, a box per frame, numbers in tooltips. */
#include "report/flame_private.h"

#include "base/columns.h"
#include "report/quote.h"
#include "report/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* The same name always has the same shade; neighbours differ slightly. */
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
