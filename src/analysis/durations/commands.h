/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and event sources in this folder: rows of main's tables. */
#ifndef ANALYSIS_DURATIONS_COMMANDS_H
#define ANALYSIS_DURATIONS_COMMANDS_H

#include "base/command.h"
#include "stream/list/source.h"

extern const struct command kvm_exit_command, latency_command, migrations_command, rundelay_command, task_state_command, waits_command;
extern const struct source_ops kvm_exit_source, latency_source, migrations_source, rundelay_source, task_state_source, waits_source;
#endif
