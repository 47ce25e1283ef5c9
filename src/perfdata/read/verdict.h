/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bytes are a record: by its head, and by whether what its type lays in it is as long as it says. */
#ifndef PERFDATA_READ_VERDICT_H
#define PERFDATA_READ_VERDICT_H

#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;
struct perfdata_reader;

enum verdict {
	BROKEN,                        /* no recorder writes such a head */
	CUT,                           /* there may be one, of more bytes than there are */
	DOUBTFUL,                      /* a head, and a body that is not as its type has it */
	SOUND,
};

/* What a verdict found. */
struct judged {
	struct perf_event_header head; /* in this machine's order */
	uint64_t time;                 /* 0: it has none */
};

/* How long a sample of an event is, where that takes a few steps. */
struct shape {
	uint16_t fixed;                /* bytes up to its first part of variable length; 0: ask the decoder */
	bool chain, raw;               /* ends with a call chain; with raw data */
	uint8_t time_at;               /* 0: it has no time */
};

enum { MAX_TRAILERS = 4, SIZED = 128 };

/* Of the last sample of an id that was sound. */
struct sized {
	uint64_t id;
	uint32_t size;                 /* UINT32_MAX: there was none */
	int event;                     /* whose the id is */
};

/* Once all events are there: the shapes of their samples. 0, or -1 with f. */
int verdict_settle(struct perfdata_reader *r, struct fault *f);
/* The bytes at `at`, of which there are `have`. What `judged` has beyond the head is there if it is SOUND. */
enum verdict verdict_of(struct perfdata_reader *r, const char *at, size_t have, struct judged *judged);
/* Whether a record of the kernel, in this machine's order and aligned, is SOUND. */
bool verdict_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have);
/* Of a record in this machine's order; 0: it has none. */
uint64_t verdict_time(const struct perfdata_reader *r, const struct perf_event_header *rec);

#endif
