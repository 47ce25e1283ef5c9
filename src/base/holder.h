/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the last event of a tracepoint is closed, the kernel waits for a grace period: about 40 ms each, one after another,
 * so sched:* would delay the exit by a second. A holder is another process that inherits the descriptors, and exits after
 * this one has closed its own. Its exit is then the last close, and nobody waits for it.
 */
#ifndef BASE_HOLDER_H
#define BASE_HOLDER_H

enum { HOLDER_WORTH = 3 };       /* that many tracepoints are worth a process */

/* Keeps all descriptors that are open now until holder_release() gets the result, the end of a pipe. -1: there is none. */
int holder_start(void);
void holder_release(int fd);
#endif
