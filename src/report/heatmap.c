/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time with their values; the kinds of files for --heatmap. */
#include "base/artifact.h"
#include "report/flame.h"
#include "report/heatmap_private.h"
#include "report/picture.h"
#include "report/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- svg -------------------------------------------------------------------------------- */

/* A heat map as an SVG: time to the right, values upwards on a logarithmic scale with eight rows
 * per power of two; darker cells have more values. */

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

static const uint64_t first_step = 1000000;   /* ns */

struct heatmap *heatmap_new(void)
{
	struct heatmap *h = calloc(1, sizeof(*h));

	if (h)
		h->step = first_step;
	return h;
}

void heatmap_free(struct heatmap *h)
{
	for (size_t i = 0; h && i < HEATMAP_SPANS; i++)
		histogram_free(&h->spans[i]);
	free(h);
}

/* ---- spans ---------------------------------------------------------------------------- */

/* Merges pairs of spans to spans of twice the length, which begin at a multiple of it. */
static void coarsen(struct heatmap *h)
{
	uint64_t step = 2 * h->step, start = h->start / step * step;
	size_t odd = start != h->start, n = (h->n + odd + 1) / 2;

	for (size_t i = 0; i < n; i++) {
		size_t from = 2 * i - odd;   /* first half; wraps if i is 0 and odd is 1 */
		struct histogram sum = { 0 };

		for (size_t k = from; k != from + 2; k++) {
			if (k >= h->n)
				continue;
			histogram_merge(&sum, &h->spans[k]);
			histogram_free(&h->spans[k]);
		}
		h->spans[i] = sum;
	}
	h->start = start;
	h->step = step;
	h->n = n;
}

/* Shifts the spans so that one begins at or before time; false: there is no room. */
static bool move(struct heatmap *h, uint64_t time)
{
	uint64_t by = (h->start - time - 1) / h->step + 1;

	if (by > HEATMAP_SPANS - h->n)
		return false;
	memmove(&h->spans[by], h->spans, h->n * sizeof(*h->spans));
	memset(h->spans, 0, by * sizeof(*h->spans));
	h->start -= by * h->step;
	h->n += by;
	return true;
}

static struct histogram *span_of(struct heatmap *h, uint64_t time)
{
	uint64_t i;

	if (!h->n)
		h->start = time / h->step * h->step;
	while (time < h->start && !move(h, time))
		coarsen(h);
	while ((i = (time - h->start) / h->step) >= HEATMAP_SPANS)
		coarsen(h);
	if (i >= h->n)
		h->n = i + 1;
	return &h->spans[i];
}

void heatmap_add(struct heatmap *h, uint64_t time, uint64_t value)
{
	h->count++;
	histogram_add(span_of(h, time), value);
}

struct each {
	struct heatmap_cell cell;
	int (*fn)(const struct heatmap_cell *cell, void *arg);
	void *arg;
};

static int pass(uint64_t low, uint64_t high, uint64_t n, void *arg)
{
	struct each *e = arg;

	e->cell.low = low;
	e->cell.high = high;
	e->cell.n = n;
	return e->fn(&e->cell, e->arg);
}

int heatmap_each(const struct heatmap *h, int (*fn)(const struct heatmap_cell *cell, void *arg),
		 void *arg)
{
	struct each e = { .fn = fn, .arg = arg };
	int rc = 0;

	for (; e.cell.span < h->n && !rc; e.cell.span++)
		rc = histogram_each(&h->spans[e.cell.span], pass, &e);
	return rc;
}

/* ---- files ----------------------------------------------------------------------------- */

struct csv {
	const struct heatmap *h;
	FILE *out;
};

static int put_line(const struct heatmap_cell *cell, void *arg)
{
	const struct csv *csv = arg;

	fprintf(csv->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		csv->h->start + cell->span * csv->h->step, cell->low, cell->high, cell->n);
	return 0;
}

static int heatmap_csv(const struct heatmap *h, const struct heatmap_title *title, FILE *out)
{
	struct csv csv = { h, out };

	fputs("time_ns,low,high,count\n", out);
	return heatmap_each(h, put_line, &csv);
}

enum { SVG, HTML, CSV, KINDS };

static int (*const kinds[KINDS])(const struct heatmap *h, const struct heatmap_title *title, FILE *out) = {
	[SVG] = heatmap_svg, [HTML] = heatmap_html, [CSV] = heatmap_csv,
};

static const char *const suffixes[KINDS + 1] = { [SVG] = ".svg", [HTML] = ".html", [CSV] = ".csv" };
static const struct picture picture = { "--heatmap", suffixes };

const struct opt heatmap_opts[HEATMAP_OPTS] = {
	{ "heatmap", 0, NULL, OPT_OUTFILE, offsetof(struct heatmap_config, path), "FILE",
	  "Write a heat map: durations over time, darker where there are more. FILE is .svg (default without a "
	  "suffix), .html (select a range to see its details), or .csv.", false, NULL },
};

const char *heatmap_unit(const struct heatmap_title *title)
{
	return title->unit ? title->unit : "ns";
}

int heatmap_check(const struct heatmap_config *c, int verbose, struct fault *f)
{
	struct picture_file file;
	int rc;

	if (!c->path)
		return 0;
	if (picture_name(&picture, c->path, &file, f))
		return -1;
	if (file.kind == HTML && !flame_has_html())
		rc = fault_usage(f, "--heatmap %s: this perf-prof was built without .html; `make html` in its "
				 "sources builds it with .html (needs npm); or name a file .svg or .csv", c->path);
	else
		rc = artifact_check(picture.option, file.path, f);
	if (!rc)
		picture_tell(&picture, c->path, &file, verbose);
	free(file.path);
	return rc;
}

int heatmap_write(const struct heatmap_config *c, const struct heatmap *h,
		  const struct heatmap_title *title, struct fault *f)
{
	struct picture_file file;
	struct artifact a;
	int rc;

	if (!c->path)
		return 0;
	if (picture_name(&picture, c->path, &file, f))
		return -1;
	rc = artifact_open(&a, picture.option, file.path, f);
	if (!rc && kinds[file.kind](h, title, a.out)) {
		rc = fault_set(f, EXIT_FAILED, "--heatmap %s: out of memory, or not built in", file.path);
		artifact_abandon(&a);
	} else if (!rc) {
		rc = artifact_close(&a, f);
	}
	free(file.path);
	return rc;
}
