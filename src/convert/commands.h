/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of this room: rows of main's table. */
#ifndef CONVERT_COMMANDS_H
#define CONVERT_COMMANDS_H

#include "base/command.h"

extern const struct command convert_command;
#endif
