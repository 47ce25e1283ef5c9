/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --overwrite: events are kept in memory, where new ones replace the oldest, and are shown (a
 * dump) when a trigger comes.
 *
 * The kernel's overwritable rings are not used. Such a ring is paused while it is read, so that
 * events after the trigger are lost; the rings of different CPUs begin at different times; and
 * the trigger has to come from another ring, so that its order relative to the events is not
 * known. Reading all events costs CPU time, but filters, sources, order and the names at the
 * time of an event work as usual.
 */
#ifndef ENGINE_OVERWRITE_H
#define ENGINE_OVERWRITE_H

#include "engine/history.h"

struct overwrite_opts {
	bool on;                     /* --overwrite */
	uint64_t last;               /* --last, ns; 0: all kept events */
	uint64_t bytes;              /* --keep; 0: the default */
};
enum { OVERWRITE_NOPTS = 3 };
extern const struct opt overwrite_opts_rows[OVERWRITE_NOPTS];

/* Prints an event. */
typedef void overwrite_print_fn(struct analysis *a, const struct analysis_sample *s, const char *comm);

struct overwrite {
	const struct overwrite_opts *opts;
	struct history *history;
	overwrite_print_fn *print;
	uint64_t asked;              /* time of SIGUSR2, perf clock; 0: none */
	uint64_t dumps, limit;       /* limit: -N; 0: no limit */
	uint64_t overwritten;        /* reported so far */
};

/* --last and --keep, for options of other commands. */
int overwrite_parse_last(const char *text, void *field, struct fault *f);
#define OVERWRITE_KEEP_LIMITS \
	.least = 64 << 10, .most = SIZE_MAX / 2, .expected = "a size with a unit, 64K or more, such as 256M"

/* Before stream_new(): checks the options, and turns on order by time. 0, or -1 with f. */
int overwrite_prepare(const struct overwrite_opts *opts, struct stream_opts *stream, struct fault *f);
/* To be called when the events are known. 0, or -1 with f. */
int overwrite_begin(struct overwrite *o, struct analysis *a, const struct overwrite_opts *opts,
		    overwrite_print_fn *print, struct fault *f);
void overwrite_free(struct overwrite *o);
void overwrite_take(struct overwrite *o, struct analysis *a, const struct analysis_sample *s);
/* After SIGUSR2: events up to now are shown as soon as they are read. */
void overwrite_ask(struct overwrite *o, struct analysis *a);
/* To be called regularly. True: there were as many dumps as -N allows. */
bool overwrite_look(struct overwrite *o, struct analysis *a);
void overwrite_end(struct overwrite *o, struct analysis *a);
#endif
