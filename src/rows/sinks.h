/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a question's rows: question.c chooses, by whether the question is a command or a source. */
#ifndef ROWS_SINKS_H
#define ROWS_SINKS_H

#include "rows/question.h"

/* rows.c: the tables of a command, its heat map, and the rows above --than. */
void rows_add(struct question *q, const struct happening *h);
/* Prints what has ended since the last table; from then on only open pairs are kept. */
void rows_print(struct question *q);
/* At the end, behind the last table: writes the picture, if one is wanted. 0, or -1 with f. */
int rows_draw(struct question *q, struct fault *f);

/* made.c: the event of a source. */
/* Makes the event from the columns; q->maker is set. 0, or -1 with f. */
int made_begin(struct question *q, struct source *source, const struct maker_ops *ops, struct fault *f);
void made_emit(struct question *q, const struct happening *h);
#endif
