/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of the targets that have not returned at the end: they are in no table, and may be what the user looks for. A
 * call that began before the run causes no event at all; /proc/TID/syscall says that the thread is in it.
 */
#ifndef ANALYSIS_DURATIONS_UNRETURNED_H
#define ANALYSIS_DURATIONS_UNRETURNED_H

#include "analysis/durations/sleepers.h"
#include "rows/question.h"

/* Before events are opened: takes the threads of -p and -t; none if the events are recorded. */
void unreturned_begin(struct sleepers *before, const struct stream_opts *opts);
/* Prints a line for each such call, the longest first. `before`: from unreturned_begin(). is_in: whether a thread that is in
 * that call now may have been in it since the pair began. */
void unreturned_print(struct question *q, struct sleepers *before,
		      bool (*is_in)(const struct question *q, const struct open_pair *o, int64_t call));
#endif
