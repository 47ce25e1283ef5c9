/* SPDX-License-Identifier: Apache-2.0 */
/* The breakdown of the calls of each row, and of those that were longer than --than, as text and as JSON. */
#ifndef ANALYSIS_DURATIONS_BREAKDOWNROWS_H
#define ANALYSIS_DURATIONS_BREAKDOWNROWS_H

#include "analysis/durations/breakdownparts.h"

/* A row of the command's table. */
struct breakdown_row {
	uint64_t key[DISTRIBUTION_KEYS];     /* of its distribution */
	char name[320];                      /* for the caption: "start=>end" */
	struct json_object *labels;          /* for JSON: its identifying members; NULL: out of memory */
	struct breakdown_sums all, slow;
};

/* Initialized by zeros. */
struct breakdown_rows {
	const struct breakdown *from;
	uint64_t than;                       /* ns; 0: there are no slow ones */
	struct groups all;                   /* of struct breakdown_row */
};

/* Adds from->call to the row of that key. A new one (*fresh) has no name and labels yet. NULL: out of memory. */
struct breakdown_row *breakdown_rows_add(struct breakdown_rows *rows, const uint64_t key[DISTRIBUTION_KEYS], bool *fresh);
/* The cells of breakdown_columns. */
void breakdown_rows_put(const struct breakdown_rows *rows, const struct distribution *d, struct table *t);
/* As text, a table for each row, the largest total first; and begins the next ones. */
void breakdown_rows_print(struct breakdown_rows *rows, struct analysis *a);
/* An array for JSON; NULL: out of memory. */
struct json_object *breakdown_rows_json(struct breakdown_rows *rows);
void breakdown_rows_clear(struct breakdown_rows *rows);
/* The parts of one call as text: "asleep 29955.093 us (woken by housekeeper 20689), running 1210.100". Returns buf. */
char *breakdown_text(struct breakdown *b, char *buf, size_t size);
/* Adds the sums as members to an object. False: out of memory. */
bool breakdown_json(const struct breakdown *b, struct breakdown_sums *sums, struct json_object *to);
#endif
