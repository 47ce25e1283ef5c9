/* SPDX-License-Identifier: Apache-2.0 */
/* What may be wrong with the glob of --match if nothing matched. */
#ifndef ANALYSIS_SYSCALLS_GLOBHINT_H
#define ANALYSIS_SYSCALLS_GLOBHINT_H

#include <stdbool.h>
#include <stddef.h>

/* here: the files are those of this machine. False: nothing obvious. */
bool globhint_text(const char *glob, bool here, char *buf, size_t size);
#endif
