/* SPDX-License-Identifier: Apache-2.0 */
/* The commands in this folder: rows of main's table. */
#ifndef STAT_COMMANDS_H
#define STAT_COMMANDS_H

#include "base/command.h"

extern const struct command stat_command;
#endif
