/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitargs.h"

#include "analysis/durations/lockholder.h"
#include "base/procstatus.h"
#include "base/textfile.h"
#include "engine/callnames.h"
#include "tasks/pidmap.h"
#include "tasks/taskmemory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* PATHS: bytes of a path; SHOWN: names in a list; POLLED, FDS: descriptors that are looked at. */
enum { PATHS = 1024, SHOWN = 3, POLLED = 256, FDS = 1024, PAGE = 4096 };

/* ---- memory ----------------------------------------------------------------------------- */

static bool read_memory(pid_t tid, uint64_t from, void *to, size_t n)
{
	return taskmemory_read(tid, from, to, n) == (ssize_t)n;
}

/* The text at that address, page by page: what follows it may not be mapped. */
static bool read_text(pid_t tid, uint64_t from, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		const size_t page = PAGE - (size_t)((from + used) % PAGE), n = page < size - 1 - used ? page : size - 1 - used;

		if (!read_memory(tid, from + used, buf + used, n))
			return false;
		if (memchr(buf + used, '\0', n))
			return true;
		used += n;
	}
	buf[used] = '\0';
	return true;
}

/* ---- lists ------------------------------------------------------------------------------ */

/* "NAME, NAME, NAME and 5 more"; open: there may be others, which were not looked at */
struct list {
	char *buf;
	size_t size, used, n;
	bool open;
};

static void list_add(struct list *l, const char *text)
{
	if (l->n++ >= SHOWN || l->used >= l->size)
		return;
	l->used += (size_t)snprintf(l->buf + l->used, l->size - l->used, "%s%s", l->n > 1 ? ", " : " ", text);
}

static void list_end(struct list *l)
{
	const char *least = l->open ? "at least " : "";

	if (l->used >= l->size)
		return;
	if (l->n > SHOWN)
		snprintf(l->buf + l->used, l->size - l->used, " and %s%zu more", least, l->n - SHOWN);
	else if (l->open)
		snprintf(l->buf + l->used, l->size - l->used, " and perhaps more");
}

static void add_descriptor(struct list *l, struct waiton *w, const struct waitargs *c, int fd)
{
	char name[256] = "";

	if (l->n < SHOWN)
		waiton_descriptor(w, c->pid, c->tid, fd, name, sizeof(name));
	if (!*name)
		snprintf(name, sizeof(name), "fd %d", fd);
	list_add(l, name);
}

/* ---- kinds of calls --------------------------------------------------------------------- */

typedef bool put_fn(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l);

static bool put_path(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	char path[PATHS];

	if (!read_text(c->tid, c->args[arg], path, sizeof(path)) || !*path)
		return false;
	list_add(l, path);
	return true;
}

/* The number is that of the thread's PID namespace, so its name is shown only if that is a child here. */
static void add_child(struct list *l, const struct waitargs *c, int child, const char *before)
{
	char path[64], comm[64] = "", text[160];

	snprintf(path, sizeof(path), "/proc/%d/comm", child);
	if (procstatus_of(child, "\nPPid:") == (long)c->pid)
		textfile_read(path, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(text, sizeof(text), *comm ? "%s%d (%s)" : "%s%d", before, child, comm);
	list_add(l, text);
}

static void add_children(struct list *l, const struct waitargs *c, int tid)
{
	char path[64], text[1024], *next = text;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)c->pid, tid);
	if (textfile_read(path, text, sizeof(text)) == sizeof(text) - 1) {
		l->open = true;
		*(strrchr(text, ' ') ? strrchr(text, ' ') : text) = '\0';   /* the last number may be cut */
	}
	while ((child = (int)strtol(next, &next, 10)) > 0)
		add_child(l, c, child, l->n ? "" : "any child: ");
}

/* Any child of the process: a thread also waits for the children of the others. */
static bool put_any_child(const struct waitargs *c, struct list *l)
{
	struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)c->pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (*d->d_name != '.')
			add_children(l, c, atoi(d->d_name));
	if (dir)
		closedir(dir);
	return l->n;
}

static bool put_child(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	const int child = (int)c->args[arg];

	if (child == -1)
		return put_any_child(c, l);
	if (child > 0)
		add_child(l, c, child, "child ");
	return child > 0;
}

static bool put_waitid(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	if (c->args[0] == P_ALL)
		return put_any_child(c, l);
	return c->args[0] == P_PID && put_child(w, c, 1, l);
}

static bool put_poll(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	const size_t n = (unsigned int)c->args[1] < POLLED ? (unsigned int)c->args[1] : POLLED;
	struct pollfd all[POLLED];

	if (!n || !read_memory(c->tid, c->args[0], all, n * sizeof(*all)))
		return false;
	l->open = n < (unsigned int)c->args[1];
	for (size_t i = 0; i < n; i++)
		if (all[i].fd >= 0)
			add_descriptor(l, w, c, all[i].fd);
	return l->n;
}

/* The kernel reads and writes whole longs. */
static bool put_select(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	enum { BITS = 8 * sizeof(long) };
	const size_t nfds = c->args[0] < FDS ? (size_t)c->args[0] : FDS, n = (nfds + BITS - 1) / BITS;
	unsigned long any[FDS / BITS] = { 0 }, one[FDS / BITS];

	l->open = nfds < (unsigned int)c->args[0];
	for (size_t set = 1; set <= 3; set++) {
		if (!n || !c->args[set] || !read_memory(c->tid, c->args[set], one, n * sizeof(*one)))
			continue;
		for (size_t i = 0; i < n; i++)
			any[i] |= one[i];
	}
	for (size_t fd = 0; fd < nfds; fd++)
		if (any[fd / BITS] >> fd % BITS & 1)
			add_descriptor(l, w, c, (int)fd);
	return l->n;
}

