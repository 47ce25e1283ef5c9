/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal as it was before a screen: kept where a signal handler finds it. What is
 * written to stderr meanwhile waits in memory, if stderr is a terminal.
 */
#ifndef REPORT_SCREEN_RESCUE_H
#define REPORT_SCREEN_RESCUE_H

/* Before the terminal is touched: keeps its modes, what undoes the screen, and stderr;
 * catches signals that end the process. -1: it is a terminal that can't move its cursor. */
int screen_rescue_begin(void);
/* The terminal has been restored: gives all back, writes what waited. */
void screen_rescue_end(void);
#endif
