/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines as commands: without the shell's option pipefail, only the failure of the last program is one of the pipeline. */
#ifndef STAT_PIPEFAIL_H
#define STAT_PIPEFAIL_H

#include <stdbool.h>

/* Whether the line for a shell has a pipeline. */
bool pipefail_is_meant(const char *line);
/* Whether /bin/sh has the option; if not, says so. */
bool pipefail_is_there(void);
#endif
