/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums by key: many rows in, a row for each key out. The rows of a session's batches are read in order; at the end of
 * an interval of their own clock, a batch has the sums, which then begin again.
 *
 *	s = sums_new(&asked, columns, events, &f);
 *	while (sums_add(s, batch, &row))          an interval has ended before that row
 *		out = sums_take(s);
 *
 * Columns of the result: _time (the beginning of the interval), _event, _lost, the keys, the values. _event and _lost
 * are as in sessions: a loss is a row of its own, also what did not fit into the memory for keys ("lost:keys") or open
 * pairs ("lost:pairs"). In other rows they are null, unless _event is a key.
 *
 * Rows are taken in chunks, column by column. Memory grows with keys only, up to max_keys. Nothing here needs more than
 * a hash table of numbers, so that the kernel could do it.
 */
#ifndef SUMS_SUMS_H
#define SUMS_SUMS_H

#include "base/fault.h"
#include "columns/batch.h"

struct sums;

/* A column of the result: its name, and what is in it. */
struct sums_word {
	const char *name, *text;
};

enum { SUMS_MAX_KEYS = 1 << 24 };

struct sums_asked {
	const struct sums_word *keys;   /* a column, or an expression over columns */
	size_t nkeys;
	const struct sums_word *values; /* count(), count(E), sum(E), min(E), max(E), histogram(E, "log2" | "linear", N |
					 * "loglinear", N). E: an expression, or pair("START", "END", KEY[, KEY OF END]) */
	size_t nvalues;
	const struct plans *plans;      /* which events have which columns; NULL: not known */
	uint64_t interval;              /* ns of _time; 0: one, without an end */
	size_t max_keys;                /* 1 to SUMS_MAX_KEYS */
};

/* For batches with these columns, which are kept, and these events (names, ends with NULL). NULL with f. */
struct sums *sums_new(const struct sums_asked *asked, struct columns *in, const char *const *events, struct fault *f);
void sums_free(struct sums *s);
/* Those of the result. They live as long as `s`. */
struct columns *sums_columns(struct sums *s);
/* Adds the rows from *row on, and moves *row. True: row *row is of a later interval; call sums_take() and then again. */
bool sums_add(struct sums *s, const struct batch *b, size_t *row);
/* Nothing was added since sums_take(). */
bool sums_is_empty(const struct sums *s);
/* The sums as a batch; they begin again. NULL: there are none, or no memory, and then they stay. */
struct batch *sums_take(struct sums *s);

struct sums_stats {
	uint64_t rows;                  /* events that were read */
	uint64_t keys;                  /* of the present interval */
	uint64_t no_value;              /* an expression or a key of a pair had no value: a null, or a division by zero */
	uint64_t lost_keys;             /* events that did not fit */
	uint64_t open_pairs;            /* begun, not ended */
	uint64_t dropped_pairs;         /* begun, and dropped: because of a loss, or no memory for them */
};
void sums_stats(const struct sums *s, struct sums_stats *stats);
#endif
