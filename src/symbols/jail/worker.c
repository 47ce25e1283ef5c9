/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nursery forks a worker on request, and gives the asker a socket to it. The nursery never
 * touches data that workers read, so each new worker is as clean as the first; and it drops its
 * privilege before it forks any.
 */
#include "symbols/jail/wire.h"

#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a worker --------------------------------------------------------------- */

static int read_bytes(int socket, struct parser_question *q, const struct wire_head *head)
{
	void *bytes = head->size <= PARSER_MAX_BYTES ? malloc(head->size ? head->size : 1) : NULL;

	if (!bytes || wire_receive(socket, bytes, head->size, NULL)) {
		free(bytes);
		return -1;
	}
	q->bytes = bytes;
	q->size = head->size;
	return 0;
}

static int send_answer(int socket, int rc, const struct parser_bytes *out)
{
	struct wire_head head = { .rc = rc, .size = rc ? 0 : out->size };

	if (wire_send(socket, &head, sizeof(head), NULL))
		return -1;
	return wire_send(socket, out->data, head.size, NULL);
}

static int answer(int socket, const struct parser_row *rows, void **states,
		  const struct wire_head *head, struct parser_question *q)
{
	struct parser_bytes out = { 0 };
	int rc = -EOPNOTSUPP;

	if (read_bytes(socket, q, head))
		return -1;
	if (head->kind < PARSER_KINDS && rows[head->kind].answer)
		rc = rows[head->kind].answer(&states[head->kind], q, &out);
	for (unsigned int i = 0; i < q->nfds; i++)
		close(q->fds[i]);
	free((void *)(uintptr_t)q->bytes);
	rc = send_answer(socket, rc, &out);
	parser_bytes_free(&out);
	return rc;
}

static _Noreturn void work(int socket, const struct parser_row *rows)
{
	void *states[PARSER_KINDS] = { NULL };
	struct parser_question q;
	struct wire_head head;
	int rc;

	prctl(PR_SET_NAME, "perf-prof-parse");
	for (int sig = 1; sig < 32; sig++)   /* its own faults end it; signals from the terminal do not */
		if (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGABRT)
			signal(sig, SIG_DFL);
	if (jail_lock())
		_exit(1);
	do {
		memset(&q, 0, sizeof(q));
		rc = wire_receive_fds(socket, &head, sizeof(head), q.fds, &q.nfds, NULL);
		q.kind = head.kind;
	} while (!rc && !answer(socket, rows, states, &head, &q));
	_exit(0);
}

/* ---- the nursery ------------------------------------------------------------ */

/* Kills the previous worker, which may still be busy, and waits for its end. */
static int32_t bury(pid_t *worker)
{
	int status = 0;

	if (*worker > 0) {
		kill(*worker, SIGKILL);
		TEMP_FAILURE_RETRY(waitpid(*worker, &status, 0));
	}
	*worker = 0;
	return status;
}

static void give_worker(int control, const struct parser_row *rows, pid_t *worker, int32_t status)
{
	struct wire_worker w = { .status = status };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		wire_send_fds(control, &w, sizeof(w), NULL, 0);
		return;
	}
	*worker = fork();
	if (*worker == 0) {
		descriptors_close_but(pair[1], 2);
		work(pair[1], rows);
	}
	close(pair[1]);
	w.pid = *worker < 0 ? 0 : *worker;
	wire_send_fds(control, &w, sizeof(w), pair, w.pid ? 1 : 0);
	close(pair[0]);
}

void parser_serve(int control, const struct parser_row *rows)
{
	int32_t self = getpid();
	pid_t worker = 0;
	int32_t status;
	char c;
	int null;

	/* signals from the terminal are for the run; the nursery ends when the run has ended */
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGCHLD || sig == SIGABRT ? SIG_DFL : SIG_IGN);
	prctl(PR_SET_NAME, "perf-prof-pars0");
	descriptors_close_but(control, 2);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);   /* for messages of a library that aborts */
	if (null >= 0)
		dup2(null, 2);
	if (jail_leave_privilege(0))
		_exit(1);
	if (wire_send_fds(control, &self, sizeof(self), NULL, 0))
		_exit(1);
	while (recv(control, &c, 1, 0) == 1) {
		status = bury(&worker);
		if (c == WIRE_NEW_WORKER)
			give_worker(control, rows, &worker, status);
	}
	bury(&worker);
	_exit(0);
}
