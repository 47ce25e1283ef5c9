/* SPDX-License-Identifier: Apache-2.0 */
/* Probing: the table of what is tried, and what a trial can use. */
#ifndef PERFEVENT_FEATURE_ROWS_H
#define PERFEVENT_FEATURE_ROWS_H

#include "perfevent.h"

/* kernel.perf_event_paranoid up to which a user without capabilities may do it. */
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
	int64_t tracepoint;            /* id that trials use, or -errno */
	const char *remark;            /* how it works, or NULL; a constant */
};

struct pev_feature_row {
	const char *name, *group, *what;
	int level;
	const char *capability;        /* that grants it, at PEV_LEVEL_NEVER */
	int (*probe)(struct pev_trial *t);   /* 0 or -errno, with t->err */
};

extern const struct pev_feature_row pev_feature_rows_[];
extern const size_t pev_feature_nrows_;

/* Opens and closes. */
int pev_try_(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target);
/* The same; where the kernel's side is refused, user space alone: t->partial. */
int pev_try_levels_(struct pev_trial *t, const union pev_attr_buf *buf,
		    struct pev_target target);
#endif
