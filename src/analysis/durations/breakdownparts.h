/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a call's time are called. */
#ifndef ANALYSIS_DURATIONS_BREAKDOWNPARTS_H
#define ANALYSIS_DURATIONS_BREAKDOWNPARTS_H

#include "analysis/durations/breakdown.h"

enum { BREAKDOWN_COLUMNS = BREAKDOWN_PARTS };
extern const struct table_column breakdown_columns[BREAKDOWN_COLUMNS];   /* of the command's table, for JSON and CSV */
#endif
