/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals while Python starts as a program. It ignores some, and what is ignored stays so in programs that it starts. And
 * Ctrl-C while it loads the packages of its environment is a fatal error of Python: it waits.
 */
#ifndef PYTHON_PYSIGNALS_H
#define PYTHON_PYSIGNALS_H

/* Before that program starts. Returns the state that pysignals_end() restores, in it or if it could not be started. */
unsigned int pysignals_begin(void);
void pysignals_end(unsigned int state);
#endif
