/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --overwrite: events are kept, the newest in place of the oldest, and shown when something
 * triggers it.
 *
 * They are kept here and not in the kernel's own overwritten rings. Such a ring stands still
 * while it is read, so that what comes behind the trigger is lost; one CPU's reaches further
 * back than another's; and the trigger has to be read from a ring that is not overwritten,
 * without an order between the two. What is read all the time costs CPU, but all that can be
 * asked about an event is there: filters, sources, order, names by its time.
 */
#ifndef ENGINE_OVERWRITE_H
#define ENGINE_OVERWRITE_H

#include "engine/history.h"

struct overwrite_opts {
	bool on;                     /* --overwrite */
	uint64_t last;               /* --last, ns; 0: all that is kept */
	uint64_t bytes;              /* --keep; 0: the default */
};
enum { OVERWRITE_NOPTS = 3 };
extern const struct opt overwrite_opts_rows[OVERWRITE_NOPTS];

/* How an event is shown. */
typedef void overwrite_print_fn(struct analysis *a, const struct analysis_sample *s, const char *comm);

struct overwrite {
	const struct overwrite_opts *opts;
	struct history *history;
	overwrite_print_fn *print;
	uint64_t asked;              /* SIGUSR2: when; perf clock, 0: not */
	uint64_t dumps, limit;       /* -N: so many; 0: no limit */
	uint64_t overwritten;        /* told so far */
};

/* --last and --keep, for the option rows of others. */
int overwrite_parse_last(const char *text, void *field, struct fault *f);
int overwrite_parse_keep(const char *text, void *field, struct fault *f);

/* Before stream_new(): what the options can't be, and order of time. 0, or -1 with f. */
int overwrite_prepare(const struct overwrite_opts *opts, struct stream_opts *stream, struct fault *f);
/* Events are known. 0, or -1 with f. */
int overwrite_begin(struct overwrite *o, struct analysis *a, const struct overwrite_opts *opts,
		    overwrite_print_fn *print, struct fault *f);
void overwrite_free(struct overwrite *o);
void overwrite_take(struct overwrite *o, struct analysis *a, const struct analysis_sample *s);
/* SIGUSR2 came: what happened by now is shown once it was read. */
void overwrite_ask(struct overwrite *o, struct analysis *a);
/* Time passes: true once all that was asked for has been shown (-N). */
bool overwrite_look(struct overwrite *o, struct analysis *a);
void overwrite_end(struct overwrite *o, struct analysis *a);
#endif
