/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is there when a recording begins, in records as the kernel would have written them had
 * it been asked in time: where the kernel and its modules lie, what tasks are called, what
 * they have mapped. perf calls them synthesized.
 */
#ifndef STREAM_RECORD_INVENTORY_H
#define STREAM_RECORD_INVENTORY_H

#include <stdint.h>
#include <stdio.h>

struct stream;
struct perfdata_writer;

/* identifier: of an event whose records are such. */
void inventory_put(struct stream *s, uint64_t identifier);
/* The modules of a text as in /proc/modules. */
void inventory_put_modules(struct perfdata_writer *w, FILE *modules, uint64_t identifier);
#endif
