/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --heatmap FILE: the distribution of values (latencies in ns, ...) over time. A histogram for
 * each of up to 512 spans of time. When a run gets too long for them, the spans' length doubles,
 * so memory is limited.
 *
 *	.html       self-contained, interactive (if it was built in)
 *	.svg        static, self-contained
 *	.csv        time_ns,low,high,count
 *
 * A name without a suffix gets ".svg" (report/picture.h).
 */
#ifndef REPORT_HEATMAP_H
#define REPORT_HEATMAP_H

#include "base/fault.h"
#include "base/options.h"

#include <stdint.h>

struct heatmap_config {
	const char *path;                /* --heatmap */
};

enum { HEATMAP_OPTS = 1 };
extern const struct opt heatmap_opts[HEATMAP_OPTS];

struct heatmap_title {
	const char *title;               /* "perf-prof kvm-exit" */
	const char *unit;                /* of the values; NULL: ns */
};

struct heatmap;

struct heatmap *heatmap_new(void);       /* NULL: out of memory */
void heatmap_free(struct heatmap *h);
/* time: ns of any clock, in any order. */
void heatmap_add(struct heatmap *h, uint64_t time, uint64_t value);

/* As flame_check() and flame_write(). */
int heatmap_check(const struct heatmap_config *c, int verbose, struct fault *f);
int heatmap_write(const struct heatmap_config *c, const struct heatmap *h,
		  const struct heatmap_title *title, struct fault *f);
#endif
