/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "base/nearest.h"

#include <string.h>

static const struct command *const commands[] = {
	&python_command, &sql_command, &trace_command, &profile_command, &top_command,
	&task_state_command, &rundelay_command, &syscalls_command, &latency_command,
	&migrations_command, &waits_command, &kvm_exit_command, &page_faults_command, &record_command, &report_command,
	&diff_command, &convert_command, &script_command, &stat_command, &flame_graph_command, &dump_command, &list_command,
	&check_command, &version_command, &help_command,
};

const struct command *command_at(size_t i)
{
	return i < sizeof(commands) / sizeof(*commands) ? commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->name, name))
			return command_at(i);
	return NULL;
}

int command_unknown(const char *name, struct fault *f)
{
	struct nearest n;

	if (*name == '-' && name[1] && name[2]) {
		nearest_begin(&n, name + strspn(name, "-"));
		nearest_offer(&n, "version");
		nearest_offer(&n, "help");
		if (nearest_get(&n))
			return fault_usage(f, "%s: did you mean --%s?", name, nearest_get(&n));
	}
	if (!strcmp(name, "-v"))
		return fault_usage(f, "-v: expected a command before options; -V prints the version");
	if (*name == '-')
		return fault_usage(f, "%s: expected a command before options, as in `perf-prof stat %s`; `perf-prof help` lists "
				   "the commands", name, name);
	nearest_begin(&n, name);
	for (size_t i = 0; command_at(i); i++)
		nearest_offer(&n, command_at(i)->name);
	if (nearest_get(&n))
		return fault_usage(f, "there is no command %s; did you mean %s?", name,
				   nearest_get(&n));
	return fault_usage(f, "there is no command %s; `perf-prof help` lists them", name);
}
