/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table. */
#ifndef ANALYSIS_COMMANDS_H
#define ANALYSIS_COMMANDS_H

#include "base/command.h"

extern const struct command stat_command, trace_command;
#endif
