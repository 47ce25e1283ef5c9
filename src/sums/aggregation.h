/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's batches as sums: whoever asks for the next batch reads the session's, and sums them. Used as a session is.
 * An interval ends with the first event of a later one; where none comes, a timer ends it.
 */
#ifndef SUMS_AGGREGATION_H
#define SUMS_AGGREGATION_H

#include "session/session.h"
#include "sums/sums.h"

struct aggregation;

/* Keeps the session, whose batches nobody else may take. live: its events come as time goes by. NULL with f. */
struct aggregation *aggregation_new(struct session *s, const struct sums_asked *asked, bool live, struct fault *f);
struct aggregation *aggregation_keep(struct aggregation *a);
void aggregation_release(struct aggregation *a);
struct columns *aggregation_columns(struct aggregation *a);
/* Readable while aggregation_next() may return something else than SESSION_WAIT. */
int aggregation_fd(const struct aggregation *a);
/* As session_next(), from any thread. */
enum session_answer aggregation_next(struct aggregation *a, struct batch **out, struct fault *f);
/* False: a fork. */
bool aggregation_stats(struct aggregation *a, struct sums_stats *stats);
#endif
