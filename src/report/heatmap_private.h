/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HEATMAP_PRIVATE_H
#define REPORT_HEATMAP_PRIVATE_H

#include "report/heatmap.h"
#include "table/histogram.h"

#include <stddef.h>
#include <stdio.h>

enum { HEATMAP_SPANS = 512 };

struct heatmap {
	uint64_t start, step;            /* ns: spans begin at start + i * step */
	uint64_t count;
	size_t n;                        /* spans in use; 0: no values yet */
	struct histogram spans[HEATMAP_SPANS];
};

/* Each returns 0 or -ENOMEM. */
int heatmap_svg(const struct heatmap *h, const struct heatmap_title *title, FILE *out);
int heatmap_html(const struct heatmap *h, const struct heatmap_title *title, FILE *out);

/* The number of values from low to high (inclusive) in one span. */
struct heatmap_cell {
	size_t span;
	uint64_t low, high, n;
};
int heatmap_each(const struct heatmap *h, int (*fn)(const struct heatmap_cell *cell, void *arg),
		 void *arg);

const char *heatmap_unit(const struct heatmap_title *title);
#endif
