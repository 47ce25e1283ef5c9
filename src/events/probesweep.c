/* SPDX-License-Identifier: Apache-2.0 */
/* Removing probes: see probes.h. */
#include "events/probes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "perf_prof_"

static const char *const files[] = { "uprobe_events", "kprobe_events" };

enum { MAX_LIST = 1 << 20, SWEEP_TRIES = 500, SWEEP_WAIT_US = 20000 };

/* ---- owner of a group ------------------------------------------------------------ */

struct owner {
	unsigned long ns;
	int pid;
	unsigned long long start;
};

/* Start time of a process, in ticks since boot (field 22 of stat); 0: no such process. */
static unsigned long long start_of(int pid)
{
	char path[64], text[1024], *p;
	unsigned long long start = 0;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');   /* the name may contain any character */
	if (p)
		sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &start);
	return start;
}

static unsigned long pid_namespace(void)
{
	unsigned long ns = 0;
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	link[n < 0 ? 0 : n] = '\0';
	sscanf(link, "pid:[%lu]", &ns);
	return ns;
}

void probes_group_name(char *buf, size_t size)
{
	snprintf(buf, size, PREFIX "%lu_%d_%llu", pid_namespace(), (int)getpid(), start_of(getpid()));
}

static bool parse_group(const char *group, struct owner *o)
{
	int end = 0;

	return sscanf(group, PREFIX "%lu_%d_%llu%n", &o->ns, &o->pid, &o->start, &end) == 3 &&
	       !group[end];
}

/* Groups of another PID namespace are not touched: their pids are unknown here. */
static bool is_dead(const char *group)
{
	struct owner o;

	return parse_group(group, &o) && o.ns == pid_namespace() && start_of(o.pid) != o.start;
}

/* ---- removing ------------------------------------------------------------------ */

/* The content of tracefs/file, terminated, to be freed; NULL if it is not readable. */
static char *read_list(const char *tracefs, const char *file)
{
	char path[512], *text;
	size_t used = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tracefs, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = malloc(MAX_LIST);
	while (text && used < MAX_LIST - 1 && (n = read(fd, text + used, MAX_LIST - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	if (text)
		text[used] = '\0';
	return text;
}

static void remove_one(const char *tracefs, const char *file, const char *group, const char *event)
{
	char path[512], line[256];
	int fd, n = snprintf(line, sizeof(line), "-:%s/%s\n", group, event);

	snprintf(path, sizeof(path), "%s/%s", tracefs, file);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)n) < 0)
		n = 0;   /* still open somewhere: tried again */
	close(fd);
}

/* "p:GROUP/EVENT ..." or "r8:GROUP/EVENT ..."; false for other lines. */
static bool take_names(const char *line, char *group, char *event)
{
	return sscanf(line, "%*[^: \n]:%63[^/ \n]/%63[^ \n]", group, event) == 2;
}

/* Removes the probes in groups for which `mine` is true; returns whether there were any. */
static bool sweep_file(const char *tracefs, const char *file,
		       bool (*mine)(const char *group, const char *wanted), const char *wanted)
{
	char *text = read_list(tracefs, file), *next = NULL;
	char group[64], event[64];
	bool any = false;

	for (char *line = text; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (!take_names(line, group, event) || !mine(group, wanted))
			continue;
		remove_one(tracefs, file, group, event);
		any = true;
	}
	free(text);
	return any;
}

static bool is_wanted(const char *group, const char *wanted)
{
	return !strcmp(group, wanted);
}

static bool is_of_dead(const char *group, const char *unused)
{
	return is_dead(group);
}

bool probes_sweep(const char *tracefs, const char *group)
{
	bool any = false;

	for (size_t i = 0; i < 2; i++)
		if (sweep_file(tracefs, files[i], is_wanted, group))
			any |= sweep_file(tracefs, files[i], is_wanted, group);
	return !any;
}

void probes_sweep_dead(const char *tracefs)
{
	for (size_t i = 0; i < 2; i++)
		sweep_file(tracefs, files[i], is_of_dead, NULL);
}

/* ---- sweeper process ------------------------------------------------------------- */

/* Waits for the end of perf-prof, then until the probes are no longer in use. Has none of its
 * descriptors, so that readers of perf-prof's output do not wait for this process. */
static void sweep_at_end(int sock, const char *tracefs, const char *group)
{
	char c;

	setsid();
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGKILL || sig == SIGSTOP ? SIG_DFL : SIG_IGN);
	prctl(PR_SET_NAME, "perf-prof-sweep");
	if (chdir("/"))   /* the current folder may have to be unmounted */
		_exit(1);
	dup2(sock, 0);
	close_range(1, ~0U, 0);
	while (read(0, &c, 1) > 0)
		;
	for (int i = 0; i < SWEEP_TRIES && !probes_sweep(tracefs, group); i++)
		usleep(SWEEP_WAIT_US);
	_exit(0);
}

int probes_start_sweeper(const char *tracefs, const char *group)
{
	int fd[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	child = fork();
	if (child == 0) {
		close(fd[1]);
		if (fork() == 0)
			sweep_at_end(fd[0], tracefs, group);
		_exit(0);   /* the sweeper is a child of init: nobody has to reap it */
	}
	close(fd[0]);
	if (child < 0) {
		close(fd[1]);
		return -1;
	}
	waitpid(child, NULL, 0);
	return fd[1];
}
