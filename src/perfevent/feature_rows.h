/* SPDX-License-Identifier: Apache-2.0 */
/* The table of features to probe, and helpers for the trials. */
#ifndef PERFEVENT_FEATURE_ROWS_H
#define PERFEVENT_FEATURE_ROWS_H

#include "perfevent.h"

/* The highest kernel.perf_event_paranoid at which a user without capabilities may use it. */
enum {
	PEV_LEVEL_ANY = 2,             /* own task, user space */
	PEV_LEVEL_KERNEL = 1,
	PEV_LEVEL_CPU = 0,
	PEV_LEVEL_RAW = -1,
	PEV_LEVEL_NEVER = -9,          /* capabilities only */
};

struct pev_trial {
	struct pev_error err;
	bool partial;
	int64_t tracepoint;            /* id used by the trials, or -errno */
	const char *remark;            /* detail of how it works, or NULL; a constant */
};

struct pev_feature_field {
	const char *name;              /* of the attr, or NULL: the end */
	uint64_t value;
};

struct pev_feature_row {
	const char *name, *group, *what;
	int level;
	const char *capability;        /* the one required at PEV_LEVEL_NEVER */
	/* returns 0 or -errno, with t->err */
	int (*probe)(struct pev_trial *t, const struct pev_feature_row *row);
	struct pev_feature_field fields[4];   /* that the trial sets */
};

extern const struct pev_feature_row pev_feature_rows_[];
extern const size_t pev_feature_nrows_;

/* Opens and closes an event. */
int pev_try_(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target);
/* The same; if the kernel's part is refused, with user space only: t->partial. */
int pev_try_levels_(struct pev_trial *t, const union pev_attr_buf *buf,
		    struct pev_target target);
#endif
