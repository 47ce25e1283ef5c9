/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/parser_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(PARSER_MAX_FDS * sizeof(int))];
};

/* Milliseconds that are left, rounded up; -1: for ever. */
static int left(const struct timespec *deadline)
{
	struct timespec now;
	long long ms;

	if (!deadline)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (deadline->tv_sec - now.tv_sec) * 1000ll + (deadline->tv_nsec - now.tv_nsec) / 1000000 + 1;
	return ms > 0 ? (int)(ms < 1 << 30 ? ms : 1 << 30) : 0;
}

static int wait_for(int socket, short events, const struct timespec *deadline)
{
	struct pollfd p = { .fd = socket, .events = events };
	int rc;

	do
		rc = poll(&p, 1, left(deadline));
	while (rc < 0 && errno == EINTR);
	return rc > 0 ? 0 : rc ? -EPIPE : -ETIME;
}

static bool is_soft(ssize_t rc)
{
	return rc < 0 && (errno == EINTR || errno == EAGAIN);
}

int wire_send(int socket, const void *data, size_t n, const struct timespec *deadline)
{
	const char *p = data;

	while (n) {
		ssize_t sent = send(socket, p, n, MSG_NOSIGNAL | (deadline ? MSG_DONTWAIT : 0));
		int rc;

		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		} else if (!is_soft(sent)) {
			return -EPIPE;
		} else if (deadline) {
			rc = wait_for(socket, POLLOUT, deadline);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int wire_receive(int socket, void *data, size_t n, const struct timespec *deadline)
{
	char *p = data;

	while (n) {
		ssize_t got = recv(socket, p, n, deadline ? MSG_DONTWAIT : 0);
		int rc;

		if (got > 0) {
			p += got;
			n -= (size_t)got;
		} else if (!is_soft(got)) {
			return -EPIPE;
		} else if (deadline) {
			rc = wait_for(socket, POLLIN, deadline);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int wire_send_fds(int socket, const void *data, size_t n, const int *fds, unsigned int nfds)
{
	union control control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)data, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	if (nfds) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(nfds * sizeof(int)), .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), fds, nfds * sizeof(int));
	}
	do
		sent = sendmsg(socket, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n ? 0 : -EPIPE;
}

/* The descriptors of a message: as many as came, of which PARSER_MAX_FDS at most are let in. */
static unsigned int take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	unsigned int n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return n;
}

int wire_receive_fds(int socket, void *data, size_t n, int *fds, unsigned int *nfds,
		     const struct timespec *deadline)
{
	union control control;
	struct iovec iov = { data, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t got;
	int rc = 0;

	*nfds = 0;
	if (deadline)
		rc = wait_for(socket, POLLIN, deadline);
	if (rc)
		return rc;
	do
		got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		*nfds = take_fds(&msg, fds);
	if (got == (ssize_t)n)
		return 0;
	if (got > 0)             /* the rest of it is on its way */
		rc = wire_receive(socket, (char *)data + got, n - (size_t)got, deadline);
	else
		rc = -EPIPE;
	for (unsigned int i = 0; rc && i < *nfds; i++)
		close(fds[i]);
	*nfds = rc ? 0 : *nfds;
	return rc;
}
