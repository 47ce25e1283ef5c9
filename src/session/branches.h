/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's batches by event: a branch has the rows of one event, and all losses. Whoever asks a branch for its next batch
 * reads the session's, and gives all branches their rows. So nobody waits for a branch that is not read: its rows wait up to
 * a limit. What comes after that is dropped, and then reported as a loss, lost:stream.
 */
#ifndef SESSION_BRANCHES_H
#define SESSION_BRANCHES_H

#include "session/session.h"

struct branches;
struct branch;

/* Keeps the session, whose batches nobody else may take. NULL: no memory. */
struct branches *branches_new(struct session *s);
/* Branches that are still used live on. */
void branches_release(struct branches *all);
/* Drops the batches that nobody took. */
void branches_drop(struct branches *all);

/* The rows of an event, named in UTF-8 as in the column _event. Only before a branch is first read. limit: bytes of rows that
 * wait. NULL with f. */
struct branch *branch_new(struct branches *all, const char *event, size_t limit, struct fault *f);
struct branch *branch_keep(struct branch *b);
void branch_release(struct branch *b);
struct columns *branch_columns(struct branch *b);
/* Readable while branch_next() may return something else than SESSION_WAIT, once branch_next() or branch_watch() was called. */
int branch_fd(const struct branch *b);
/* A recording begins to be read. */
void branch_watch(struct branch *b);
/* As session_next(), from any thread. An error of the session is reported by each branch. */
enum session_answer branch_next(struct branch *b, struct batch **out, struct fault *f);
/* Nothing comes any more, and what waits is dropped. */
void branch_close(struct branch *b);

struct branch_stats {
	uint64_t rows;                  /* taken */
	uint64_t waiting;               /* rows not taken yet */
	uint64_t dropped;               /* rows, and losses that were reported among them */
};
/* False: a fork. */
bool branch_stats(struct branch *b, struct branch_stats *stats);
#endif
