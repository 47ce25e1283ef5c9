/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: each distinct stack of frame names once, with the sum of its weights. What
 * flame graphs (report/flame.h) are made of, and the .folded files that they are also read
 * from: a line per stack, "root;...;leaf WEIGHT". Where it is known of which samples they are, a last
 * line says so, which other programs skip, as no number stands alone at its end:
 *
 *	# samples=1234 alike=1180.5 weight=1236708123 event=cpu-clock
 *
 * Callers fold by address first and look names up at the end: once per distinct stack.
 *
 *	struct folded *f = folded_new();
 *	uint32_t frames[127];
 *
 *	for (i = 0; i < nips; i++)
 *		frames[i] = folded_frame(f, symbol_of(ips[i]), FOLDED_USER);
 *	folded_add(f, frames, nips, FOLDED_LEAF_FIRST, samples);
 */
#ifndef REPORT_FOLDED_H
#define REPORT_FOLDED_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a frame is: its colour. Frames of one name and different kinds are different. */
enum folded_kind {
	FOLDED_USER,
	FOLDED_KERNEL,
	FOLDED_INLINED,
	FOLDED_SCRIPT,               /* Python, JITs */
	FOLDED_UNKNOWN,              /* "[unknown]" */
	FOLDED_TASK,                 /* a root that is no function: a program, a thread */
	FOLDED_TIME,                 /* the interval */
	FOLDED_BLOCKED,              /* not on a CPU */
	FOLDED_KINDS,
};

enum folded_order { FOLDED_ROOT_FIRST, FOLDED_LEAF_FIRST };

struct folded;

struct folded *folded_new(void);         /* NULL: no memory */
void folded_free(struct folded *f);

/* The number of a frame, the same for the same name and kind. The name is copied; NULL and ""
 * are "[unknown]". 0, which is "[lost]", without memory and beyond the bound. */
uint32_t folded_frame(struct folded *f, const char *name, enum folded_kind kind);

/* Adds weight to that stack. Without memory, or beyond the bound of folded_limit(), it goes to
 * the stack "[too many stacks]", so that the sum stays right. */
void folded_add(struct folded *f, const uint32_t *frames, size_t n, enum folded_order order,
		uint64_t weight);
/* The same by names, all of one kind. */
void folded_add_names(struct folded *f, const char *const *names, size_t n, enum folded_order order,
		      enum folded_kind kind, uint64_t weight);

/* From here on, the root of stacks is a frame of this text: the time of the interval. NULL: no
 * more. */
void folded_interval(struct folded *f, const char *time);
/* Bytes that names and stacks may take; 64 MiB without. */
void folded_limit(struct folded *f, size_t bytes);
/* Of all stacks, the ones without memory included. */
uint64_t folded_total(const struct folded *f);
/* Distinct ones. */
size_t folded_count(const struct folded *f);
/* Sets the stacks of another measurement beside these, as what was before: pictures then show
 * the difference. Of kinds that only one of them knows (a file that was read), names decide. */
void folded_compare(struct folded *f, const struct folded *old);
/* What all of them weighed before; 0: nothing is compared. */
uint64_t folded_before(const struct folded *f);
/* Weight in "[too many stacks]". */
uint64_t folded_overflow(const struct folded *f);

/* The samples that stacks are of. */
struct folded_samples {
	char event[128];             /* what their weights count */
	uint64_t n;
	double alike;                /* they tell as much as so many of one weight */
};
/* More of them: that weight is part of folded_total(), squares the sum of the squares of each one's. */
void folded_sampled(struct folded *f, const char *event, uint64_t n, uint64_t weight, double squares);
/* False: it is not known of all that is there, or they are of several events. */
bool folded_samples(const struct folded *f, struct folded_samples *out);

/* Lines sorted by the names of frames. In a name, ';' is written as ':', and control characters
 * are escaped. 0 or -ENOMEM. */
int folded_print(const struct folded *f, FILE *out);
/* Adds what folded_print() wrote, or another tool. 0, or -1 with f: not such a file. Of its
 * kinds only those that names show ("[k]", "_[k]" and the like) are known. */
int folded_read(struct folded *folded, const char *path, struct fault *f);
/* From a descriptor, which it closes. */
int folded_read_from(struct folded *folded, int fd, const char *name, struct fault *f);
int folded_take(struct folded *folded, FILE *in, const char *name, struct fault *f);

/* ---- for pictures ------------------------------------------------------------------------ */

struct folded_stack {
	const uint32_t *frames;      /* root first */
	size_t n;
	uint64_t weight, before;
};

/* All stacks as they are now, sorted by the names of their frames, so that stacks with a common
 * beginning stand together. Frames are borrowed from f. NULL without memory; free() it. */
struct folded_stack *folded_stacks(const struct folded *f, size_t *n);
/* Frames have numbers below this. */
size_t folded_frames(const struct folded *f);
const char *folded_frame_name(const struct folded *f, uint32_t frame);
enum folded_kind folded_frame_kind(const struct folded *f, uint32_t frame);
#endif
