/* SPDX-License-Identifier: Apache-2.0 */
#include "events/probes.h"

#include "base/escape.h"
#include "base/pidns.h"
#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "perf_prof_"

enum { SWEEP_PATIENCE_MS = 2000, MAX_LIST = 1 << 20, SWEEP_TRIES = 500, SWEEP_WAIT_US = 20000 };

static const char *const files[] = { [PROBE_KERNEL] = "kprobe_events", [PROBE_USER] = "uprobe_events" };

void probes_init(struct probes *p)
{
	*p = (struct probes){ .sweeper = -1 };
}

bool probes_possible(const char *tracefs, enum probe_space space)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	return textfile_exists(path);
}

/* ---- messages of the kernel --------------------------------------------------- */

/* The last message in error_log: "Invalid fetch arg"; "" if there is none. */
static void kernel_said(const char *tracefs, char *buf, size_t size)
{
	char path[512], line[512], *text;
	FILE *log;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/error_log", tracefs);
	log = fopen(path, "re");
	while (log && fgets(line, sizeof(line), log)) {
		text = strstr(line, " error: ");
		if (!text)
			continue;
		text += strlen(" error: ");
		text[strcspn(text, "\n")] = '\0';
		escape_terminal(text, strlen(text), buf, size);
	}
	if (log)
		fclose(log);
}

/* err: why this user may not write to the file. */
static int probes_refused(const char *file, int err, struct fault *f)
{
	fault_set(f, EXIT_FAILED, "cannot create a probe: this takes write access to %s of tracefs: %s; run as root (sudo)%s", file,
		  strerror(err), geteuid() ? "" : "; kernel lockdown forbids probes even for root");
	if (f)
		f->error = err;
	return -1;
}

int probes_refuse(enum probe_space space, struct fault *f)
{
	return probes_refused(files[space], EACCES, f);
}

int probes_may_define(const char *tracefs, enum probe_space space)
{
	char path[512];
	int fd;

	/* not access(2): it does not know what capabilities a user who is not root has */
	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int refuse(const char *tracefs, const struct probe_definition *def, int err, struct fault *f)
{
	bool denied = err == EACCES || err == EPERM;
	char said[256];
	const char *at = def->space == PROBE_USER ? strrchr(def->where, ':') + 1 : def->where;

	kernel_said(tracefs, said, sizeof(said));
	if (denied)
		return probes_refused(files[def->space], err, f);
	if (def->space == PROBE_KERNEL && (err == ENOENT || strstr(said, "probed address or symbol")))
		return fault_set(f, EXIT_USAGE, "the kernel has no function %s that can be probed", def->where);
	return fault_set(f, EXIT_USAGE, "the kernel refuses the probe at %s%s%s%s%s: %s%s%s", at,
			 def->shown ? " of " : "", def->shown ? def->shown : "", *def->args ? " with " : "", def->args, strerror(err), *said ? "; the kernel says: " : "",
			 said);
}

/* ---- definitions --------------------------------------------------------------- */

/* Each write(2) is one definition. */
static int write_line(const char *tracefs, enum probe_space space, const char *line)
{
	char path[512];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, line, strlen(line)) < 0)
		err = errno;
	close(fd);
	return err;
}

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

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	textfile_read(path, text, sizeof(text));
	p = strrchr(text, ')');   /* the name may contain any character */
	if (p)
		sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &start);
	return start;
}

static void name_group(char *buf, size_t size)
{
	snprintf(buf, size, PREFIX "%lu_%d_%llu", pidns_number(), (int)getpid(), start_of(getpid()));
}

static bool parse_group(const char *group, struct owner *o)
{
	int end = 0;

	return sscanf(group, PREFIX "%lu_%d_%llu%n", &o->ns, &o->pid, &o->start, &end) == 3 &&
	       !group[end];
}

bool probes_group_is_ours(const char *group)
{
	struct owner o;

	return parse_group(group, &o);
}

/* Groups of another PID namespace are not touched: their pids are unknown here. */
static bool is_dead(const char *group)
{
	struct owner o;

	return parse_group(group, &o) && o.ns == pidns_number() && start_of(o.pid) != o.start;
}

/* ---- removing ------------------------------------------------------------------ */

/* The probes of that kind, terminated, to be freed; NULL if it is not readable. */
static char *read_list(const char *tracefs, enum probe_space space)
{
	char path[512];
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	return textfile_whole(open(path, O_RDONLY | O_CLOEXEC), MAX_LIST, &len);
}

/* "p:GROUP/EVENT ..." or "r8:GROUP/EVENT ..."; false for other lines. */
static bool take_names(const char *line, char *group, char *event)
{
	return sscanf(line, "%*[^: \n]:%63[^/ \n]/%63[^ \n]", group, event) == 2;
}

