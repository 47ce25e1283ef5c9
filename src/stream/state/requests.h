/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a recording while it runs: a dump of what is kept in memory (record/dumps.h), the next file (record/recorder.h). */
#ifndef STREAM_STATE_REQUESTS_H
#define STREAM_STATE_REQUESTS_H

#include <stdint.h>

struct stream;

/* Dumps asked for within this time (ns) share a file. It is written no sooner than that after the last of them:
 * by then the other CPUs' records of the moment have been read. */
#define DUMPS_PATIENCE UINT64_C(20000000)

/* Something happened at that time; why outlives the stream. What follows within DUMPS_PATIENCE comes into the
 * same file. */
void request_dump(struct stream *s, uint64_t time, const char *why);
/* SIGUSR2. */
void request_dump_now(struct stream *s);
/* The next file begins with the next round. */
void request_next_file(struct stream *s);
#endif
