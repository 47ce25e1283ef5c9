/* SPDX-License-Identifier: Apache-2.0 */
/* Which locks the threads of a dump wait for, and who holds them. */
#ifndef ANALYSIS_DUMP_WAITS_H
#define ANALYSIS_DUMP_WAITS_H

#include "analysis/dump_threads.h"

/* Sets `waits` of idle threads. A lock without a name and a known holder is left out: its address says nothing. */
void dump_waits_find(struct dump *d);
/* Lines about threads that wait for each other's locks. */
void dump_waits_print_deadlocks(const struct dump *d);
#endif
