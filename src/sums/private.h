/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUMS_PRIVATE_H
#define SUMS_PRIVATE_H

#include "sums/buckets.h"
#include "sums/groups.h"
#include "sums/pairing.h"
#include "sums/sums.h"

enum { MAX_KEYS = 63 };   /* there is a bit for each null */

enum fold { FOLD_COUNT, FOLD_SUM, FOLD_MIN, FOLD_MAX, FOLD_HISTOGRAM };

struct key {
	struct operand operand;
	struct dictionary texts;        /* of a text key: the words of groups are numbers of these */
	struct texts *seen;             /* kept: the texts of the batch before, */
	int32_t *map;                   /* and their numbers in `texts`; -1: not known */
	size_t map_room;
	struct vector *vector;
};

/* What a row does to a sum: the fold for a type of values. */
enum step { STEP_ALL, STEP_TRUE, STEP_SUM, STEP_MIN_S, STEP_MIN_U, STEP_MAX_S, STEP_MAX_U };

struct value {
	enum fold fold;
	enum step step;
	struct operand operand;
	struct buckets buckets;         /* of a histogram */
	const struct value *same;       /* an earlier one, with the same pairs, whose vector this has; or NULL */
	struct vector *vector;
};

/* A column of the result. */
enum result_kind { RESULT_TIME, RESULT_EVENT, RESULT_LOST, RESULT_KEY, RESULT_LOW, RESULT_HIGH, RESULT_VALUE };
struct result {
	enum result_kind kind;
	uint32_t of;                    /* the key or value */
};

/* Causes of losses: those of streams, then our own. */
enum { LOST_KEYS = LOSS_NAMES, LOST_PAIRS, LOSSES };
struct loss {
	uint64_t count, times;
};

/* Neighbouring rows that have the same key, which is frequent: they are summed together. */
struct run {
	uint32_t from, to, group;
};

struct chunk {
	bool counts[SUMS_CHUNK];        /* the row has a value */
	bool begins[SUMS_CHUNK];        /* its key differs from that of the row before */
	struct vector buckets;          /* of the histogram: where they begin */
	struct run runs[SUMS_CHUNK];
	size_t nruns;
};

struct sums {
	struct row_area area;           /* has the columns of the input */
	struct columns *columns;        /* of the result */
	struct result *results;
	ssize_t time, event, lost;      /* columns of the input; time: -1: there is none */

	struct key *keys;
	struct value *values;
	size_t nkeys, nvalues, max_keys;
	ssize_t histogram;              /* the value that has buckets: the word after the keys; -1: none */
	ssize_t event_key;              /* the key that is the column _event; -1: none */
	struct dictionary loss_texts;   /* of the column _event, unless it is a key */
	struct groups groups;           /* words: the keys, the bucket, a bit for each null */

	bool begun, added;              /* start is set; something to take */
	uint64_t interval, start, end;
	struct loss losses[LOSSES];     /* of this interval */
	uint64_t rows, no_value, lost_keys;
	/* Of the present chunk. */
	struct chunk *chunk;
};

/* asked.c: compiles what is asked for. 0, or -1 with f. */
int sums_compile(struct sums *s, const struct sums_asked *asked, const char *const *events, struct fault *f);
/* result.c: the columns of the result. 0, or -1 with f. */
int result_make(struct sums *s, const struct sums_asked *asked, struct fault *f);
#endif
