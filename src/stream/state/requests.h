/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a recording while it runs: a dump of memory (record/dumps.h), the next file
 * (record/recorder.h). */
#ifndef STREAM_STATE_REQUESTS_H
#define STREAM_STATE_REQUESTS_H

#include <stdint.h>

struct stream;

/* ns. Requests within this time share a dump. A dump is written no sooner than this after the last
 * request: by then the records of that moment have been read from the rings of all CPUs. */
#define DUMPS_PATIENCE UINT64_C(20000000)

/* Requests a dump for an event at `time` (perf clock). `why` must outlive the stream. */
void request_dump(struct stream *s, uint64_t time, const char *why);
/* For SIGUSR2: a dump up to now. */
void request_dump_now(struct stream *s);
/* Begins the next file with the next round. */
void request_next_file(struct stream *s);
#endif
