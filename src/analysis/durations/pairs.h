/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of events: something begins with one and ends with another of the same key. A
 * command says what each sample begins and ends; here the durations are kept, shown, and
 * told one by one where they are too long.
 */
#ifndef ANALYSIS_DURATIONS_PAIRS_H
#define ANALYSIS_DURATIONS_PAIRS_H

#include "analysis/durations/grouping.h"
#include "engine/history.h"
#include "report/heatmap.h"

/* Options of all commands on pairs: --than, --perins, --heatmap. At the head of their configs. */
struct pair_opts {
	struct analysis_opts common;
	uint64_t than;               /* ns; 0: nothing is told one by one */
	bool per_instance;           /* --perins */
	enum group_by by;            /* --by: of commands whose rows are tasks */
	struct heatmap_config heatmap;
};
enum { PAIR_NOPTS = 2, PAIR_SOURCE_NOPTS = 1 };   /* sources have the first one, --than */
extern const struct opt pair_opts_rows[PAIR_NOPTS];
/* --by, for commands that call pairs_group(). */
enum { PAIR_BY_NOPTS = 1 };
extern const struct opt pair_by_opts[PAIR_BY_NOPTS];
/* The group of --heatmap, in a command's table of groups. */
#define PAIR_PICTURE_GROUP { "Pictures", heatmap_opts, HEATMAP_OPTS, offsetof(struct pair_opts, heatmap) }

struct pair_ops {
	const struct distribution_view *view;   /* NULL: no table, none of pair_opts; no pairs_add() */
	/* What is said before a duration that is too long: "bash 12 futex(202)". */
	void (*title)(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size);
	/* Whether a sample between the two belongs to the story. NULL: none does. */
	bool (*between)(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu);
	bool history;                /* samples are kept for --than */
	bool states;                 /* something is always open: what isn't paired is not told */
};

/* One that has begun and not ended; or that has ended, and keeps its place for the next of
 * its key. */
struct open_pair {
	uint64_t key, start;
	uint64_t value;              /* what pairs_start() was given */
	bool is_open;
	UT_hash_handle hh;
};

struct pairs {
	struct analysis *a;
	const struct pair_ops *ops;
	struct open_pair *all;
	struct open_pair *spare;     /* of no key any more, linked by hh.next */
	size_t nopen;
	struct distributions rows;
	struct grouping grouping;    /* of rows by pairs_add_task() */
	struct history *history;
	struct heatmap *heatmap;     /* NULL without --heatmap */
	uint64_t from;               /* the interval's beginning */
	uint64_t last;               /* time of the newest sample */
	uint64_t restarted;          /* begun again before they ended */
	uint64_t unbegun;            /* ended without having begun in sight */
	uint64_t refused;            /* begun, but there was no room */
	uint64_t told;               /* longer than --than */
};

/* For analysis_ops.reads: --than prints whole samples. */
uint64_t pairs_read(const struct analysis *a, uint64_t parts);
/* 0, or -1 with f. */
int pairs_begin(struct pairs *p, struct analysis *a, const struct pair_ops *ops, struct fault *f);
/* Behind it, where rows are tasks: which of them share a row without --by. By task and by name are possible. */
void pairs_group(struct pairs *p, enum group_by usual);
/* A record, for analysis_ops.task. */
void pairs_task(struct pairs *p, const struct pev_record *rec);
void pairs_free(struct pairs *p);
/* To be called once for each sample, first. */
void pairs_see(struct pairs *p, const struct analysis_sample *s);
/* value: the command's own, given back at the end. */
void pairs_start(struct pairs *p, const struct analysis_sample *s, uint64_t key, uint64_t value);
/* The one of that key that has begun and not ended; NULL: there is none. Valid until it is
 * closed. */
struct open_pair *pairs_find(struct pairs *p, uint64_t key);
struct pair_end {
	uint64_t start, duration;
	uint64_t value;              /* what pairs_start() was given */
};
/* Whether it had begun; *end is filled then. */
bool pairs_end(struct pairs *p, const struct analysis_sample *s, uint64_t key, struct pair_end *end);
/* Ends one that was found: with the sample, and begins it anew with that; with the sample; or
 * without anything being known of its end. */
void pairs_turn(struct open_pair *o, const struct analysis_sample *s, uint64_t value,
		struct pair_end *end);
void pairs_close(struct pairs *p, struct open_pair *o, const struct analysis_sample *s,
		 struct pair_end *end);
void pairs_cancel(struct pairs *p, struct open_pair *o);
/* Adds the duration to the row, which is called `name` from now on, and tells it where it is too long. NULL: the table is full. */
struct distribution *pairs_add(struct pairs *p, const struct analysis_sample *s,
			       const struct pair_end *end, const char *name, uint64_t key,
			       uint64_t row0, uint64_t row1);
/* The same of a task, called `comm` now: to the row that is its own, or its process's, or that of its name. */
struct distribution *pairs_add_task(struct pairs *p, const struct analysis_sample *s, const struct pair_end *end,
				    const char *comm, pid_t tid, uint64_t row1);
/* Of a task that has slept since the last table, of whom no sample tells: nothing ended yet. */
void pairs_add_asleep(struct pairs *p, const char *comm, pid_t tid, uint64_t row1);
/* The table of what has ended since the last one, then nothing is kept but what is open. */
void pairs_print(struct pairs *p);
/* At the end of the run, behind the last table: the picture. 0, or -1 with f. */
int pairs_picture(struct pairs *p, struct fault *f);
#endif
