/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state at some time: records that report which tasks exist, their names, their mappings, and
 * where the kernel is. Records are put in order of time and kept as long as they matter to a task
 * that still exists. Records that a later one replaces are dropped, so memory is bounded by the
 * number of tasks, not by the length of the run.
 */
#ifndef PERFDATA_WRITE_STANDING_H
#define PERFDATA_WRITE_STANDING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

struct standing;

/* NULL without memory. */
struct standing *standing_new(void);
void standing_free(struct standing *s);
/* Whether the record is of a kind to keep. */
bool standing_takes(const struct perf_event_header *rec);
/* Copies the record. Without memory it is dropped. */
void standing_put(struct standing *s, const struct perf_event_header *rec);
/* All records, adjacent and 8-byte aligned. Valid until the next put. */
const void *standing_records(struct standing *s, size_t *size);
#endif