static bool put_epoll(struct waiton *w, const struct waitargs *c, unsigned int arg, struct list *l)
{
	char path[64], line[256];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)c->tid, (int)c->args[0]);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "tfd: %d", &fd) == 1)
			add_descriptor(l, w, c, fd);
	if (f)
		fclose(f);
	return l->n;
}

static const struct {
	const char *call;
	put_fn *put;
	unsigned int arg;
} calls[] = {
	{ "open", put_path, 0 }, { "openat", put_path, 1 }, { "openat2", put_path, 1 }, { "creat", put_path, 0 }, { "stat", put_path, 0 },
	{ "lstat", put_path, 0 }, { "newfstatat", put_path, 1 }, { "statx", put_path, 1 }, { "statfs", put_path, 0 },
	{ "access", put_path, 0 }, { "faccessat", put_path, 1 }, { "faccessat2", put_path, 1 }, { "readlink", put_path, 0 },
	{ "readlinkat", put_path, 1 }, { "unlink", put_path, 0 }, { "unlinkat", put_path, 1 }, { "mkdir", put_path, 0 },
	{ "mkdirat", put_path, 1 }, { "rmdir", put_path, 0 }, { "chdir", put_path, 0 }, { "execve", put_path, 0 },
	{ "umount2", put_path, 0 }, { "wait4", put_child, 0 }, { "waitid", put_waitid, 0 }, { "poll", put_poll, 0 },
	{ "ppoll", put_poll, 0 }, { "select", put_select, 0 }, { "pselect6", put_select, 0 }, { "epoll_wait", put_epoll, 0 },
	{ "epoll_pwait", put_epoll, 0 }, { "epoll_pwait2", put_epoll, 0 },
};

/* By its own arguments; false: it has none of these kinds, or they cannot be read. */
static bool put_own(struct waiton *w, const struct waitargs *c, char *buf, size_t size)
{
	const char *name = syscall_name(c->call);
	struct list l = { buf, size };

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(name, calls[i].call))
			continue;
		l.used = (size_t)snprintf(buf, size, "%s", name);
		if (!calls[i].put(w, c, calls[i].arg, &l))
			return false;
		list_end(&l);
		return true;
	}
	return false;
}

/* ---- the call of a thread --------------------------------------------------------------- */

/* Whether the program made the call by int 0x80; on other machines than x86, whether it has 32 bits. */
static bool is_of_32(pid_t tid, uint64_t sp, uint64_t pc)
{
#ifdef __x86_64__
	static const uint8_t int80[] = { 0xcd, 0x80 };
	uint8_t code[sizeof(int80)];

	return read_memory(tid, pc - sizeof(code), code, sizeof(code)) && !memcmp(code, int80, sizeof(code));
#else
	return !((sp | pc) >> 32);
#endif
}

/* Threads of the kernel, which have neither a stack nor an instruction pointer, seem to be in call 0. */
enum waitargs_found waitargs_find(pid_t tid, struct waitargs *c)
{
	uint64_t sp = 0, pc = 0;
	char path[64];
	int found, error;
	FILE *f;

	memset(c, 0, sizeof(*c));
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	errno = 0;
	f = fopen(path, "re");
	found = f ? fscanf(f, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
			   &c->call, &c->args[0], &c->args[1], &c->args[2], &c->args[3], &c->args[4], &c->args[5], &sp, &pc) : 0;
	error = errno;
	if (f)
		fclose(f);
	errno = error;
	if (error == EPERM || error == EACCES)
		return WAITARGS_REFUSED;
	if (found != 3 + WAITARGS || c->call < 0 || (!sp && !pc))
		return WAITARGS_NO_CALL;
	c->tid = tid;
	c->call = is_of_32(tid, sp, pc) ? call_of_32(c->call) : c->call;
	c->pid = (pid_t)procstatus_of(tid, "\nTgid:");
	c->pid = c->pid > 0 ? c->pid : 0;
	return WAITARGS_A_CALL;
}

bool waitargs_is_still(const struct waitargs *c)
{
	struct waitargs now;

	return waitargs_find(c->tid, &now) == WAITARGS_A_CALL && !memcmp(&now, c, sizeof(now));
}

void waitargs_text(struct waiton *w, const struct waitargs *c, char *buf, size_t size)
{
	char holder[128];
	pid_t ended;

	if (put_own(w, c, buf, size) && waitargs_is_still(c))
		return;
	ended = w->names ? lockholder_ended(c) : 0;   /* the program's memory may be another the next time */
	waiton_enter(w, c->pid, c->tid, c->call, c->args);
	waiton_wait(w, c->tid, 0);
	waiton_text(w, c->tid, buf, size);
	if (waiton_joined(w, c->tid))
		snprintf(buf + strlen(buf), size - strlen(buf), " (%d)", pidmap_shown(waiton_joined(w, c->tid)));
	else if (lockholder_joined(c, holder, sizeof(holder)) && waitargs_is_still(c))
		snprintf(buf, size, "join of thread %s", holder);
	else if (ended && waitargs_is_still(c)) {
		waiton_ended_name(w, ended, holder, sizeof(holder));
		snprintf(buf + strlen(buf), size - strlen(buf), " held by %s", holder);
	} else if (lockholder_text(c, holder, sizeof(holder)) && waitargs_is_still(c)) {
		snprintf(buf + strlen(buf), size - strlen(buf), " %s", holder);
	}
}

char *waitargs_now(struct waiton *w, pid_t tid, char *buf, size_t size)
{
	struct waitargs c;

	if (w->recorded || waitargs_find(tid, &c) != WAITARGS_A_CALL || !waiton_may_be_in(w, tid, c.call, c.args[0]))
		return waiton_text(w, tid, buf, size);
	waitargs_text(w, &c, buf, size);
	return buf;
}
