/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/jail/wire.h"

#include "base/now.h"
#include "base/room.h"
#include "base/ticket.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SECONDS = 20, START_SECONDS = 10, END_MS = 1000 };

struct parser {
	const struct parser_row *rows;
	unsigned int seconds;
	pid_t owner;             /* the process; a forked child does not share the sockets */
	int control;             /* socket to the nursery; -1: parse here */
	int32_t nursery;
	bool apart;
	int socket;              /* connected to the worker; -1: none */
	pid_t worker;
	unsigned int deaths;
	struct helpers helpers;
	bool (*is_over)(void *ctx);  /* NULL: only the limit of p->seconds */
	void *ctx;
	const struct opener *opener;  /* NULL: there are no tickets */
	pid_t elsewhere;         /* the process that last answered instead of the worker */
	void *states[PARSER_KINDS];   /* of handlers that run in this process */
};

/* ---- bytes ------------------------------------------------------------------ */

int parser_put(struct parser_bytes *out, const void *data, size_t n)
{
	char *bytes = out->data;

	if (!n)
		return 0;
	if (n > PARSER_MAX_BYTES - out->size || !ROOM_FOR(bytes, out->cap, out->size, n))
		return -ENOMEM;
	out->data = bytes;
	memcpy(bytes + out->size, data, n);
	out->size += n;
	return 0;
}

void parser_bytes_free(struct parser_bytes *b)
{
	free(b->data);
	*b = (struct parser_bytes){ 0 };
}

/* ---- start ------------------------------------------------------------------ */

static bool has_privilege(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (!geteuid() || getuid() != geteuid())
		return true;
	return !syscall(SYS_capget, &header, have) && (have[0].effective || have[1].effective);
}

static struct wire_limit limit_of(unsigned int seconds)
{
	return (struct wire_limit){ .deadline = now_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000) };
}

static int fork_nursery(struct parser *p)
{
	struct wire_limit limit = limit_of(START_SECONDS);
	int pair[2], rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child = helpers_fork();
	if (child == 0)
		parser_serve(pair[1], p->rows);
	rc = child < 0 ? -errno : 0;
	close(pair[1]);
	if (!rc)
		rc = wire_receive(pair[0], &p->nursery, sizeof(p->nursery), &limit);
	if (rc)
		close(pair[0]);
	else
		p->control = pair[0];
	if (!rc)
		helpers_started(&p->helpers, p->nursery);
	return rc;
}

struct parser *parser_new(const struct parser_opts *opts)
{
	struct parser *p = opts->rows ? calloc(1, sizeof(*p)) : NULL;
	int rc = 0;

	if (!p) {
		errno = opts->rows ? ENOMEM : EINVAL;
		return NULL;
	}
	p->rows = opts->rows;
	p->seconds = opts->seconds ? opts->seconds : SECONDS;
	p->helpers = opts->helpers;
	p->opener = opts->opener && opts->opener->parse ? opts->opener : NULL;
	p->owner = getpid();
	p->control = p->socket = -1;
	p->apart = opts->place == PARSER_APART || (opts->place == PARSER_AUTO && has_privilege());
	if (p->apart)
		rc = fork_nursery(p);
	if (!rc)
		return p;
	free(p);
	errno = -rc;
	return NULL;
}

static void leave_worker(struct parser *p)
{
	if (p->socket >= 0)
		close(p->socket);
	p->socket = -1;
	p->worker = 0;
}

void parser_free(struct parser *p)
{
	struct pollfd nursery = { .fd = p ? p->control : -1 };

	if (!p)
		return;
	for (int i = 0; i < PARSER_KINDS; i++)
		if (p->states[i] && p->rows[i].forget)
			p->rows[i].forget(p->states[i]);
	leave_worker(p);
	/* its worker may hang in a file */
	if (getpid() == p->owner && !shutdown(p->control, SHUT_WR) && poll(&nursery, 1, END_MS) == 1)
		helpers_wait(p->nursery);
	if (p->control >= 0)
		close(p->control);
	free(p);
}

/* ---- questions -------------------------------------------------------------- */

static int get_worker(struct parser *p)
{
	struct wire_limit limit = limit_of(START_SECONDS);
	struct wire_worker w = { 0 };
	unsigned int nfds = 0;
	int fds[PARSER_MAX_FDS];
	char c = WIRE_NEW_WORKER;
	int rc;

	if (p->socket >= 0)
		return 0;
	rc = wire_send_fds(p->control, &c, 1, NULL, 0);
	if (!rc)
		rc = wire_receive_fds(p->control, &w, sizeof(w), fds, &nfds, &limit);
	if (rc || nfds != 1 || !w.pid)
		return -EPIPE;
	p->socket = fds[0];
	p->worker = w.pid;
	helpers_started(&p->helpers, w.pid);
	return 0;
}

