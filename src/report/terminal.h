/* SPDX-License-Identifier: Apache-2.0 */
/* What the other end of a stream can show: width, colour, and how wide text is there. */
#ifndef REPORT_TERMINAL_H
#define REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
	unsigned int columns, rows;   /* 0: no limit, it is not a terminal */
	bool colour;
};

/* COLUMNS and LINES of the environment go before what the terminal says; colour is off
 * under NO_COLOR and TERM=dumb. */
struct terminal terminal_of(FILE *out);

#endif
