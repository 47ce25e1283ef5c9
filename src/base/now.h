/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NOW_H
#define BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* The time of a clock, in ns. */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
#endif
