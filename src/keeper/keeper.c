/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum request_kind { REQUEST_FILE = 1, REQUEST_PROC, REQUEST_PERF_MAP, REQUEST_MAPPED };

/* One datagram; `text` ends with a NUL. */
struct request {
	uint32_t kind;
	int32_t pid;
	char text[PATH_MAX];
};

enum { REQUEST_HEAD = offsetof(struct request, text) };

struct keeper {
	struct opener opener;
	int socket;
	int32_t process;         /* its own id */
	pid_t pid;               /* whose it is: a forked child would take its parent's answers */
};

/* ---- a descriptor in a datagram --------------------------------------------- */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_answer(int socket, int32_t rc, int fd)
{
	union control control = {0};
	struct iovec iov = { &rc, sizeof(rc) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	if (sendmsg(socket, &msg, MSG_NOSIGNAL) < 0)
		return;   /* it has gone: the next read says so */
}

/* The descriptor, or -errno as the keeper had it. */
static int receive_answer(int socket)
{
	union control control = {0};
	int32_t rc = -EPIPE;
	struct iovec iov = { &rc, sizeof(rc) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c;
	ssize_t n;
	int fd = -1;

	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (n != sizeof(rc))
		return -EPIPE;
	return rc < 0 ? rc : fd < 0 ? -EPIPE : fd;
}

/* ---- what it gives ----------------------------------------------------------- */

/* Programs and libraries only; a core dump is a secret. */
static bool is_program(int fd)
{
	unsigned char head[18];
	unsigned int type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? head[16] << 8 | head[17] : head[17] << 8 | head[16];
	return type == ET_EXEC || type == ET_DYN;
}

static bool is_line_of(pid_t pid, const char *line, const struct stat *file)
{
	unsigned long long start, end;
	char flags[5], path[128];
	struct stat st;

	if (sscanf(line, "%llx-%llx %4s", &start, &end, flags) != 3 || flags[2] != 'x')
		return false;
	/* the numbers in the line are not those of stat(2) on all file systems */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Whether the process runs code of that file. */
static bool is_run_by(pid_t pid, const struct stat *file)
{
	size_t size = 0;
	char path[64], *line = NULL;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &size, maps) > 0)
		found = is_line_of(pid, line, file);
	if (maps)
		fclose(maps);
	free(line);
	return found;
}

/* What everybody may read, or what some process shows by running it. */
static bool is_no_secret(pid_t pid, int fd)
{
	struct stat st;

	return is_program(fd) && !fstat(fd, &st) &&
	       (st.st_mode & S_IROTH || (pid > 0 && is_run_by(pid, &st)));
}

static int only_program(pid_t pid, int fd)
{
	if (fd >= 0 && !is_no_secret(pid, fd)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static int give_file(const struct request *r)
{
	return only_program(r->pid, opener_file(&opener_direct, r->pid, r->text));
}

static int give_mapped(const struct request *r)
{
	unsigned long long start, end;

	if (r->pid <= 0 || sscanf(r->text, "%llx-%llx", &start, &end) != 2)
		return -EINVAL;
	return only_program(r->pid, opener_mapped(&opener_direct, r->pid, start, end));
}

static int give_proc(const struct request *r)
{
	if (r->pid <= 0 || (strcmp(r->text, "maps") && strcmp(r->text, "comm")))
		return -EACCES;
	return opener_proc(&opener_direct, r->pid, r->text);
}

static void answer(int socket, const struct request *r)
{
	int fd = -EINVAL;

	if (r->pid >= 0 && r->kind == REQUEST_FILE)
		fd = give_file(r);
	else if (r->kind == REQUEST_PROC)
		fd = give_proc(r);
	else if (r->kind == REQUEST_PERF_MAP && r->pid > 0)
		fd = opener_perf_map(&opener_direct, r->pid);
	else if (r->kind == REQUEST_MAPPED)
		fd = give_mapped(r);
	send_answer(socket, fd < 0 ? fd : 0, fd);
	if (fd >= 0)
		close(fd);
}

/* ---- the process ------------------------------------------------------------- */

/* Nothing of the run stays here but the socket: no event, no ring, no file. */
static void close_all_but(int socket)
{
	if (socket > 0 && syscall(SYS_close_range, 0, (unsigned int)socket - 1, 0) == 0 &&
	    syscall(SYS_close_range, (unsigned int)socket + 1, ~0U, 0) == 0)
		return;
	for (int fd = 0; fd < 65536; fd++)   /* before Linux 5.9 */
		if (fd != socket)
			close(fd);
}

static void keep(int socket, void (*clean_up)(void *ctx), void *ctx)
{
	static struct request r;
	ssize_t n;

	/* the terminal's signals are for the run, whose end we notice */
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGCHLD ? SIG_DFL : SIG_IGN);
	prctl(PR_SET_NAME, "perf-prof-keep");
	close_all_but(socket);
	send_answer(socket, getpid(), -1);
	while ((n = recv(socket, &r, sizeof(r), 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n <= REQUEST_HEAD || r.text[n - REQUEST_HEAD - 1])
			send_answer(socket, -EINVAL, -1);
		else
			answer(socket, &r);
	}
	if (clean_up)
		clean_up(ctx);
	_exit(0);
}

/* ---- the run's side ---------------------------------------------------------- */

static int ask(struct keeper *k, enum request_kind kind, pid_t pid, const char *text)
{
	size_t n = strlen(text) + 1;
	struct request r = { .kind = kind, .pid = pid };
	ssize_t sent;

	if (k->pid != getpid())
		return -EPERM;
	if (n > sizeof(r.text))
		return -ENAMETOOLONG;
	memcpy(r.text, text, n);
	do
		sent = send(k->socket, &r, REQUEST_HEAD + n, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : receive_answer(k->socket);
}

static int ask_file(void *ctx, pid_t pid, const char *path)
{
	return ask(ctx, REQUEST_FILE, pid, path);
}

static int ask_proc(void *ctx, pid_t pid, const char *name)
{
	/* files of no process are the run's own affair, with the privilege that it has */
	return pid ? ask(ctx, REQUEST_PROC, pid, name) : opener_proc(&opener_direct, 0, name);
}

static int ask_perf_map(void *ctx, pid_t pid)
{
	return ask(ctx, REQUEST_PERF_MAP, pid, "");
}

static int ask_mapped(void *ctx, pid_t pid, uint64_t start, uint64_t end)
{
	char text[64];

	snprintf(text, sizeof(text), "%llx-%llx", (unsigned long long)start, (unsigned long long)end);
	return ask(ctx, REQUEST_MAPPED, pid, text);
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EAGAIN;
}

/* Children of the run shall neither ask nor keep it from ending. A fork handler has no
 * argument of ours, hence the static: the last one that was started. */
static struct keeper *_Atomic of_the_run;

static void forget_in_child(void)
{
	struct keeper *k = atomic_exchange(&of_the_run, NULL);

	if (!k)
		return;
	close(k->socket);
	k->socket = -1;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_in_child);
}

static int receive_own_id(int socket, int32_t *id)
{
	ssize_t n;

	do
		n = recv(socket, id, sizeof(*id), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*id) ? 0 : -EPIPE;
}

/* A child of init: no wait() of the script ever meets it. */
static int fork_it(struct keeper *k, void (*clean_up)(void *ctx), void *ctx)
{
	int pair[2], rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child = fork();
	if (child == 0) {
		child = fork();
		if (child)
			_exit(child < 0);
		close(pair[0]);
		keep(pair[1], clean_up, ctx);
	}
	rc = child < 0 ? -errno : wait_for(child);
	close(pair[1]);
	if (!rc)
		rc = receive_own_id(pair[0], &k->process);
	if (rc)
		close(pair[0]);
	k->socket = pair[0];
	return rc;
}

struct keeper *keeper_start(void (*clean_up)(void *ctx), void *ctx, struct fault *f)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = k ? fork_it(k, clean_up, ctx) : -ENOMEM;

	if (rc) {
		fault_set(f, EXIT_FAILED, "cannot start the process that keeps privilege: %s; look "
			  "at ulimit -u and ulimit -n",
			  strerror(-rc));
		free(k);
		return NULL;
	}
	k->opener = (struct opener){ ask_file, ask_proc, k, ask_perf_map, ask_mapped };
	k->pid = getpid();
	pthread_once(&once, watch_forks);
	atomic_store(&of_the_run, k);
	return k;
}

pid_t keeper_pid(const struct keeper *k)
{
	return k->process;
}

const struct opener *keeper_opener(struct keeper *k)
{
	return &k->opener;
}

void keeper_stop(struct keeper *k)
{
	char c;

	if (!k)
		return;
	if (k->pid != getpid()) {
		free(k);         /* the keeper is the parent's */
		return;
	}
	atomic_store(&of_the_run, NULL);
	/* it reads the end, cleans up, and its own end ends this */
	shutdown(k->socket, SHUT_WR);
	while (recv(k->socket, &c, 1, 0) > 0 || errno == EINTR)
		errno = 0;
	close(k->socket);
	free(k);
}
