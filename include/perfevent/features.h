/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/features.h - what this user can open on this kernel */
#ifndef PEV_FEATURES_H
#define PEV_FEATURES_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of trial openings, made once by pev_features_probe(). */
struct pev_features;

struct pev_feature {
	const char *name;       /* "tracepoint-raw" */
	const char *group;      /* "events", "targets", "samples", "attr", "controls" */
	const char *what;       /* one line */
	int code;               /* 0 = works, else errno */
	bool partial;           /* works for user space only */
	const char *said;       /* the error; if it works, a detail or "" */
	const char *remedy;     /* what to do; "" if it works */
};

/* Tries all features in the calling thread, in some milliseconds. -ENOMEM; -EMFILE or -ENFILE if
 * the limit for open files is too low for a reliable result. */
PEV_API int pev_features_probe(struct pev_features **out);
PEV_API void pev_features_free(struct pev_features *features);
/* NULL past the end; rows of a group are adjacent. */
PEV_API const struct pev_feature *pev_features_at(const struct pev_features *features, size_t i);
/* The row of that name, or NULL. */
PEV_API const struct pev_feature *pev_features_find(const struct pev_features *features,
						    const char *name);

#ifdef __cplusplus
}
#endif
#endif
