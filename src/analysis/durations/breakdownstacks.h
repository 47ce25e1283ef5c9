/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks with which threads slept in their calls, and on what: the longest as text, all as JSON. */
#ifndef ANALYSIS_DURATIONS_BREAKDOWNSTACKS_H
#define ANALYSIS_DURATIONS_BREAKDOWNSTACKS_H

#include "analysis/durations/breakdown.h"

/* "futex queue (/tmp/server) 148381.923, read pipe:[4711] 98713.039 and 2 more", us; "" without --on. Returns its length. */
size_t breakdown_put_objects(const struct breakdown *b, const struct breakdown_sums *sums, enum breakdown_part part, char *buf,
			     size_t size);
/* Prints how long the calls waited on each kind of thing: nothing without --on. whose: " in the calls over 10 ms", or "". */
void breakdown_kinds_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose);
/* Prints the longest 10 from 0.1 % of the time, or all (--full), below a title with `whose`: "the 22 calls over 10 ms". */
void breakdown_stacks_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose);
/* An array for JSON; NULL: out of memory. */
struct json_object *breakdown_stacks_json(const struct breakdown *b, const struct breakdown_sums *sums);
#endif
