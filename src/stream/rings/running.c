/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/running.h"

#include "stream/recording/files.h"
#include "stream/rings/ids.h"
#include "tasks/comms.h"

/* An event_naming.comm. */
static const char *comm_of(void *stream, const struct stream_event *event, const struct perf_event_header *rec,
			   const void *raw)
{
	const pid_t tid = stream_tid(event, rec, raw);
	struct stream *s = stream;

	return comms_get(ids_names(s, s->rings.comms, tid), tid);
}

void running_init(struct stream *s)
{
	s->rings.naming = (struct event_naming){ .comm = comm_of, .stream = s };
}

int running_begin(struct stream *s, struct fault *f)
{
	const struct opener *opener = s->opts->opener;

	if (!s->rings.naming.needed)
		return 0;
	if (s->replay)
		opener = recorded_opener(&s->rings.recorded, opener, s->replay);
	s->rings.comms = comms_new(opener);
	if (!s->rings.comms)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (!s->replay)
		comms_snapshot(s->rings.comms);
	return 0;
}

void running_end(struct stream *s)
{
	comms_free(s->rings.comms);
	s->rings.comms = NULL;
}
