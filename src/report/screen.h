/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table on the full screen of a terminal: as many rows as fit, sorted and filtered by keys. If
 * stderr is a terminal, its output is held back until the screen is closed.
 *
 *	s = screen_open(&opts);            NULL: not on this terminal
 *	screen_show(s, &table, head);      each interval
 *	if (screen_poll(s)) ...            20 times a second; true: q was pressed
 *	screen_close(s);                   restores the terminal and prints the last table there
 *
 * There can be one screen at a time. Signals that end the process at once (SIGQUIT, SIGSEGV, ...)
 * restore the terminal first.
 */
#ifndef REPORT_SCREEN_H
#define REPORT_SCREEN_H

#include "report/table.h"

struct screen;

struct screen_opts {
	const char *sort;            /* name of the initial sort column */
	const char *tie;             /* name of the column that orders equal rows, ascending */
};

/* Whether a screen is possible: built with ncurses, and stdin and stdout are a terminal with
 * cursor movement. */
bool screen_is_possible(void);
struct screen *screen_open(const struct screen_opts *opts);
/* Shows the table, borrowed until the next call, and the line above it, which is copied. */
void screen_show(struct screen *s, struct table *t, const char *head);
/* Reads the keyboard. True: the user wants to quit. */
bool screen_poll(struct screen *s);
/* Whether the user has paused updates. */
bool screen_is_paused(const struct screen *s);
/* s may be NULL. */
void screen_close(struct screen *s);
/* Restores the terminal if there is a screen; for signal handlers. */
void screen_rescue(void);
#endif
