/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table on the full screen of a terminal: as many rows as fit, sorted and filtered by
 * keys of the keyboard. While it is there, what is written to stderr waits, if that is a
 * terminal; it comes out when the screen is left.
 *
 *	s = screen_open(&opts);            NULL: not on this terminal
 *	screen_show(s, &table, head);      each interval
 *	if (screen_poll(s)) ...            20 times a second; true: q was pressed
 *	screen_close(s);                   the terminal is as before, the last table stands there
 *
 * There is one terminal, so there is one screen at a time. Signals that end the process
 * at once (SIGQUIT, SIGSEGV, ...) restore the terminal first.
 */
#ifndef REPORT_SCREEN_H
#define REPORT_SCREEN_H

#include "report/table.h"

struct screen;

struct screen_opts {
	const char *sort;            /* name of the column that rows are sorted by at first */
	const char *tie;             /* of the one that orders those alike, ascending */
};

/* Whether there can be one: built with ncurses, and stdin and stdout are a terminal that
 * can move its cursor. */
bool screen_is_possible(void);
struct screen *screen_open(const struct screen_opts *opts);
/* The table, borrowed until the next call, and the line above it, copied. */
void screen_show(struct screen *s, struct table *t, const char *head);
/* Reads the keyboard. True: the user wants to quit. */
bool screen_poll(struct screen *s);
/* The user wants no other table now. */
bool screen_is_paused(const struct screen *s);
/* NULL is fine. */
void screen_close(struct screen *s);
/* Restores the terminal of the screen that there is; for signal handlers. */
void screen_rescue(void);
#endif
