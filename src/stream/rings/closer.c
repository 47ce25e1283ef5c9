/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing the last event of a tracepoint makes the kernel wait for a grace period: some
 * 40 ms each, one after another, so that sched:* would hold up the end by a second. A
 * process of its own keeps the descriptors until we have closed ours; then its exit is
 * the last close, and nobody waits for it.
 */
#include "stream/rings/rings.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORTH_A_PROCESS = 3 };

static size_t tracepoints_open(const struct stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->list.nevents; i++)
		n += s->list.events[i].wanted;
	/* probes can't be removed while somebody holds them */
	return s->rings.nopened && !s->list.probes.n ? n : 0;
}

/* Holds what was inherited until the other end of the pipe is closed. */
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

int closer_start(struct stream *s)
{
	int fd[2];
	pid_t child;

	if (tracepoints_open(s) < WORTH_A_PROCESS || pipe(fd))
		return -1;
	child = fork();
	if (child == 0) {
		close(fd[1]);
		if (fork() == 0)
			hold(fd[0]);
		_exit(0);   /* the holder belongs to init: nobody has to reap it */
	}
	close(fd[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return fd[1];
}

void closer_release(int fd)
{
	if (fd >= 0)
		close(fd);
}
