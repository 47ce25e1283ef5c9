/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of a question's rows: rows.c for a command, made.c for a source. */
#ifndef ROWS_SINKS_H
#define ROWS_SINKS_H

#include "rows/question.h"

/* rows.c: the tables of a command, its heat map, and the rows above --than. */
void rows_add(struct question *q, const struct happening *h);
/* Prints the table of durations since the last one, and clears it; open pairs stay. */
void rows_print(struct question *q);
/* How many states are in no row, because an event that begins or ends them was not reported. */
uint64_t rows_unknown(const struct question *q);
/* After the last table: writes the heat map, if there is one. 0, or -1 with f. */
int rows_draw(struct question *q, struct fault *f);

/* made.c: a source's event. made_begin() defines its fields from the columns, and sets q->maker. 0, or -1 with f. */
int made_begin(struct question *q, struct source *source, const struct maker_ops *ops, struct fault *f);
void made_emit(struct question *q, const struct happening *h);
/* After the last event: notes how many durations are in none of the events. */
void made_end(const struct question *q);
#endif
