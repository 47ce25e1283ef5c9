/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last bytes of a recording that is not written yet, in memory; the newest records replace the
 * oldest. Tasks and mappings that the oldest records report are kept (standing.h), so that a file
 * written later starts with them.
 *
 * Every kernel record needs a time: samples have it behind IDENTIFIER, IP and TID, other records
 * before CPU and IDENTIFIER at their end.
 */
#ifndef PERFDATA_WRITE_FLIGHT_H
#define PERFDATA_WRITE_FLIGHT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight;

/* bytes: room for records. NULL without memory. */
struct flight *flight_new(size_t bytes);
void flight_free(struct flight *f);
/* Adds whole records, in two parts as a ring has them. */
void flight_put2(struct flight *f, const void *first, size_t nfirst, const void *second, size_t nsecond);

/* Takes out the records from `from` to `to`, both included. Calls fn first for the tasks and mappings
 * before `from`, then for each record in order of arrival. Drops older samples. */
struct flight_taken {
	uint64_t samples, older, overwritten;   /* in the span; before it; replaced since the last call */
	uint64_t first, last;                   /* times of the samples; 0 without samples */
};
typedef void flight_fn(void *ctx, const void *records, size_t size);
void flight_take(struct flight *f, uint64_t from, uint64_t to, flight_fn *fn, void *ctx,
		 struct flight_taken *taken);
#endif
