/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exists when a recording begins, as records that the kernel would have written if it had been
 * asked in time: the addresses of the kernel and its modules, the names of tasks, and their
 * mappings. perf calls them synthesized.
 */
#ifndef STREAM_RECORD_INVENTORY_H
#define STREAM_RECORD_INVENTORY_H

#include <stdint.h>
#include <stdio.h>

struct stream;
struct perfdata_writer;

/* identifier: the id of an event with such records. */
void inventory_put(struct stream *s, uint64_t identifier);
/* Writes the modules; `modules` has the text of /proc/modules. */
void inventory_put_modules(struct perfdata_writer *w, FILE *modules, uint64_t identifier);
#endif
