/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run ends, and whether it is about to. */
#include "base/now.h"
#include "stream/recording/facts.h"
#include "stream/state/state.h"

void stream_finish(struct stream *s)
{
	if (!s->run.stop)
		s->run.stop = STOP_TARGET;
}

void stream_stop(struct stream *s)
{
	s->run.stop = STOP_CONSUMER;
	s->run.stopping = true;
	atomic_fetch_or_explicit(&s->run.attention.bits, ATTN_LOOK, memory_order_relaxed);
}

void stream_interrupt(struct stream *s)
{
	attention_raise(&s->run.attention, ATTN_STOP);
}

void stream_hurry(struct stream *s)
{
	uint64_t never = 0;

	atomic_compare_exchange_strong(&s->run.attention.stop_ns, &never, now_ns(CLOCK_MONOTONIC));
}

void stream_set_ended(struct stream *s)
{
	atomic_store(&s->run.attention.ended, !atomic_load(&s->run.attention.stops));
}

bool stream_is_stopping(const struct stream *s)
{
	/* a signal during a callback is handled only after it returns */
	return s->run.stop || attention_pending(&s->run.attention) & (ATTN_STOP | ATTN_DEADLINE);
}

bool stream_ended_with_targets(const struct stream *s)
{
	return s->run.stop == STOP_TARGET;
}

bool stream_has_unwatched(const struct stream *s)
{
	return s->run.unwatched;
}

bool stream_was_interrupted(const struct stream *s)
{
	return s->run.stop == STOP_SIGNAL;
}

int stream_check_whole(const struct stream *s, struct fault *f)
{
	uint64_t at, size;

	if (!s->replay || !stream_was_interrupted(s) || !replay_place(s->replay, &at, &size) || at >= size)
		return 0;
	return fault_set(f, EXIT_INTERRUPTED, "interrupted after %u %% of %s: the output covers only that part",
			 (unsigned int)(100 * (double)at / (double)size), s->opts->input);
}
