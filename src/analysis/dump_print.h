/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with their stacks, as text and as JSON. */
#ifndef ANALYSIS_DUMP_PRINT_H
#define ANALYSIS_DUMP_PRINT_H

#include "analysis/dump_threads.h"

/* first: no other process was printed before. */
void dump_print(const struct dump *d, bool first);
/* 0, or -1 with f. */
int dump_print_json(const struct dump *d, struct fault *f);
#endif
