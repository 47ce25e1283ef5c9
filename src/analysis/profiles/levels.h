/* SPDX-License-Identifier: Apache-2.0 */
/* --exclude-user, --exclude-kernel and so on: the privilege levels in which an event counts. */
#ifndef ANALYSIS_PROFILES_LEVELS_H
#define ANALYSIS_PROFILES_LEVELS_H

#include "base/options.h"

#include <linux/perf_event.h>

struct levels {
	bool no_user, no_kernel, no_guest, no_host;
};

enum { LEVELS_NOPTS = 4 };
extern const struct opt levels_opts[LEVELS_NOPTS];

/* Excludes these levels, too: 0, or -1 with f if nothing is left. */
int levels_set(const struct levels *levels, struct perf_event_attr *attr, struct fault *f);
/* Whether a level is excluded. */
bool levels_any(const struct levels *levels);
#endif
