/* SPDX-License-Identifier: Apache-2.0 */
/* The command and event source in this folder: rows of main's tables. */
#ifndef ANALYSIS_SYSCALLS_COMMANDS_H
#define ANALYSIS_SYSCALLS_COMMANDS_H

#include "base/command.h"
#include "stream/list/source.h"

extern const struct command syscalls_command;
extern const struct source_ops syscalls_source;
#endif
