/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

static int list_run(void *config, const struct opt_parser *args, struct fault *f)
{
	(void)config;
	(void)args;
	return fault_set(f, EXIT_FAILED, "list: not there yet");
}

const struct command list_command = {
	.name = "list", .summary = "list the events of this machine", .usage = "[GLOB...]",
	.run = list_run,
};
