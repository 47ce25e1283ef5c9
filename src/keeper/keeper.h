/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that stays root when a run becomes its caller's: see identity.h. It parses
 * nothing, and answers nothing but these requests, each with a descriptor for reading:
 *
 *   - a program or library, as some process sees it: a regular ELF file of the types
 *     executable and shared object, never a core dump, never anything else; and only if
 *     everybody may read it, or that process has it mapped for execution right now;
 *   - the same by a mapping of a process, or as the program that it runs;
 *   - "maps" or "comm" of a process's folder in /proc;
 *   - a process's perf map, as opener.h says: /tmp/perf-PID.map and no other name.
 *
 * A program that its owner alone may read is so no secret while it runs: whoever traces a
 * process may see the names of its functions. When it has ended, they can't be had any more.
 *
 * It answers the process that started it alone: to a child that this one forks, -EPERM. It
 * ends when the run does, however that ends, and cleans up after it.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "base/fault.h"
#include "base/opener.h"

struct keeper;

/* Forks it; to be called while there is one thread, before privilege is given up.
 * `clean_up` (or NULL) is run by it when the run has ended. NULL with f. */
struct keeper *keeper_start(void (*clean_up)(void *ctx), void *ctx, struct fault *f);
/* Its process. */
pid_t keeper_pid(const struct keeper *k);
/* Opens through it. */
const struct opener *keeper_opener(struct keeper *k);
/* Ends it, and waits until it has cleaned up. NULL is fine. */
void keeper_stop(struct keeper *k);

#endif
