/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "analysis/commands.h"
#include "analysis/durations/commands.h"
#include "analysis/profiles/commands.h"
#include "analysis/syscalls/commands.h"
#include "base/command.h"
#include "export/commands.h"
#include "python/python_options.h"
#include "python/sql_options.h"
#include "stat/commands.h"

extern const struct command list_command, check_command, version_command, help_command;

const struct command *command_at(size_t i);              /* NULL past the end */
const struct command *command_find(const char *name);    /* NULL if unknown */
void help_overview(FILE *out);
/* One line: the command, its texts and its options. 0, -ENOMEM or -EIO. */
int help_json(const struct command *cmd, FILE *out);
int command_unknown(const char *name, struct fault *f);  /* sets f with a suggestion; -1 */
#endif
