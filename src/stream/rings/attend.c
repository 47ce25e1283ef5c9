/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/attend.h"

#include "perfevent/rings/ring_private.h"
#include "stream/rings/rings.h"
#include "stream/state/requests.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void attend_requests(struct stream *s)
{
	unsigned int bits = atomic_exchange(&s->run.attention.bits, 0);

	stream_flush(s);
	if (bits & ATTN_REOPEN)
		output_reopen(&s->opts->output);
	if (bits & ATTN_STAT && s->dumps.flight)
		request_dump_now(s);
	else if (bits & ATTN_STAT && s->opts->recording.switch_signal)
		request_next_file(s);
	else if (bits & ATTN_STAT && s->run.ops->print_stat)
		s->run.ops->print_stat(s->run.ctx);
	if (bits & ATTN_INTERVAL && s->run.ops->interval && !s->run.stop)
		s->run.ops->interval(s->run.ctx);
	if (bits & ATTN_STOP && !s->run.stop)
		s->run.stop = STOP_SIGNAL;
	if (bits & ATTN_DEADLINE)
		s->run.deadline = true;
	s->run.stopping = s->run.stop && (!s->run.draining || s->run.deadline || s->run.stop == STOP_CONSUMER);
}

uint64_t stream_asked_to_stop(void *stream)
{
	return atomic_load(&((struct stream *)stream)->run.attention.stop_ns);
}

/* The caller is in the middle of a lookup, so records of the sideband cannot be handed over now. */
bool stream_is_pressed(void *stream)
{
	struct stream *s = stream;

	if (s->sideband && sideband_is_pressed(s->sideband))
		return true;
	for (size_t i = 0; i < s->rings.n; i++)
		if (pev_ring_waiting_(s->rings.v[i].ring) > pev_ring_size(s->rings.v[i].ring) / 4)
			return true;
	return attention_pending(&s->run.attention) & (ATTN_STOP | ATTN_DEADLINE);
}

void attend_set_delivering(struct stream *s, bool on)
{
	pthread_mutex_lock(&s->run.attention.lock);
	s->run.attention.delivering = on;
	pthread_mutex_unlock(&s->run.attention.lock);
}

/* As after the first signal, but without waiting for it. */
static void end_command(const struct stream *s)
{
	if (s->run.end_with < 0)
		return;
	syscall(SYS_pidfd_send_signal, s->run.end_with, SIGTERM, NULL, 0);
	syscall(SYS_pidfd_send_signal, s->run.end_with, SIGCONT, NULL, 0);
}

/* A terminal that nobody reads would hold up the end. */
static bool can_write(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents & POLLOUT;
}

/* write(2), not stdio: the interrupted thread may hold stdio's lock. */
static void last_words(void *ctx)
{
	static const char interrupted[] = "perf-prof: interrupted\n";
	struct stream *s = ctx;

	if (can_write(STDERR_FILENO))
		loss_tell(s, true);
	end_command(s);
	if (s->run.ops->abandon)
		s->run.ops->abandon(s->run.ctx);
	if (can_write(STDERR_FILENO))
		(void)!write(STDERR_FILENO, interrupted, sizeof(interrupted) - 1);
	_exit(EXIT_INTERRUPTED);
}

static void interrupt(void *ctx)
{
	struct stream *s = ctx;

	pthread_mutex_lock(&s->run.attention.lock);
	if (s->run.attention.delivering && s->run.ops->interrupt)
		attention_nudge(&s->run.attention);
	pthread_mutex_unlock(&s->run.attention.lock);
}

static void nudge(void *ctx)
{
	struct stream *s = ctx;

	s->run.ops->interrupt(s->run.ctx);
}

int attend_begin(struct stream *s, const struct stream_ops *ops, void *ctx, uint64_t interval_ms, struct fault *f)
{
	s->run.ops = ops;
	s->run.ctx = ctx;
	s->run.attention = (struct attention){
		.kick = -1, .tell = -1, .timer = -1, .end = -1, .ctx = s,
		.embedded = s->opts->embedded, .restart = !ops->interrupt, .interrupt = interrupt, .last_words = last_words, .nudge = nudge,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	return attention_start(&s->run.attention, interval_ms, f);
}
