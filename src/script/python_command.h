/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCRIPT_PYTHON_COMMAND_H
#define SCRIPT_PYTHON_COMMAND_H

#include "base/command.h"

extern const struct command python_command;
#endif
