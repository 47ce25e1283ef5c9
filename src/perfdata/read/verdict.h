/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bytes are a record: its header must be possible, and its size that of its parts. */
#ifndef PERFDATA_READ_VERDICT_H
#define PERFDATA_READ_VERDICT_H

#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;
struct perfdata_reader;

enum verdict {
	BROKEN,                        /* a header that no recorder writes */
	CUT,                           /* possibly a record, but some of its bytes are missing */
	DOUBTFUL,                      /* a possible header, but the body does not fit its type */
	SOUND,
};

/* Results of verdict_of(). */
struct judged {
	struct perf_event_header head; /* in this machine's byte order */
	uint64_t time;                 /* 0: none */
};

/* Layout of an event's samples, where their length can be computed in a few steps. */
struct shape {
	uint16_t fixed;                /* bytes before the first part of variable length; 0: use the decoder */
	bool chain, raw;               /* ends with a call chain; with raw data */
	uint8_t time_at;               /* offset of the time; 0: none */
};

enum { MAX_TRAILERS = 4, SIZED = 128 };

/* The last sound sample of an id. */
struct sized {
	uint64_t id;
	uint32_t size;                 /* UINT32_MAX: none yet */
	int event;                     /* the event of the id */
};

/* Once all events are known: finds the layouts of their samples. 0, or -1 with f. */
int verdict_settle(struct perfdata_reader *r, struct fault *f);
/* Judges the bytes at `at`, `have` in all. Sets judged->head, and for SOUND judged->time. */
enum verdict verdict_of(struct perfdata_reader *r, const char *at, size_t have, struct judged *judged);
/* Whether a record of the kernel, in this machine's byte order and aligned, is SOUND. */
bool verdict_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have);
/* The time of a record in this machine's byte order; 0: none. */
uint64_t verdict_time(const struct perfdata_reader *r, const struct perf_event_header *rec);

#endif
