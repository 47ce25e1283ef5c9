/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a recording while it runs: a dump of what is kept in memory (dumps.h), the next file (recorder.h). */
#ifndef STREAM_REQUESTS_H
#define STREAM_REQUESTS_H

#include <stdint.h>

struct stream;

/* Something happened at that time; why outlives the stream. What follows within DUMPS_PATIENCE comes into the
 * same file. */
void request_dump(struct stream *s, uint64_t time, const char *why);
/* SIGUSR2. */
void request_dump_now(struct stream *s);
/* The next file begins with the next round. */
void request_next_file(struct stream *s);
#endif
