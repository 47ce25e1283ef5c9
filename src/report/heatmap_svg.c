/* SPDX-License-Identifier: Apache-2.0 */
/* A heat map as an SVG: time to the right, values upwards on a logarithmic scale with eight rows
 * per power of two; darker cells have more values. */
#include "report/heatmap_private.h"

#include "report/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, LEFT = 90, RIGHT = 20, TOP = 40, BOTTOM = 40, ROW = 6, PER_POWER = 8,
       ROWS = 64 * PER_POWER + 1 };

struct grid {
	const struct heatmap *h;
	const char *unit;
	uint64_t *counts;                /* by span, ROWS each */
	size_t low, high;                /* rows in use */
	uint64_t most;
	FILE *out;
};

static size_t row_of(uint64_t value)
{
	return value ? 1 + (size_t)(log2((double)value) * PER_POWER + 1e-9) : 0;
}

static double value_of(size_t row)
{
	return row ? exp2((double)(row - 1) / PER_POWER) : 0;
}

static int put(const struct heatmap_cell *cell, void *arg)
{
	struct grid *g = arg;
	size_t row = row_of(cell->low + (cell->high - cell->low) / 2);
	uint64_t *count;

	row = row < ROWS ? row : ROWS - 1;
	count = &g->counts[cell->span * ROWS + row];
	*count += cell->n;
	g->most = *count > g->most ? *count : g->most;
	g->low = row < g->low ? row : g->low;
	g->high = row > g->high ? row : g->high;
	return 0;
}

/* A value with its unit; times in a suitable unit. */
static void put_value(const struct grid *g, double value, FILE *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 0 } };
	size_t i = 0;

	if (strcmp(g->unit, "ns")) {
		fprintf(out, "%.4g ", value);
		quote_xml(g->unit, strlen(g->unit), out);
		return;
	}
	while (value < units[i].ns)
		i++;
	fprintf(out, "%.4g %s", value / (units[i].ns > 0 ? units[i].ns : 1), units[i].name);
}

static double y_of(const struct grid *g, size_t row)
{
	return TOP + (double)(g->high - row) * ROW;
}

static void put_cell(const struct grid *g, size_t span, size_t row, uint64_t n)
{
	double width = (double)(WIDTH - LEFT - RIGHT) / (double)g->h->n;
	double heat = log1p((double)n) / log1p((double)g->most);

	fprintf(g->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" "
		"fill=\"hsl(%.0f,90%%,%.0f%%)\"><title>", LEFT + (double)span * width, y_of(g, row),
		width, ROW, 50 - 50 * heat, 88 - 55 * heat);
	fprintf(g->out, "%.3f s, ", (double)(span * g->h->step) / 1e9);
	put_value(g, value_of(row), g->out);
	fputs(" to ", g->out);
	put_value(g, value_of(row + 1), g->out);
	fprintf(g->out, ": %" PRIu64 "</title></rect>\n", n);
}

static void put_scales(const struct grid *g, double height)
{
	for (size_t row = g->low; row <= g->high; row++) {
		if (row && (row - 1) % (2 * PER_POWER))
			continue;
		fprintf(g->out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LEFT - 6,
			y_of(g, row) + ROW);
		put_value(g, value_of(row), g->out);
		fputs("</text>\n", g->out);
	}
	for (int i = 0; i <= 10; i++)
		fprintf(g->out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%.3g s</text>\n",
			LEFT + i * (WIDTH - LEFT - RIGHT) / 10.0, height - BOTTOM + 18,
			i * (double)(g->h->n * g->h->step) / 1e10);
}

static void put_picture(const struct grid *g, const char *title)
{
	double height = g->h->n ? TOP + (double)(g->high - g->low + 1) * ROW + BOTTOM : TOP + BOTTOM;

	fprintf(g->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\">\n<style>text{font:11px monospace}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"24\" text-anchor=\"middle\" style=\"font-size:16px\">", WIDTH, height,
		WIDTH, height, WIDTH / 2);
	quote_xml(title, strlen(title), g->out);
	fprintf(g->out, " (%" PRIu64 ")</text>\n", g->h->count);
	if (g->h->n)
		put_scales(g, height);
	for (size_t span = 0; span < g->h->n; span++)
		for (size_t row = g->low; row <= g->high; row++)
			if (g->counts[span * ROWS + row])
				put_cell(g, span, row, g->counts[span * ROWS + row]);
	fputs("</svg>\n", g->out);
}

int heatmap_svg(const struct heatmap *h, const struct heatmap_title *title, FILE *out)
{
	struct grid g = { .h = h, .unit = heatmap_unit(title), .low = ROWS, .out = out };

	g.counts = calloc(h->n * ROWS + 1, sizeof(*g.counts));
	if (!g.counts)
		return -ENOMEM;
	heatmap_each(h, put, &g);
	put_picture(&g, title->title ? title->title : "");
	free(g.counts);
	return 0;
}
