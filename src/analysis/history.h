/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last samples, copied into a bounded ring: for what happened between the beginning of
 * something and its end, when that turns out to have taken too long.
 */
#ifndef ANALYSIS_HISTORY_H
#define ANALYSIS_HISTORY_H

#include "analysis/analysis.h"

struct history;

/* NULL without memory. */
struct history *history_new(size_t bytes);
void history_free(struct history *h);
/* The oldest ones make room. Copies rec and what of raw does not lie in it. */
void history_add(struct history *h, const struct analysis_sample *s);
typedef void history_fn(struct analysis *a, const struct analysis_sample *s, void *ctx);
/* Samples with from <= time <= to, oldest first. False: those before some time are gone,
 * which lies behind `from`. */
bool history_each(struct history *h, struct analysis *a, uint64_t from, uint64_t to,
		  history_fn *fn, void *ctx);
#endif
