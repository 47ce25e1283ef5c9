/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "base/capabilities.h"
#include "base/output.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <nss.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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

/* Users and groups are those of /etc: the modules of NSS are for the system's libc, which a static program does not have. */
static void use_no_modules(void)
{
#ifdef STATIC_PROGRAM
	static const char *const databases[] = { "passwd", "group", "initgroups" };

	for (size_t i = 0; i < sizeof(databases) / sizeof(*databases); i++)
		__nss_configure_lookup(databases[i], "files");
#endif
}

enum { LARGE_BLOCK = 1 << 20 };

int main(int argc, char **argv)
{
	static char buffer[64 << 10];
	struct fault f = {0};
	int code, error;

	/* Else glibc keeps, for each thread, as much as its largest blocks ever took: those of files that are read. */
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK);
	use_no_modules();
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
	error = output_flush(stdout);
	if (error && error != EPIPE) {
		fprintf(stderr, "perf-prof: cannot write to stdout: %s\n", strerror(error));
		code = code ? code : EXIT_FAILED;
	}
	return code;
}
