/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/workload.h"

#include "base/descriptors.h"
#include "base/magic.h"
#include "base/note.h"
#include "base/ttyfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The kernel enables events a little before exec(2) gives the task its name: what is sampled there has it, too. */
static void take_name(const char *program)
{
	const char *slash = strrchr(program, '/');

	prctl(PR_SET_NAME, slash ? slash + 1 : program);
}

/* In the child: waits for the byte, then runs the program. If the parent dies, the pipe closes and
 * nothing runs. */
static void become(int go, int trouble, char *const *argv, const sigset_t *signals,
		   const struct rlimit *files, bool ignores_ends, bool to_stderr)
{
	ssize_t n;
	char byte;
	int code;

	n = TEMP_FAILURE_RETRY(read(go, &byte, 1));
	if (n != 1)
		_exit(WORKLOAD_REFUSED);
	/* for programs that change from root to another user; without root it fails, and is not needed */
	ttyfilter_install_on_terminal();
	setrlimit(RLIMIT_NOFILE, files);
	if (ignores_ends)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, signals, NULL);
	if (to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	take_name(argv[0]);
	execvp(argv[0], argv);
	code = errno;
	n = write(trouble, &code, sizeof(code));
	(void)n;
	_exit(code == ENOENT ? WORKLOAD_MISSING : WORKLOAD_REFUSED);
}

/* If whoever started us ignores SIGCHLD, so do we, and the kernel would discard the exit codes of children. True: it was
 * ignored. */
static bool heed_ends(void)
{
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) || now.sa_handler != SIG_IGN)
		return false;
	signal(SIGCHLD, SIG_DFL);
	return true;
}

bool workload_find(const char *name, char *path, size_t size)
{
	const char *folder = strchr(name, '/') ? "" : getenv("PATH");
	bool refused = false;   /* execvp(3) goes on in the next folder, too */

	for (folder = folder ? folder : "/bin:/usr/bin";; folder++) {   /* as execvp(3) without PATH */
		int n = (int)strcspn(folder, ":");

		snprintf(path, size, "%.*s%s%s", n, folder, n ? "/" : "", name);
		if (!access(path, F_OK))
			return true;
		refused |= errno != ENOENT;
		folder += n;
		if (!*folder)
			return refused;
	}
}

/* "-I" was forgotten before the name of a recording. */
static int is_recording(const char *name, int exit_code, struct fault *f)
{
	return fault_set(f, exit_code, "%s is a recording, not a program; did you mean -I %s?", name, name);
}

/* A file that is not executable, or without "./". */
static bool is_python(const char *name)
{
	const size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".py") && !access(name, F_OK);
}

static int put_python(const char *name, int exit_code, struct fault *f)
{
	return fault_set(f, exit_code, "%s is a Python script, not a program; put python3 before it: -- python3 %s", name, name);
}

int workload_missing(const char *name, struct fault *f)
{
	if (is_python(name))
		return put_python(name, WORKLOAD_MISSING, f);
	if (magic_names_recording(name))
		return is_recording(name, WORKLOAD_MISSING, f);
	return fault_set(f, WORKLOAD_MISSING, "%s: there is no such program; run shell built-ins and command lines with sh -c "
			 "'...'", *name ? name : "''");
}

