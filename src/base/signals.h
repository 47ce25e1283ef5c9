/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/* Ignores the signal in this process by an empty handler, so that the system call fails instead.
 * Programs started later get the signal's previous disposition; SIG_IGN would be inherited. */
void signals_pass(int signo);
#endif