bool probes_is_of_program(const char *tracefs, const char *group, const char *event)
{
	char *text = read_list(tracefs, PROBE_USER), one[64], name[64];
	bool is = false;

	for (const char *line = text; line && *line && !is; line += *line == '\n') {
		is = take_names(line, one, name) && !strcmp(one, group) && !strcmp(name, event);
		line += strcspn(line, "\n");
	}
	free(text);
	return is;
}

/* Removes the probes in groups for which `mine` is true; returns whether there were any. */
static bool sweep_file(const char *tracefs, enum probe_space space,
		       bool (*mine)(const char *group, const char *wanted), const char *wanted)
{
	char *text = read_list(tracefs, space), *next = NULL;
	char group[64], event[64], order[256];
	bool any = false;

	for (char *line = text; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (!take_names(line, group, event) || !mine(group, wanted))
			continue;
		snprintf(order, sizeof(order), "-:%s/%s\n", group, event);
		write_line(tracefs, space, order);   /* if it is still open somewhere, it is tried again */
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

/* Removes probes of the group (of all kinds) that are not in use; true once none is left. */
static bool sweep(const char *tracefs, const char *group)
{
	bool any = false;

	for (enum probe_space i = PROBE_KERNEL; i <= PROBE_USER; i++)
		if (sweep_file(tracefs, i, is_wanted, group))
			any |= sweep_file(tracefs, i, is_wanted, group);
	return !any;
}

static void sweep_dead(const char *tracefs)
{
	for (enum probe_space i = PROBE_KERNEL; i <= PROBE_USER; i++)
		sweep_file(tracefs, i, is_of_dead, NULL);
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
	for (int i = 0; i < SWEEP_TRIES && !sweep(tracefs, group); i++)
		usleep(SWEEP_WAIT_US);
	_exit(0);
}

/* Starts the process that removes the probes once the returned socket is shut down, or closed by the end of this process; it
 * shuts down its own end when it is done. -1: not possible. */
static int start_sweeper(const char *tracefs, const char *group)
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

/* ---- life of the probes ---------------------------------------------------------- */

static int begin(struct probes *p, const char *tracefs, struct fault *f)
{
	if (p->n)
		return 0;
	snprintf(p->tracefs, sizeof(p->tracefs), "%s", tracefs);
	name_group(p->group, sizeof(p->group));
	sweep_dead(tracefs);
	p->sweeper = start_sweeper(tracefs, p->group);
	if (p->sweeper < 0)
		return fault_set(f, EXIT_FAILED, "cannot create a probe: the process that would "
				 "remove it did not start: %s", strerror(errno));
	return 0;
}

int probes_define(struct probes *p, const char *tracefs, const struct probe_definition *def,
		  char *event, struct fault *f)
{
	char *line;
	int err;

	if (begin(p, tracefs, f))
		return -1;
	if (!event[0])
		snprintf(event, PROBE_NAME_SIZE, "p%u", ++p->n);
	if (asprintf(&line, "%c:%s/%s %s %s\n", def->at_return ? 'r' : 'p', p->group, event, def->where,
		     def->args) < 0)
		return fault_set(f, EXIT_FAILED, "out of memory");
	err = write_line(tracefs, def->space, line);
	free(line);
	return err ? refuse(tracefs, def, err, f) : 0;
}

/* No sweeper is needed: if this process is killed in between, the group is that of a dead one. */
int probes_try(const char *tracefs, const struct probe_definition *def, struct fault *f)
{
	char group[PROBE_NAME_SIZE], line[512];
	int err;

	name_group(group, sizeof(group));
	if (snprintf(line, sizeof(line), "%c:%s/try %s %s\n", def->at_return ? 'r' : 'p', group, def->where, def->args) >=
	    (int)sizeof(line))
		return fault_set(f, EXIT_FAILED, "the definition of a probe is too long: %s", def->where);
	err = write_line(tracefs, def->space, line);
	if (err)
		return refuse(tracefs, def, err, f);
	snprintf(line, sizeof(line), "-:%s/try\n", group);
	err = write_line(tracefs, def->space, line);
	return err ? fault_set(f, EXIT_FAILED, "cannot remove the probe %s/try: %s; end the program that uses it; the next "
			       "perf-prof that creates probes then removes it", group, strerror(err)) : 0;
}

/* The sweeper removes the probes: it still can when this process has dropped its privileges. */
void probes_end(struct probes *p)
{
	struct pollfd gone = { .fd = p->sweeper, .events = POLLIN };

	if (p->sweeper < 0)
		return;
	shutdown(p->sweeper, SHUT_WR);
	poll(&gone, 1, SWEEP_PATIENCE_MS);   /* probes still in use are removed a moment later */
	close(p->sweeper);
	probes_init(p);
}
