/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table. */
#ifndef EXPORT_COMMANDS_H
#define EXPORT_COMMANDS_H

#include "base/command.h"

extern const struct command convert_command, script_command;
#endif
