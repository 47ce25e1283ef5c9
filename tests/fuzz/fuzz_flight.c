/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a ring held, put in two parts and taken out: what comes out are whole records, no
 * more than were put. The first byte says where the parts meet, the second how often the same comes.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/write/flight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t samples, accounted;

static void take(void *ctx, const void *records, size_t size)
{
	const char *bytes = records;

	for (size_t at = 0; at < size;) {
		const struct perf_event_header *rec = (const void *)(bytes + at);

		assert(rec->size >= sizeof(*rec) && rec->size % 8 == 0 && rec->size <= size - at);
		samples += rec->type == PERF_RECORD_SAMPLE;
		at += rec->size;
	}
}

static void take_out(struct flight *f, uint64_t from, uint64_t to)
{
	struct flight_taken taken;

	samples = 0;
	flight_take(f, from, to, take, NULL, &taken);
	assert(samples == taken.samples);
	accounted += taken.samples + taken.older + taken.overwritten;
}

/* Up to the first record that is broken or cut. */
static uint64_t samples_in(const char *data, size_t size)
{
	uint64_t n = 0;

	for (size_t at = 0; size - at >= sizeof(struct perf_event_header);) {
		const struct perf_event_header *rec = (const void *)(data + at);

		if (rec->size < sizeof(*rec) || rec->size % 8 || rec->size > size - at)
			break;
		n += rec->type == PERF_RECORD_SAMPLE;
		at += rec->size;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flight *f = flight_new(64 << 10);
	size_t cut = size > 2 ? (size_t)data[0] * 8 % (size - 2 + 8) & ~(size_t)7 : 0;
	char *copy = size > 2 ? malloc(size - 2) : NULL;   /* aligned, as rings are */

	if (copy && f) {
		accounted = 0;
		memcpy(copy, data + 2, size - 2);
		if (cut > size - 2)
			cut = 0;
		for (int i = 0; i <= data[1]; i++)
			flight_put2(f, copy, cut, copy + cut, size - 2 - cut);
		take_out(f, data[1], UINT64_C(1) << data[0] % 64);
		flight_put2(f, copy, size - 2, NULL, 0);
		take_out(f, 0, UINT64_MAX);
		assert(accounted == (data[1] + UINT64_C(2)) * samples_in(copy, size - 2));
	}
	free(copy);
	flight_free(f);
	return 0;
}
