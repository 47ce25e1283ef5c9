/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and event sources in this folder: rows of main's tables. */
#ifndef ANALYSIS_COMMANDS_H
#define ANALYSIS_COMMANDS_H

#include "base/command.h"
#include "stream/list/source.h"

extern const struct command dump_command, record_command, top_command, trace_command;
extern const struct source_ops top_source, trace_source;
/* All sources, NULL-terminated: main passes them to commands with -e. */
extern const struct source_ops *const analysis_sources[];
#endif
