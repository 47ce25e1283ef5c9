/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/pipefail.h"

#include "base/note.h"

#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool pipefail_is_meant(const char *line)
{
	const char *at = strchr(line, '|');

	while (at && at[1] == '|')
		at = strchr(at + 2, '|');
	return at;
}

/* Whether the shell runs nothing with that option, and without a complaint. */
static bool shell_takes_it(void)
{
	static char sh[] = "sh", option[] = "-o", pipefail[] = "pipefail", command[] = "-c", nothing[] = ":";
	char *const argv[] = { sh, option, pipefail, command, nothing, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return false;
	if (!posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) &&
	    !posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ))
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return !status;
}

bool pipefail_is_there(void)
{
	if (shell_takes_it())
		return true;
	note(1, "a pipeline fails only if its last program does, as /bin/sh has no pipefail: runs whose other programs fail are not left out; "
	     "with bash they are: \"bash -o pipefail -c 'A | B'\"");
	return false;
}
