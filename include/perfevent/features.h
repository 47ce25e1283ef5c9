/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/features.h - what this kernel lets this user open */
#ifndef PEV_FEATURES_H
#define PEV_FEATURES_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Found by opening it. Rows stay as they were when probed. */
struct pev_features;

struct pev_feature {
	const char *name;       /* "tracepoint-raw" */
	const char *group;      /* "events", "targets", "samples", "attr", "controls" */
	const char *what;       /* one line */
	int code;               /* 0 = works, else errno */
	bool partial;           /* works in user space only */
	const char *said;       /* what refuses; if it works, how, or "" */
	const char *remedy;     /* what to do; "" if it works */
};

/* Tries everything as the calling thread, in some milliseconds. -ENOMEM; -EMFILE or
 * -ENFILE where so few files can be opened that refusals would mean nothing. */
PEV_API int pev_features_probe(struct pev_features **out);
PEV_API void pev_features_free(struct pev_features *features);
/* NULL past the end; rows of a group stand together. */
PEV_API const struct pev_feature *pev_features_at(const struct pev_features *features, size_t i);
/* By name; NULL if there is none of that name. */
PEV_API const struct pev_feature *pev_features_find(const struct pev_features *features,
						    const char *name);

#ifdef __cplusplus
}
#endif
#endif
