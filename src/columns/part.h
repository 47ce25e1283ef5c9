/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of some events in batches of several, as batches of their own: with the columns that these events have. */
#ifndef COLUMNS_PART_H
#define COLUMNS_PART_H

#include "columns/batch.h"

struct part {
	struct columns *columns;        /* its own */
	uint32_t *from;                 /* for each of them, the column of the whole */
	char **names;                   /* of the events; ends with NULL */
	size_t event, lost;             /* columns of the whole */
	bool whole;                     /* it has all columns, under the same names */
	bool losses;                    /* it has the rows of losses */
	struct texts *seen;             /* kept: the texts of _event in the batch before, */
	uint8_t *takes;                 /* and which of them the part has */
	uint32_t *rows;                 /* scratch */
	size_t rows_room;
};

/* names: of events as the column _event has them, in UTF-8; ends with NULL. The columns of one event alone are called NAME where
 * the whole has EVENT.NAME. 0; -ENOENT: no event has one of the names; or -ENOMEM. To be ended in any case. */
int part_begin(struct part *p, const struct plans *plans, const char *const *names, bool losses);
void part_end(struct part *p);
/* Its rows among n rows of a batch; NULL: there are none. Where nothing is left out, it is the same batch. *events: how many of
 * the rows are no losses, also if it fails. 0 or -ENOMEM. */
int part_take(struct part *p, struct batch *whole, size_t from, size_t n, struct batch **out, size_t *events);
/* Whether an event has that name in the column _event. */
bool part_is_name(const struct row_plan *plan, const char *name);
#endif
