/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of this room. */
#ifndef EXPORT_COMMANDS_H
#define EXPORT_COMMANDS_H

#include "base/command.h"

extern const struct command convert_command, script_command;
#endif
