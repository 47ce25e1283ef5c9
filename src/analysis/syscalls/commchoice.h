/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of --comm: names or globs with commas between them, with '!' those that are left out. */
#ifndef ANALYSIS_SYSCALLS_COMMCHOICE_H
#define ANALYSIS_SYSCALLS_COMMCHOICE_H

#include "base/options.h"

#include <stdbool.h>

/* Whether tasks with that name have rows. comm: NULL, if it is not known. */
bool commchoice_has(const struct opt_strings *names, const char *comm);
#endif
