/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --flame-graph FILE: folded stacks as a picture, of the kind that the suffix says.
 *
 *	.folded             text, a line per stack
 *	.svg                static, self-contained
 *	.html               self-contained, with zoom and search (where it was built in)
 *	.speedscope.json    for speedscope
 *
 * A name without a suffix gets ".folded" behind it (report/picture.h). The file appears when it is
 * whole (base/artifact.h).
 */
#ifndef REPORT_FLAME_H
#define REPORT_FLAME_H

#include "base/fault.h"
#include "base/options.h"
#include "report/folded.h"

#include <stdbool.h>

/* Part of a command's config; zeroed: no picture is wanted. Options: flame_opts. */
struct flame_config {
	const char *path;            /* --flame-graph */
	const char *before;          /* --flame-graph-before: a .folded to compare with */
	struct folded *old;          /* the stacks of before, once they are read */
	bool compared;               /* stacks come with what was before: folded_compare() */
};

enum { FLAME_OPTS = 2 };
extern const struct opt flame_opts[FLAME_OPTS];

struct flame_title {
	const char *title;           /* "perf-prof profile -F 997 -g" */
	const char *unit;            /* of weights: "samples", "ns", "bytes"; NULL: samples */
};

/* Before the work is done: whether that kind can be made, and the file; reads c->before, unless the caller has. 0, or
 * -1 with f. verbose: of the hint (base/note.h) where the file isn't called as c->path says. */
int flame_check(struct flame_config *c, int verbose, struct fault *f);
/* Does nothing without c->path. c->old becomes folded's "before", and is freed. 0, or -1 with f. */
int flame_write(struct flame_config *c, struct folded *folded, const struct flame_title *title,
		struct fault *f);
/* What was read of c->before, where flame_write() isn't reached. */
void flame_free(struct flame_config *c);
/* Kinds that somebody else's stream can take. */
enum flame_kind { FLAME_FOLDED, FLAME_SPEEDSCOPE };
/* 0 or -ENOMEM; what the stream says about writing is seen when it is closed. */
int flame_print(const struct folded *folded, enum flame_kind kind, const struct flame_title *title, FILE *out);
/* Whether .html was built in. */
bool flame_has_html(void);
#endif
