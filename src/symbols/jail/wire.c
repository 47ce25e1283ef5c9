/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/jail/wire.h"

#include "base/now.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_MS = 50 };

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(PARSER_MAX_FDS * sizeof(int))];
};

/* Milliseconds left, rounded up, at most the longest sleep. */
static int left(const struct wire_limit *limit)
{
	int64_t ms = (int64_t)(limit->deadline - now_ns(CLOCK_MONOTONIC)) / 1000000 + 1;

	return ms > 0 ? (int)(ms < LOOK_MS ? ms : LOOK_MS) : 0;
}

static int wait_for(int socket, short events, const struct wire_limit *limit)
{
	struct pollfd p = { .fd = socket, .events = events };
	int ms, rc;

	do {
		ms = left(limit);
		rc = poll(&p, 1, ms);
		if (rc <= 0 && limit->is_over && limit->is_over(limit->ctx))
			return -ETIME;
	} while (!rc ? ms > 0 : rc < 0 && errno == EINTR);
	return rc > 0 ? 0 : rc ? -EPIPE : -ETIME;
}

static bool is_soft(ssize_t rc)
{
	return rc < 0 && (errno == EINTR || errno == EAGAIN);
}

/* Sends, or receives, all n bytes. */
static int transfer(int socket, char *p, size_t n, bool sends, const struct wire_limit *limit)
{
	int flags = limit ? MSG_DONTWAIT : 0, rc;

	while (n) {
		ssize_t done = sends ? send(socket, p, n, MSG_NOSIGNAL | flags) : recv(socket, p, n, flags);

		if (done > 0) {
			p += done;
			n -= (size_t)done;
		} else if (!is_soft(done)) {
			return -EPIPE;
		} else if (limit) {
			rc = wait_for(socket, sends ? POLLOUT : POLLIN, limit);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int wire_send(int socket, const void *data, size_t n, const struct wire_limit *limit)
{
	return transfer(socket, (char *)(uintptr_t)data, n, true, limit);
}

int wire_receive(int socket, void *data, size_t n, const struct wire_limit *limit)
{
	return transfer(socket, data, n, false, limit);
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
	sent = TEMP_FAILURE_RETRY(sendmsg(socket, &msg, MSG_NOSIGNAL));
	return sent == (ssize_t)n ? 0 : -EPIPE;
}

/* Stores the descriptors of a message; returns their number, at most PARSER_MAX_FDS. */
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
		     const struct wire_limit *limit)
{
	union control control;
	struct iovec iov = { data, n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t got;
	int rc = 0;

	*nfds = 0;
	if (limit)
		rc = wait_for(socket, POLLIN, limit);
	if (rc)
		return rc;
	got = TEMP_FAILURE_RETRY(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC));
	if (got > 0)
		*nfds = take_fds(&msg, fds);
	if (got == (ssize_t)n)
		return 0;
	if (got > 0)             /* the rest has not arrived yet */
		rc = wire_receive(socket, (char *)data + got, n - (size_t)got, limit);
	else
		rc = -EPIPE;
	for (unsigned int i = 0; rc && i < *nfds; i++)
		close(fds[i]);
	*nfds = rc ? 0 : *nfds;
	return rc;
}
