/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table. */
#ifndef ANALYSIS_COMMANDS_H
#define ANALYSIS_COMMANDS_H

#include "base/command.h"

extern const struct command diff_command, flame_graph_command, kvm_exit_command, latency_command,
	page_faults_command, profile_command, record_command, report_command, rundelay_command,
	syscalls_command, task_state_command, top_command, trace_command;
#endif
