/* SPDX-License-Identifier: Apache-2.0 */
/* What the command profile and the source of that name have in common. */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include "analysis/analysis.h"
#include "analysis/levels.h"

enum { PROFILE_DEFAULT_FREQ = 997 };   /* a prime beside the 100, 250, 1000 of timers, so that
					* nothing periodic hides */

/* The head of both configs. */
struct profile_opts {
	struct analysis_opts common;
	struct levels levels;
	uint64_t freq;               /* 0: the default */
};
enum { PROFILE_FREQ_NOPTS = 1 };
extern const struct opt profile_freq_opts[PROFILE_FREQ_NOPTS];
#endif
