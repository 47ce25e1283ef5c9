/* SPDX-License-Identifier: Apache-2.0 */
/* One function per kind of picture, and what they share. */
#ifndef REPORT_FLAME_PRIVATE_H
#define REPORT_FLAME_PRIVATE_H

#include "report/flame.h"

/* Each 0 or -ENOMEM; what the stream says about writing is seen when it is closed. */
int flame_svg(const struct folded *f, const struct flame_title *title, FILE *out);
int flame_html(const struct folded *f, const struct flame_title *title, FILE *out);
int flame_speedscope(const struct folded *f, const struct flame_title *title, FILE *out);

/* A frame in one place of the tree. Units are weights. */
struct flame_node {
	uint32_t frame;
	size_t depth;                /* 0: a root */
	uint64_t start;              /* of all weights to the left */
	uint64_t weight, before;     /* with all above it */
};

/* Calls fn for each node, a node after those above it. Total: folded_total(). */
int flame_walk(const struct folded *f, void (*fn)(const struct flame_node *node, void *arg),
	       void *arg);

/* Change of a node's share of all, -1..1. */
double flame_change(const struct folded *f, const struct flame_node *node);

/* How the unit is told in titles: "samples". */
const char *flame_unit(const struct flame_title *title);
#endif
