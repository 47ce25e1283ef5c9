/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last bytes of a recording that is not written yet: records in memory, the newest in place of
 * the oldest. What the oldest ones said about who is there is kept (standing.h), so that what is
 * written later begins with that.
 *
 * All records that the kernel made are told apart by time: samples have it behind IDENTIFIER, IP and
 * TID, the others before CPU and IDENTIFIER at their end.
 */
#ifndef PERFDATA_WRITE_FLIGHT_H
#define PERFDATA_WRITE_FLIGHT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight;

/* bytes: for samples. NULL without memory. */
struct flight *flight_new(size_t bytes);
void flight_free(struct flight *f);
/* Whole records in two parts, as a ring has them. */
void flight_put2(struct flight *f, const void *first, size_t nfirst, const void *second, size_t nsecond);

/* Takes out what happened until `to`, both included: calls fn for what stands before `from`, then
 * for each record since `from`, as they came. Older samples are gone without. */
struct flight_taken {
	uint64_t samples, older, overwritten;   /* samples: of the span; before it; dropped for room since
						 * the last time */
	uint64_t first, last;                   /* times of the samples; 0 without */
};
typedef void flight_fn(void *ctx, const void *records, size_t size);
void flight_take(struct flight *f, uint64_t from, uint64_t to, flight_fn *fn, void *ctx,
		 struct flight_taken *taken);
#endif
