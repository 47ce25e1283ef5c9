/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and event sources in this folder: rows of main's tables. */
#ifndef ANALYSIS_PROFILES_COMMANDS_H
#define ANALYSIS_PROFILES_COMMANDS_H

#include "base/command.h"
#include "stream/list/source.h"

extern const struct command diff_command, flame_graph_command, page_faults_command, profile_command, report_command;
extern const struct source_ops page_faults_source, profile_source;
#endif
