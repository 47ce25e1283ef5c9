/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to samples what every sample has when it is delivered: perf record can omit times, and omits
 * what it does not need.
 */
#include "stream/recording/recording.h"

#include <string.h>

/* In the order of perf_event_open(2). */
static const uint64_t words[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
	PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD,
};
enum { NWORDS = sizeof(words) / sizeof(*words) };

const struct perf_event_header *widen_sample(const struct perf_event_header *rec, uint64_t from,
					     uint64_t to, uint64_t period, char *buf)
{
	const char *in = (const char *)(rec + 1), *end = (const char *)rec + rec->size;
	char *out = buf + sizeof(*rec);
	size_t rest;

	for (size_t i = 0; i < NWORDS; i++) {
		uint64_t word = words[i] == PERF_SAMPLE_PERIOD ? period : 0;

		if (from & words[i]) {
			if (end - in < 8)
				return NULL;
			memcpy(&word, in, 8);
			in += 8;
		}
		if (to & words[i]) {
			memcpy(out, &word, 8);
			out += 8;
		}
	}
	rest = (size_t)(end - in);
	if ((size_t)(out - buf) + rest > UINT16_MAX)
		return NULL;
	memcpy(out, in, rest);
	*(struct perf_event_header *)(void *)buf = *rec;
	((struct perf_event_header *)(void *)buf)->size = (uint16_t)((size_t)(out - buf) + rest);
	return (const struct perf_event_header *)(void *)buf;
}
