/* SPDX-License-Identifier: Apache-2.0 */
/* Options of task-state, as a command and as a source. */
#ifndef ANALYSIS_DURATIONS_TASK_STATE_H
#define ANALYSIS_DURATIONS_TASK_STATE_H

#include "analysis/durations/pairs.h"

struct task_state_opts {
	struct pair_opts pairs;
	const char *filter;              /* glob of comm */
	bool only_sleeping, only_blocked;
};
enum { TASK_STATE_NOPTS = 3 };
extern const struct opt task_state_opts[TASK_STATE_NOPTS];

/* Whether these options want a stretch of that state and task. */
bool task_state_is_shown(const struct task_state_opts *o, const char *comm, uint64_t state);
#endif
