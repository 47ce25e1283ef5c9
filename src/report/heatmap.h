/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --heatmap FILE: how many values (latencies in ns, ...) came when. A histogram per span of
 * time, up to 512 of them: where a run becomes longer, spans grow to twice their length, so
 * that memory stays bounded.
 *
 *	.html       self-contained, interactive (where it was built in)
 *	.svg        static, self-contained
 *	.csv        time_ns,low,high,count
 *
 * A name without a suffix gets ".svg" behind it (report/picture.h).
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
	const char *unit;                /* of values; NULL: ns */
};

struct heatmap;

struct heatmap *heatmap_new(void);       /* NULL: no memory */
void heatmap_free(struct heatmap *h);
/* time: ns of any clock, in any order. */
void heatmap_add(struct heatmap *h, uint64_t time, uint64_t value);
uint64_t heatmap_count(const struct heatmap *h);

/* As flame_check() and flame_write(). */
int heatmap_check(const struct heatmap_config *c, int verbose, struct fault *f);
int heatmap_write(const struct heatmap_config *c, const struct heatmap *h,
		  const struct heatmap_title *title, struct fault *f);
#endif
