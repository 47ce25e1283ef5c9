/* SPDX-License-Identifier: Apache-2.0 */
#include "base/holder.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Keeps the inherited descriptors open until the other end of the pipe is closed. */
static void hold(int pipe_read)
{
	char c;

	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (read(pipe_read, &c, 1) > 0)
		;
	_exit(0);
}

int holder_start(void)
{
	int fd[2];
	pid_t child;

	if (pipe(fd))
		return -1;
	child = fork();
	if (child == 0) {
		close(fd[1]);
		if (fork() == 0)
			hold(fd[0]);
		_exit(0);   /* orphaned: init reaps the holder */
	}
	close(fd[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return fd[1];
}

void holder_release(int fd)
{
	if (fd >= 0)
		close(fd);
}
