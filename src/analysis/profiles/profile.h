/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the command profile and the source profile; record uses it, too. */
#ifndef ANALYSIS_PROFILES_PROFILE_H
#define ANALYSIS_PROFILES_PROFILE_H

#include "analysis/profiles/levels.h"
#include "engine/analysis.h"

/* The first member of their configs. */
struct profile_opts {
	struct analysis_opts common;
	struct levels levels;
	uint64_t freq;               /* -F; 0: the default */
	uint64_t period;             /* -c; 0: by frequency */
	bool asked;                  /* -e was given */
};
/* -F, -c (also for the source) and --strict-freq. */
enum { PROFILE_FREQ_NOPTS = 3 };
extern const struct opt profile_freq_opts[PROFILE_FREQ_NOPTS];

/* Checks -F and -c, and sets them as the rate of the stream's events. 0, or -1 with f. */
int profile_take_rate(struct profile_opts *o, const char *command, struct fault *f);
/* Adds the source profile with these options to the events. 0, or -1 with f. */
int profile_add(struct analysis *a, const struct profile_opts *o, struct fault *f);
/* For ops->begin: sets the levels of all events. 0, or -1 with f: an option applies to none of the events. */
int profile_set_levels(struct analysis *a, const struct profile_opts *o, struct fault *f);
#endif
