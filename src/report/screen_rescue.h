/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the terminal before a screen, stored for signal handlers. If stderr is a terminal,
 * output to it is held back in memory meanwhile.
 */
#ifndef REPORT_SCREEN_RESCUE_H
#define REPORT_SCREEN_RESCUE_H

/* Call it before the terminal is changed: stores its modes and the sequence that leaves the screen,
 * holds back stderr, and catches signals that end the process. -1: a terminal without cursor movement. */
int screen_rescue_begin(void);
/* Call it when the terminal is restored: undoes all of this, and writes the output held back. */
void screen_rescue_end(void);
#endif
