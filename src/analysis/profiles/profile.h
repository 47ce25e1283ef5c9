/* SPDX-License-Identifier: Apache-2.0 */
/* What the command profile and the source of that name have in common. */
#ifndef ANALYSIS_PROFILES_PROFILE_H
#define ANALYSIS_PROFILES_PROFILE_H

#include "analysis/profiles/levels.h"
#include "engine/analysis.h"

/* The head of both configs. */
struct profile_opts {
	struct analysis_opts common;
	struct levels levels;
	uint64_t freq;               /* -F; 0: the default */
	uint64_t period;             /* -c; 0: by frequency */
	bool asked;                  /* there is an -e */
};
/* The first two are a source's, too. */
enum { PROFILE_FREQ_NOPTS = 3 };
extern const struct opt profile_freq_opts[PROFILE_FREQ_NOPTS];

/* Rate and levels hold for the events of -e, which may be none. 0, or -1 with f. */
int profile_take_rate(struct profile_opts *o, const char *command, struct fault *f);
/* The source profile with these options, as an item of the list. 0, or -1 with f. */
int profile_add(struct analysis *a, const struct profile_opts *o, struct fault *f);
/* After it: what events of -e are sampled by. 0, or -1 with f: an option that none of them heeds. */
int profile_set_levels(struct analysis *a, const struct profile_opts *o, struct fault *f);
/* --than PERCENT: hundredths of a percent, a uint64_t. */
int profile_parse_percent(const char *text, void *field, struct fault *f);
#endif
