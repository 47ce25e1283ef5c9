/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

/* Programs and libraries only. What is in them is nobody's secret; a core dump is. */
static bool is_program(int fd)
{
	unsigned char head[18];
	unsigned int type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? head[16] << 8 | head[17] : head[17] << 8 | head[16];
	return type == ET_EXEC || type == ET_DYN;
}


static int only_program(int fd)
{
	if (fd >= 0 && !is_program(fd)) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static int give_file(const struct request *r)
{
	return only_program(opener_file(&opener_direct, r->pid, r->text));
}

static int give_mapped(const struct request *r)
{
	unsigned long long start, end;

	if (r->pid <= 0 || sscanf(r->text, "%llx-%llx", &start, &end) != 2)
		return -EINVAL;
	return only_program(opener_mapped(&opener_direct, r->pid, start, end));
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
	if (rc)
		close(pair[0]);
	k->socket = pair[0];
	return rc;
}

struct keeper *keeper_start(void (*clean_up)(void *ctx), void *ctx, struct fault *f)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = k ? fork_it(k, clean_up, ctx) : -ENOMEM;

	if (rc) {
		fault_set(f, EXIT_FAILED, "the process that keeps privilege can't be started: %s",
			  strerror(-rc));
		free(k);
		return NULL;
	}
	k->opener = (struct opener){ ask_file, ask_proc, k, ask_perf_map, ask_mapped };
	return k;
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
	/* it reads the end, cleans up, and its own end ends this */
	shutdown(k->socket, SHUT_WR);
	while (recv(k->socket, &c, 1, 0) > 0 || errno == EINTR)
		errno = 0;
	close(k->socket);
	free(k);
}
