/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/breakdownparts.h"

static const struct {
	const char *words;
	const char *how;             /* what tasks of a part did; NULL: there are none */
} parts[BREAKDOWN_PARTS] = {
	[PART_RUNNING] = { "running", NULL },
	[PART_WAITING] = { "waiting for a CPU", "ran meanwhile" },
	[PART_ASLEEP] = { "asleep (S)", "woken by" },
	[PART_BLOCKED] = { "blocked (D)", "woken by" },
	[PART_OTHER] = { "stopped or other", "woken by" },
	[PART_UNKNOWN] = { "unknown", NULL },
};

const struct table_column breakdown_columns[BREAKDOWN_COLUMNS] = {
	[PART_RUNNING] = { "running", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_WAITING] = { "waiting", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_ASLEEP] = { "asleep", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_BLOCKED] = { "blocked", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_OTHER] = { "other", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_UNKNOWN] = { "unknown", TABLE_DURATION, .where = TABLE_ONLY_JSON },
};

const char *breakdown_part_words(enum breakdown_part part)
{
	return parts[part].words;
}

const char *breakdown_part_name(enum breakdown_part part)
{
	return breakdown_columns[part].name;
}

const char *breakdown_part_how(enum breakdown_part part)
{
	return parts[part].how;
}
