/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream can show: width, height and colour. */
#ifndef REPORT_TERMINAL_H
#define REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
	unsigned int columns, rows;   /* 0: no limit, it is not a terminal */
	bool colour;
};

/* COLUMNS and LINES in the environment override the terminal's size; NO_COLOR and TERM=dumb disable colour. */
struct terminal terminal_of(FILE *out);
/* Clears the screen of the terminal that stdout is. */
void terminal_clear(void);

#endif
