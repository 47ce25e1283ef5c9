/* SPDX-License-Identifier: Apache-2.0 */
/* A function per kind of picture, and shared functions. */
#ifndef REPORT_FLAME_PRIVATE_H
#define REPORT_FLAME_PRIVATE_H

#include "report/flame.h"

/* Each returns 0 or -ENOMEM; errors of the stream are found when it is closed. */
int flame_svg(const struct folded *f, const struct flame_title *title, FILE *out);
int flame_html(const struct folded *f, const struct flame_title *title, FILE *out);
int flame_speedscope(const struct folded *f, const struct flame_title *title, FILE *out);

/* A frame at one place in the tree. Units are weights. */
struct flame_node {
	uint32_t frame;
	size_t depth;                /* 0: a root */
	uint64_t start;              /* sum of all weights to the left */
	uint64_t weight, before;     /* including all frames above it */
};

/* Calls fn for each node, after the nodes above it. The total is folded_total(). */
int flame_walk(const struct folded *f, void (*fn)(const struct flame_node *node, void *arg),
	       void *arg);

/* Change of a node's share of the total, -1..1. */
double flame_change(const struct folded *f, const struct flame_node *node);

/* The unit for titles: "samples". */
const char *flame_unit(const struct flame_title *title);
#endif