/* *answered is the handler's return value. */
static int receive_answer(struct parser *p, struct parser_bytes *out, int *answered,
			  const struct wire_limit *limit)
{
	struct wire_head head;
	int rc = wire_receive(p->socket, &head, sizeof(head), limit);

	if (rc)
		return rc;
	if (head.size > PARSER_MAX_BYTES || head.rc > 0)
		return -EPIPE;
	out->data = head.size ? malloc(head.size) : NULL;
	if (head.size && !out->data)
		return -EPIPE;
	out->size = out->cap = head.size;
	*answered = head.rc;
	rc = wire_receive(p->socket, out->data, head.size, limit);
	if (rc || head.rc)
		parser_bytes_free(out);
	return rc;
}

static int ask_worker(struct parser *p, const struct parser_question *q, struct parser_bytes *out)
{
	struct wire_head head = { .kind = q->kind, .size = q->size };
	struct wire_limit limit;
	int rc = get_worker(p), answered = 0;
	char c = WIRE_NO_WORKER;

	if (rc)
		return rc;
	limit = limit_of(p->seconds);
	limit.is_over = p->is_over;
	limit.ctx = p->ctx;
	rc = wire_send_fds(p->socket, &head, sizeof(head), q->fds, q->nfds);
	if (!rc)
		rc = wire_send(p->socket, q->bytes, q->size, &limit);
	if (!rc)
		rc = receive_answer(p, out, &answered, &limit);
	if (!rc)
		return answered;
	leave_worker(p);
	wire_send_fds(p->control, &c, 1, NULL, 0);   /* ends the old worker, which may still be busy */
	p->deaths++;
	return rc == -ETIME ? rc : -EOWNERDEAD;
}

static int ask_here(struct parser *p, const struct parser_question *q, struct parser_bytes *out)
{
	const struct parser_row *row = q->kind < PARSER_KINDS ? &p->rows[q->kind] : NULL;
	int rc = row && row->answer ? row->answer(&p->states[q->kind], q, out) : -EOPNOTSUPP;

	if (rc)
		parser_bytes_free(out);
	return rc;
}

static bool has_ticket(const struct parser_question *q)
{
	for (unsigned int i = 0; i < q->nfds; i++)
		if (ticket_is(q->fds[i]))
			return true;
	return false;
}

static int ask_elsewhere(struct parser *p, const struct parser_question *q, struct parser_bytes *out)
{
	struct opener_question o = { .kind = (int)q->kind, .fds = q->fds, .nfds = q->nfds, .bytes = q->bytes,
				     .size = q->size };
	int rc = p->opener->parse(p->opener->ctx, &o);

	if (o.worker != p->elsewhere)
		helpers_started(&p->helpers, o.worker);
	p->elsewhere = o.worker;
	*out = (struct parser_bytes){ o.answer, o.answer_size, o.answer_size };
	return rc;
}

int parser_ask(struct parser *p, const struct parser_question *q, struct parser_bytes *out)
{
	*out = (struct parser_bytes){ 0 };
	if (q->nfds > PARSER_MAX_FDS || q->size > PARSER_MAX_BYTES)
		return -EINVAL;
	if (p->is_over && p->is_over(p->ctx))
		return -ETIME;
	if (p->opener && has_ticket(q))
		return ask_elsewhere(p, q, out);
	if (p->control < 0 || getpid() != p->owner)
		return ask_here(p, q, out);
	return ask_worker(p, q, out);
}

const char *parser_error_text(int err)
{
	static const struct {
		int err;
		const char *text;
	} rows[] = {
		{ EINVAL, "it is not a regular file" },
		{ EBADMSG, "it is not an ELF file, or a damaged one" },
		{ EOWNERDEAD, "the process that reads it died: it is damaged" },
		{ ETIME, "it takes too long to read" },
		{ EPIPE, "the process that reads it did not start" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].err == err)
			return rows[i].text;
	return strerror(err);
}

void parser_bound(struct parser *p, bool (*is_over)(void *ctx), void *ctx)
{
	p->is_over = is_over;
	p->ctx = ctx;
}

void parser_warm(struct parser *p)
{
	if (p->control >= 0 && getpid() == p->owner)
		get_worker(p);
}

bool parser_is_apart(const struct parser *p, const struct parser_question *q)
{
	return p->apart || (p->opener && has_ticket(q));
}

const struct helpers *parser_helpers(const struct parser *p)
{
	return &p->helpers;
}

unsigned int parser_deaths(const struct parser *p)
{
	return p->deaths;
}

int parser_worker_pid(const struct parser *p)
{
	return p->socket >= 0 ? p->worker : -1;
}
