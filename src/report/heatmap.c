/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time and what came in them; which kind of file --heatmap means. */
#include "report/heatmap_private.h"

#include "base/artifact.h"
#include "report/flame.h"

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

uint64_t heatmap_count(const struct heatmap *h)
{
	return h->count;
}

/* ---- spans ---------------------------------------------------------------------------- */

/* Spans twice as long, beginning at a multiple of that; two become one. */
static void coarsen(struct heatmap *h)
{
	uint64_t step = 2 * h->step, start = h->start / step * step;
	size_t odd = start != h->start, n = (h->n + odd + 1) / 2;

	for (size_t i = 0; i < n; i++) {
		size_t from = 2 * i - odd;   /* its first half; wraps where i is 0 and odd */
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

/* Spans move so that one begins at or before time; false: there is no room for it. */
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

static const struct kind {
	const char *suffix;
	int (*print)(const struct heatmap *h, const struct heatmap_title *title, FILE *out);
} kinds[] = {
	{ ".svg", heatmap_svg }, { ".html", heatmap_html }, { ".csv", heatmap_csv },
};

const struct opt heatmap_opts[HEATMAP_OPTS] = {
	{ "heatmap", 0, NULL, OPT_STRING, offsetof(struct heatmap_config, path), "FILE",
	  "Write how many latencies of which length came when as a picture: .svg (also where FILE has "
	  "no such suffix), .html (drill down by brushing), or .csv.", false, NULL },
};

const char *heatmap_unit(const struct heatmap_title *title)
{
	return title->unit ? title->unit : "ns";
}

static char *full_path(const struct heatmap_config *c, const struct kind **kind)
{
	size_t len = strlen(c->path);
	char *path;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].suffix);

		*kind = &kinds[i];
		if (len > n && !strcmp(c->path + len - n, kinds[i].suffix))
			return strdup(c->path);
	}
	*kind = &kinds[0];
	if (!strncmp(c->path, "/dev/", 5) || !strcmp(c->path, "-"))
		return strdup(c->path);
	return asprintf(&path, "%s%s", c->path, kinds[0].suffix) < 0 ? NULL : path;
}

int heatmap_check(const struct heatmap_config *c, struct fault *f)
{
	const struct kind *kind;
	char *path = c->path ? full_path(c, &kind) : NULL;
	int rc;

	if (!c->path)
		return 0;
	if (!path)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (kind->print == heatmap_html && !flame_has_html())
		rc = fault_usage(f, "--heatmap %s: this perf-prof was built without .html, which `make html` in "
				 "its sources builds it with; .svg and .csv are there", c->path);
	else
		rc = artifact_check("--heatmap", path, f);
	free(path);
	return rc;
}

int heatmap_write(const struct heatmap_config *c, const struct heatmap *h,
		  const struct heatmap_title *title, struct fault *f)
{
	const struct kind *kind;
	char *path = c->path ? full_path(c, &kind) : NULL;
	struct artifact a;
	int rc;

	if (!c->path)
		return 0;
	if (!path)
		return fault_set(f, EXIT_FAILED, "out of memory");
	rc = artifact_open(&a, "--heatmap", path, f);
	if (!rc && kind->print(h, title, a.out)) {
		rc = fault_set(f, EXIT_FAILED, "--heatmap %s: out of memory, or not built in", path);
		artifact_abandon(&a);
	} else if (!rc) {
		rc = artifact_close(&a, f);
	}
	free(path);
	return rc;
}
