/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PYHOST_PYTHON_COMMAND_H
#define PYHOST_PYTHON_COMMAND_H

#include "base/command.h"

extern const struct command python_command;
#endif
