/* SPDX-License-Identifier: Apache-2.0 */
/* The Python functions that called what threads hang in, from the memory of their interpreters: a blocked thread does not change
 * them. */
#ifndef ANALYSIS_SYSCALLS_PYCALLERS_H
#define ANALYSIS_SYSCALLS_PYCALLERS_H

#include "analysis/durations/waitargs.h"

/* Initialized by zeros. */
struct pycallers {
	struct pycaller *all;        /* by process */
};

/* "get (queue.py:171) < work (app.py:7)", innermost first. False: the thread runs no Python, its functions are not known, or it is
 * no longer in that call. The text has any bytes. */
bool pycallers_text(struct pycallers *p, const struct waitargs *c, char *buf, size_t size);
void pycallers_free(struct pycallers *p);
#endif
