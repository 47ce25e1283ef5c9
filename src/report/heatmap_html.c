/* SPDX-License-Identifier: Apache-2.0 */
/* A heat map as a page; web/heat.js draws it. A cell is [span, low, high, count]. */
#include "report/heatmap_private.h"

#include "report/page.h"
#include "report/quote.h"

#include <inttypes.h>

struct cells {
	FILE *out;
	bool more;
};

static int put(const struct heatmap_cell *cell, void *arg)
{
	struct cells *c = arg;

	fprintf(c->out, "%s[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", c->more ? ",\n" : "", cell->span,
		cell->low, cell->high, cell->n);
	c->more = true;
	return 0;
}

int heatmap_html(const struct heatmap *h, const struct heatmap_title *title, FILE *out)
{
	const char *name = title->title ? title->title : "heat map";
	struct cells c = { .out = out };

	page_begin(&heat_page, name, out);
	fputs("{\"title\":", out);
	quote_json(name, out);
	fputs(",\"unit\":", out);
	quote_json(heatmap_unit(title), out);
	fprintf(out, ",\"step\":%" PRIu64 ",\"spans\":%zu,\"count\":%" PRIu64 ",\n\"cells\":[\n", h->step,
		h->n, h->count);
	heatmap_each(h, put, &c);
	fputs("]}", out);
	page_end(&heat_page, out);
	return 0;
}
