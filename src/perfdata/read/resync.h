/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behind damage: where records go on.
 *
 * A record whose own bytes don't bear it out is believed only if none begins within it and what
 * lies behind it may be one. Otherwise it is damaged, and reading goes on where several records
 * in a row make sense by type, size, id and time, or at a round's end.
 */
#ifndef PERFDATA_READ_RESYNC_H
#define PERFDATA_READ_RESYNC_H

#include "perfdata/read/verdict.h"

/* Bytes from the present place on: n of them, or NULL where there are not as many. Those that it gave
 * before may have moved. */
typedef const char *resync_see(struct perfdata_reader *r, size_t n);
resync_see resync_window;

/* NULL, or why the record at the present place, all of which is there, is none. */
const char *resync_doubt(struct perfdata_reader *r, resync_see *see, const struct perf_event_header *head);
/* Whether records go on so many bytes from here. */
bool resync_begins(struct perfdata_reader *r, resync_see *see, size_t at);
/* Whether the record at the present place of the window is followed by the area that it announces. */
bool resync_has_area(struct perfdata_reader *r, const struct perf_event_header *head);
/* From the damage at the present place of the window to where records go on, or the end. */
void resync_pass(struct perfdata_reader *r);
/* Bytes that were passed over; `place`: where none were before. */
void resync_count(struct perfdata_reader *r, uint64_t bytes, bool place);

#endif
