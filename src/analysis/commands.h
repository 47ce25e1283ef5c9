/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table. */
#ifndef ANALYSIS_COMMANDS_H
#define ANALYSIS_COMMANDS_H

#include "base/command.h"
#include "stream/source.h"

extern const struct command diff_command, flame_graph_command, kvm_exit_command, latency_command,
	page_faults_command, profile_command, record_command, report_command, rundelay_command,
	syscalls_command, task_state_command, top_command, trace_command;

/* The commands that may stand in an event list (stream/source.h), and their table, NULL terminated. */
extern const struct source_ops kvm_exit_source, latency_source, page_faults_source, profile_source,
	rundelay_source, syscalls_source, task_state_source, top_source, trace_source;
extern const struct source_ops *const analysis_sources[];
#endif
