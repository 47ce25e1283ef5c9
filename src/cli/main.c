/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "base/capabilities.h"
#include "base/nearest.h"
#include "base/perfwords.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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
	if (!strcmp(name, "-l"))
		return fault_usage(f, "-l: `perf-prof list` lists the events; `perf-prof help` lists the commands");
	if (*name == '-')
		return fault_usage(f, "%s: expected a command before options, as in `perf-prof stat %s`; `perf-prof help` lists "
				   "the commands", name, name);
	if (perfwords_command(name))
		return fault_usage(f, "there is no command %s; %s", name, perfwords_command(name));
	nearest_begin(&n, name);
	for (size_t i = 0; command_at(i); i++)
		nearest_offer(&n, command_at(i)->name);
	if (nearest_get(&n))
		return fault_usage(f, "there is no command %s; did you mean %s?", name,
				   nearest_get(&n));
	return fault_usage(f, "there is no command %s; `perf-prof help` lists them", name);
}

/* Otherwise the next file that is opened would become a standard stream. */
static int check_streams(struct fault *f)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (fd == STDOUT_FILENO)
			return fault_set(f, EXIT_FAILED, "standard output is closed; redirect it "
					 "to /dev/null to discard the output");
		if (open("/dev/null", fd == STDERR_FILENO ? O_RDONLY : O_RDWR) < 0)   /* so that writing to stderr is an error */
			return fault_set(f, EXIT_FAILED, "/dev/null: %s", strerror(errno));
	}
	return 0;
}

static int run(int argc, char **argv, struct fault *f)
{
	static const char *const aliases[][2] = {
		{ "-h", "help" }, { "--help", "help" }, { "-V", "version" },
		{ "--version", "version" },
	};
	const char *name = argc > 1 ? argv[1] : "help";
	const struct command *cmd;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(name, aliases[i][0]))
			name = aliases[i][1];
	cmd = command_find(name);
	if (!cmd)
		return command_unknown(name, f);
	if (argc <= 1) {
		help_overview(stderr);
		return EXIT_USAGE;
	}
	return command_run(cmd, argc - 2, argv + 2, analysis_sources);
}

int main(int argc, char **argv)
{
	static char buffer[64 << 10];
	struct fault f = {0};
	int code;

	if (check_streams(&f) || capabilities_trim(&f)) {
		fault_print(&f);
		return f.exit_code;
	}
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));   /* so that it holds whole lines: analysis_printed() */
	signals_pass(SIGPIPE);   /* a reader that closes the pipe is an error of write() */
	signals_pass(SIGXFSZ);   /* and so is the limit on the size of files */
	code = run(argc, argv, &f);
	if (f.exit_code) {
		fault_print(&f);
		code = f.exit_code;
	}
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		fprintf(stderr, "perf-prof: cannot write to stdout: %s\n", strerror(errno));
		code = code ? code : EXIT_FAILED;
	}
	return code;
}
