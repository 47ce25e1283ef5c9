/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: each distinct stack of frame names once, with the sum of its weights. Input for
 * flame graphs (report/flame.h), and the format of .folded files, which can also be read: a line
 * per stack, "root;...;leaf WEIGHT". A last line describes the samples, if known. Other programs
 * skip it, since its last word is not a number:
 *
 *	# samples=1234 alike=1180.5 weight=1236708123 event=cpu-clock inlined=yes
 *
 * Callers fold by address first and look up names at the end: once per distinct stack.
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

/* Kind of a frame: selects its colour. Frames with the same name but another kind are different. */
enum folded_kind {
	FOLDED_USER,
	FOLDED_KERNEL,
	FOLDED_INLINED,
	FOLDED_SCRIPT,               /* Python, JITs */
	FOLDED_UNKNOWN,              /* "[unknown]" */
	FOLDED_TASK,                 /* a root that is not a function: a program, a thread */
	FOLDED_TIME,                 /* the interval */
	FOLDED_BLOCKED,              /* not on a CPU */
	FOLDED_KINDS,
};

enum folded_order { FOLDED_ROOT_FIRST, FOLDED_LEAF_FIRST };

struct folded;

struct folded *folded_new(void);         /* NULL: out of memory */
void folded_free(struct folded *f);

/* The number of a frame: equal for the same name and kind. The name is copied; NULL and "" are
 * "[unknown]". If out of memory or over the limit: 0, which is "[lost]". */
uint32_t folded_frame(struct folded *f, const char *name, enum folded_kind kind);

/* Adds weight to a stack. If out of memory or over the limit (folded_limit()), adds it to the
 * stack "[too many stacks]", so that the total stays right. */
void folded_add(struct folded *f, const uint32_t *frames, size_t n, enum folded_order order,
		uint64_t weight);

/* From now on this text is the root of stacks: the time of the interval. NULL: no longer. */
void folded_interval(struct folded *f, const char *time);
/* Limit in bytes for names and stacks; default: 64 MiB. */
void folded_limit(struct folded *f, size_t bytes);
/* Weight of all stacks, including "[too many stacks]". */
uint64_t folded_total(const struct folded *f);

/* The frames of a program that has another name in the earlier measurement. */
struct folded_renamed {
	uint32_t before, after;      /* in `old` and in `f` */
};
/* Whether the heaviest root of each of the two is not a root of the other. */
bool folded_root_renamed(const struct folded *f, const struct folded *old, struct folded_renamed *root);
/* Sets the stacks of an earlier measurement for comparison: pictures then show the difference. If one of the two is from a
 * file, which shows few kinds, frames are matched by name. root: roots that count as the same; NULL: none. */
void folded_compare(struct folded *f, const struct folded *old, const struct folded_renamed *root);
/* Whether there are inlined frames. A file's last line may say so. */
enum folded_inlined { FOLDED_INLINED_UNKNOWN, FOLDED_NO_INLINED, FOLDED_HAS_INLINED };
enum folded_inlined folded_inlined(const struct folded *f);
void folded_set_inlined(struct folded *f, bool has);
/* The stacks are from a file. folded_read_from() and the others call it. */
void folded_mark_text(struct folded *f);
/* Weight of all earlier stacks; 0: no comparison. */
uint64_t folded_before(const struct folded *f);
/* Weight in "[too many stacks]". */
uint64_t folded_overflow(const struct folded *f);

/* The samples in the stacks. */
struct folded_samples {
	char event[128];             /* the event that their weights count */
	uint64_t n;
	double alike;                /* number of samples of equal weight with the same statistical value */
};
/* Adds samples: weight is part of folded_total(), squares is the sum of the squares of each sample's weight. */
void folded_sampled(struct folded *f, const char *event, uint64_t n, uint64_t weight, double squares);
/* False: not known for all stacks, or they have several events. */
bool folded_samples(const struct folded *f, struct folded_samples *out);

/* Adds time: a weight that is part of folded_total(), and in ns, of waits and such, which are not samples. */
void folded_timed(struct folded *f, uint64_t weight);
/* Whether all stacks are such times. */
bool folded_is_time(const struct folded *f);

/* Adds the samples of a command from its start, whose weights are ns: weight is part of folded_total(). */
void folded_of_command(struct folded *f, uint64_t weight);
/* Whether all stacks are samples of one run of a command, so that its times can be compared with those of other runs. */
bool folded_is_of_command(const struct folded *f);

/* Functions without a name, "gzip+0x4290", are the same ones only in the same build of a file. build: a word; "": not known. A
 * file has its builds in the last line, before "inlined=" or "unit=": builds=gzip:5dc7...,dash:be63... */
enum { FOLDED_BUILD_SIZE = 48 };
void folded_set_build(struct folded *f, const char *function, const char *build);
/* "": not known, or the stacks are of several. */
const char *folded_build(const struct folded *f, const char *function);
/* Prints " builds=...", if some are known. */
void folded_print_builds(const struct folded *f, FILE *out);
/* Reads the builds from the last line of a file, whose stacks have this weight. */
void folded_take_builds(struct folded *f, const char *text, uint64_t weight);

/* Prints lines sorted by the names of frames. In names, ';' becomes ':', and control characters
 * are escaped. 0 or -ENOMEM. */
int folded_print(const struct folded *f, FILE *out);
/* Opens such a file with the rights of the user who ran sudo: a descriptor, or -1 with f. */
int folded_open(const char *path, struct fault *f);
/* Adds the stacks in a file from folded_print() or another tool. 0, or -1 with f: not such a
 * file. Kinds are known only if names show them ("[k]", "_[k]" and the like). It closes fd. */
int folded_read_from(struct folded *folded, int fd, const char *name, struct fault *f);
int folded_take(struct folded *folded, FILE *in, const char *name, struct fault *f);

/* ---- for pictures ------------------------------------------------------------------------ */

struct folded_stack {
	const uint32_t *frames;      /* root first */
	size_t n;
	uint64_t weight, before;
};

/* All stacks, sorted by the names of their frames, so that stacks with a common beginning are
 * adjacent. Frames are borrowed from f. NULL: out of memory; free() it. */
struct folded_stack *folded_stacks(const struct folded *f, size_t *n);
/* Upper limit of frame numbers. */
size_t folded_frames(const struct folded *f);
const char *folded_frame_name(const struct folded *f, uint32_t frame);
enum folded_kind folded_frame_kind(const struct folded *f, uint32_t frame);
#endif
