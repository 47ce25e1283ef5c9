/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/commands.h"
#include "analysis/durations/commands.h"
#include "analysis/profiles/commands.h"
#include "analysis/syscalls/commands.h"

const struct source_ops *const analysis_sources[] = {
	&kvm_exit_source, &latency_source, &migrations_source, &page_faults_source, &profile_source, &rundelay_source, &syscalls_source,
	&task_state_source, &top_source, &trace_source, &waits_source, NULL,
};
