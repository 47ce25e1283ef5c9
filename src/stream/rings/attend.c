/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/attend.h"

#include "perfevent/rings/ring_private.h"
#include "stream/rings/rings.h"
#include "stream/state/requests.h"

#include <unistd.h>

void attend_requests(struct stream *s)
{
	unsigned int bits = atomic_exchange(&s->attn.bits, 0);

	if (bits & ATTN_REOPEN)
		output_reopen(&s->opts->output);
	if (bits & ATTN_STAT && s->dumps.flight)
		request_dump_now(s);
	else if (bits & ATTN_STAT && s->opts->recording.switch_signal)
		request_next_file(s);
	else if (bits & ATTN_STAT && s->ops->print_stat)
		s->ops->print_stat(s->ctx);
	if (bits & ATTN_INTERVAL && s->ops->interval && !s->stop)
		s->ops->interval(s->ctx);
	if (bits & ATTN_STOP && !s->stop)
		s->stop = STOP_SIGNAL;
	if (bits & ATTN_DEADLINE)
		s->deadline = true;
	s->stopping = s->stop && (!s->draining || s->deadline || s->stop == STOP_CONSUMER);
}

uint64_t stream_asked_to_stop(void *stream)
{
	return atomic_load(&((struct stream *)stream)->attn.stop_ns);
}

/* Who asks is in the middle of a lookup: what the rings of names hold may not be handed over now. */
bool stream_is_pressed(void *stream)
{
	struct stream *s = stream;

	if (s->sideband && sideband_is_pressed(s->sideband))
		return true;
	for (size_t i = 0; i < s->nrings; i++)
		if (pev_ring_waiting_(s->rings[i].ring) > pev_ring_size(s->rings[i].ring) / 4)
			return true;
	return attention_pending(&s->attn) & (ATTN_STOP | ATTN_DEADLINE);
}

void attend_set_delivering(struct stream *s, bool on)
{
	pthread_mutex_lock(&s->attn.lock);
	s->attn.delivering = on;
	pthread_mutex_unlock(&s->attn.lock);
}

static void last_words(void *ctx)
{
	struct stream *s = ctx;

	loss_tell(s, true);
	if (s->ops->abandon)
		s->ops->abandon(s->ctx);
	_exit(EXIT_INTERRUPTED);
}

static void interrupt(void *ctx)
{
	struct stream *s = ctx;

	pthread_mutex_lock(&s->attn.lock);
	if (s->attn.delivering && s->ops->interrupt)
		attention_nudge(&s->attn);
	pthread_mutex_unlock(&s->attn.lock);
}

static void nudge(void *ctx)
{
	struct stream *s = ctx;

	s->ops->interrupt(s->ctx);
}

int attend_begin(struct stream *s, const struct stream_ops *ops, void *ctx, uint64_t interval_ms, struct fault *f)
{
	s->ops = ops;
	s->ctx = ctx;
	s->attn = (struct attention){
		.kick = -1, .tell = -1, .timer = -1, .ctx = s,
		.restart = !ops->interrupt, .interrupt = interrupt, .last_words = last_words, .nudge = nudge,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	return attention_start(&s->attn, interval_ms, f);
}
