/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time with their values; the kinds of files for --heatmap. */
#include "report/heatmap_private.h"

#include "base/artifact.h"
#include "report/flame.h"
#include "report/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
