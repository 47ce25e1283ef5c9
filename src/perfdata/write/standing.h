/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at some time: the records that say who is there, what tasks are called, what they have
 * mapped, where the kernel lies. Put in order of time, they are kept as long as they tell of
 * somebody who is still there; what a later one makes void goes, so that memory is bounded by
 * who is there and not by how long that has been going on.
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
/* Whether records of that type belong there. */
bool standing_takes(const struct perf_event_header *rec);
/* Copies it; without memory it is counted as missing. */
void standing_put(struct standing *s, const struct perf_event_header *rec);
/* All records, one behind the other, 8-byte aligned. Valid until the next put. */
const void *standing_records(struct standing *s, size_t *size);
#endif
