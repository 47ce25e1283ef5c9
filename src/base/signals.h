/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/* The signal does nothing to this process, so that the call fails that it came from. Programs that
 * are run have it as this one had it: SIG_IGN would be passed on to them, a handler is not. */
void signals_pass(int signo);
#endif
