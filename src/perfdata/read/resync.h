/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records continue after damage.
 *
 * A record that verdict_of() doubts is accepted only if no other record begins within it and a
 * record may follow it. Otherwise it is damaged. Reading continues at a round, or where several
 * records in a row fit in type, size, id and time.
 */
#ifndef PERFDATA_READ_RESYNC_H
#define PERFDATA_READ_RESYNC_H

#include "perfdata/read/verdict.h"

/* Returns n bytes from the current place on, or NULL if there are fewer. Bytes that it returned before
 * may have moved. */
typedef const char *resync_see(struct perfdata_reader *r, size_t n);
resync_see resync_window;

/* Why the record at the current place is damaged; NULL: it is not. All its bytes are there. */
const char *resync_doubt(struct perfdata_reader *r, resync_see *see, const struct perf_event_header *head);
/* Whether records continue `at` bytes from here. */
bool resync_begins(struct perfdata_reader *r, resync_see *see, size_t at);
/* Whether the area that the current record announces lies behind it. */
bool resync_has_area(struct perfdata_reader *r, const struct perf_event_header *head);
/* Skips the damage at the current place of the window, up to where records continue, or to the end. */
void resync_pass(struct perfdata_reader *r);
/* Counts skipped bytes. place: a new damaged place begins. */
void resync_count(struct perfdata_reader *r, uint64_t bytes, bool place);

#endif
