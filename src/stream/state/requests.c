/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/state/requests.h"

#include "stream/state/state.h"

void request_dump(struct stream *s, uint64_t time, const char *why)
{
	struct dump_moment *asked = &s->dumps.asked, *next = &s->dumps.next;

	if (!asked->time)
		*asked = (struct dump_moment){ time, time, why };
	else if (time > asked->until && time <= asked->time + DUMPS_PATIENCE)
		asked->until = time;
	else if (time > asked->until && (!next->time || time < next->time))
		*next = (struct dump_moment){ time, time, why };
}

void request_dump_now(struct stream *s)
{
	request_dump(s, stream_now(s), "SIGUSR2");
}

/* For a source, whose own sample of a tracepoint may come just before the one of that tracepoint in the list, which is recorded:
 * that is the event by which the dump is requested, and belongs to it. */
void stream_ask_dump(struct stream *s, uint64_t time, const char *why)
{
	enum { SAME_HIT_NS = 100000 };

	if (s->dumps.flight)
		request_dump(s, time + SAME_HIT_NS, why);
}

void request_next_file(struct stream *s)
{
	s->record.wants_switch = true;
}
