/* SPDX-License-Identifier: Apache-2.0 */
/* What shows calls whose path no probe saw: their events, for the run's tasks. */
#ifndef ANALYSIS_SYSCALLS_UNSEENHINT_H
#define ANALYSIS_SYSCALLS_UNSEENHINT_H

#include "analysis/syscalls/commcounts.h"
#include "stream/asked/opts.h"

/* The globs of --match that paths have to match; none: their place is left open. */
struct unseenhint_globs {
	const char *const *v;
	size_t n;
};

/* The command for these calls, as a shell reads it; to be freed. NULL: there is none. */
char *unseenhint_command(const struct commcounts *calls, const struct unseenhint_globs *globs, const struct stream_opts *targets);
#endif
