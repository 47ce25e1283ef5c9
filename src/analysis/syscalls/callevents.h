/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls in -e, as strace and perf trace take them: the error says how to select these calls. */
#ifndef ANALYSIS_SYSCALLS_CALLEVENTS_H
#define ANALYSIS_SYSCALLS_CALLEVENTS_H

#include "base/options.h"

/* 0, or -1 with f if one of the lists consists of such names. */
int callevents_check(const struct opt_strings *lists, struct fault *f);
#endif
