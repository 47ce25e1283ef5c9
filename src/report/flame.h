/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --flame-graph FILE: folded stacks as a picture. The suffix selects its kind:
 *
 *	.folded             text, a line per stack
 *	.svg                static, self-contained
 *	.html               self-contained, with zoom and search (if it was built in)
 *	.speedscope.json    for speedscope
 *
 * A name without a suffix gets ".folded" (report/picture.h). The file appears when it is complete
 * (base/artifact.h).
 */
#ifndef REPORT_FLAME_H
#define REPORT_FLAME_H

#include "base/fault.h"
#include "base/options.h"
#include "report/folded.h"

#include <stdbool.h>

/* Part of a command's config; zeroed: no picture. Options: flame_opts. */
struct flame_config {
	const char *path;            /* --flame-graph */
	const char *before;          /* --flame-graph-before: a .folded to compare to */
	int before_fd;
	bool before_is_open;
	struct folded *old;          /* the stacks in `before`, once read */
	struct folded *folded;       /* from flame_begin(): the stacks to be drawn; NULL: no picture */
	bool compared;               /* the caller has called flame_compare() already */
};

enum { FLAME_OPTS = 2 };
extern const struct opt flame_opts[FLAME_OPTS];

struct flame_title {
	const char *title;           /* "perf-prof profile -F 997 -g" */
	const char *unit;            /* of the weights: "samples", "ns", "bytes"; NULL: samples */
};

/* The unit of weights that add up to `weight`, from the event of their samples: "ns" of clocks, else the event's name, which
 * is borrowed from s; "samples" if each weighs 1, or if there are none. */
const char *flame_unit_of(const struct folded_samples *s, uint64_t weight);
/* Opens c->before. A command that reads a recording calls it before it opens that, with which root gives up its privilege; the file is
 * read afterwards. 0, or -1 with f. */
int flame_open_before(struct flame_config *c, struct fault *f);
/* Call it before the work: checks whether the kind and the file can be written, and reads
 * c->before unless that was done. 0, or -1 with f. verbose: for the hint (base/note.h) if a suffix was
 * added to c->path. */
int flame_check(struct flame_config *c, int verbose, struct fault *f);
/* flame_check(), which also makes c->folded if there is a path. */
int flame_begin(struct flame_config *c, int verbose, struct fault *f);
/* folded_compare(). match_roots: a program with another name is the same program, which a line on stderr says. */
void flame_compare(struct folded *folded, const struct folded *old, bool match_roots);
/* Does nothing without c->path. c->old becomes the "before" of folded, and is freed. 0, or -1 with f. */
int flame_write(struct flame_config *c, struct folded *folded, const struct flame_title *title,
		struct fault *f);
/* Frees c->folded, and the stacks of c->before if flame_write() was not called. */
void flame_free(struct flame_config *c);
/* Kinds that can be written to any stream. */
enum flame_kind { FLAME_FOLDED, FLAME_SPEEDSCOPE };
/* 0 or -ENOMEM; errors of the stream are found when it is closed. */
int flame_print(const struct folded *folded, enum flame_kind kind, const struct flame_title *title, FILE *out);
/* Whether .html was built in. */
bool flame_has_html(void);
#endif
