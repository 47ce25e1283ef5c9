/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a call's time are called. */
#ifndef ANALYSIS_DURATIONS_BREAKDOWNPARTS_H
#define ANALYSIS_DURATIONS_BREAKDOWNPARTS_H

#include "analysis/durations/breakdown.h"

enum { BREAKDOWN_COLUMNS = BREAKDOWN_PARTS };
extern const struct table_column breakdown_columns[BREAKDOWN_COLUMNS];   /* of the command's table, for JSON and CSV */

/* "asleep (S)"; and in JSON, "asleep". */
const char *breakdown_part_words(enum breakdown_part part);
const char *breakdown_part_name(enum breakdown_part part);
/* "woken by": what the tasks of the part did; NULL: it has none. */
const char *breakdown_part_how(enum breakdown_part part);
#endif