int workload_prepare(struct workload *w, char *const *argv, const sigset_t *signals, const struct rlimit *files,
		     unsigned int ways, struct fault *f)
{
	int go[2] = { -1, -1 }, trouble[2] = { -1, -1 }, code;
	char hint[256], path[PATH_MAX];
	bool ignores_ends;

	*w = (struct workload){ .pidfd = -1, .go = -1, .trouble = -1, .name = argv[0] };
	/* before anything can overwrite a file */
	if (!workload_find(argv[0], path, sizeof(path)))
		return workload_missing(argv[0], f);
	if (pipe2(go, O_CLOEXEC) || pipe2(trouble, O_CLOEXEC))
		goto failed;
	ignores_ends = !(ways & WORKLOAD_EMBEDDED) && heed_ends();
	w->pid = fork();
	if (!w->pid) {
		close(go[1]);
		close(trouble[0]);
		become(go[0], trouble[1], argv, signals, files, ignores_ends, ways & WORKLOAD_TO_STDERR);
	}
	close_fd(&go[0]);
	close_fd(&trouble[1]);
	if (w->pid < 0)
		goto failed;
	w->go = go[1];
	w->trouble = trouble[0];
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	if (w->pidfd >= 0)
		return 0;
	workload_abandon(w);
	return fault_set(f, EXIT_FAILED, "cannot watch the command: pidfd_open: %s; this needs "
			 "Linux 5.3 or later",
			 strerror(errno));
failed:
	code = errno;
	w->pid = 0;
	for (int i = 0; i < 2; i++) {
		close_fd(&go[i]);
		close_fd(&trouble[i]);
	}
	return fault_set(f, EXIT_FAILED, "cannot start %s: %s%s", argv[0], strerror(code),
			 descriptors_hint(code, hint, sizeof(hint)));
}

int workload_start(struct workload *w, struct fault *f)
{
	int code = 0;
	ssize_t n;

	n = write(w->go, "g", 1);
	close_fd(&w->go);
	if (n == 1)
		n = read(w->trouble, &code, sizeof(code));   /* 0: exec closed it */
	close_fd(&w->trouble);
	if (n == 0) {
		w->runs = true;
		return 0;
	}
	workload_abandon(w);
	if (code == ENOENT)
		return workload_missing(w->name, f);
	if (magic_names_recording(w->name))
		return is_recording(w->name, WORKLOAD_REFUSED, f);
	if (code == EACCES && is_python(w->name))
		return put_python(w->name, WORKLOAD_REFUSED, f);
	return fault_set(f, WORKLOAD_REFUSED, "cannot execute %s: %s; expected a program, or a "
			 "script that begins with #!", w->name, strerror(code));
}

int workload_collect(struct workload *w, struct rusage *usage)
{
	int status = 0;

	w->unknown = TEMP_FAILURE_RETRY(wait4(w->pid, &status, 0, usage)) < 0;
	w->pid = 0;
	w->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	workload_abandon(w);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* As shells do: who types Ctrl-C or closes a pipe knows it. */
void workload_tell(const struct workload *w, int verbose)
{
	if (verbose >= 0 && w->signal && w->signal != SIGINT && w->signal != SIGPIPE)
		fprintf(stderr, "perf-prof: %s was ended by signal %d (%s)\n", w->name, w->signal, strsignal(w->signal));
}

/* By pidfd: another process may have the pid once somebody else has waited for this one. */
static int send_signal(const struct workload *w, int number)
{
	return w->pidfd < 0 ? kill(w->pid, number) : (int)syscall(SYS_pidfd_send_signal, w->pidfd, number, NULL, 0);
}

/* A process may ignore SIGTERM: the wait has a limit. */
static void end(const struct workload *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };
	int ended;

	if (send_signal(w, SIGTERM) && errno == EPERM && w->runs) {
		note(1, "%s (process %d) keeps running: it was started as root, and perf-prof has given up root's rights since",
		     w->name, (int)w->pid);
		return;
	}
	send_signal(w, SIGCONT);
	ended = w->pidfd < 0 ? 1 : (int)TEMP_FAILURE_RETRY(poll(&p, 1, PATIENCE_MS));
	if (ended > 0)
		TEMP_FAILURE_RETRY(waitpid(w->pid, NULL, 0));
	else if (w->runs)
		note(1, "%s (process %d) keeps running: it does not end by SIGTERM; kill -KILL %d ends it", w->name, (int)w->pid,
		     (int)w->pid);
}

void workload_abandon(struct workload *w)
{
	close_fd(&w->go);
	close_fd(&w->trouble);
	if (w->pid > 0)
		end(w);
	close_fd(&w->pidfd);
	w->pid = 0;
}
