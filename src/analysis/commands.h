/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table; and those that may stand in an event list. */
#ifndef ANALYSIS_COMMANDS_H
#define ANALYSIS_COMMANDS_H

#include "base/command.h"
#include "stream/source.h"

extern const struct command record_command, top_command, trace_command;
extern const struct source_ops top_source, trace_source;
/* All sources, NULL terminated: what main hands to commands that take event lists. */
extern const struct source_ops *const analysis_sources[];
#endif
