/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints that a source watches in a recording. */
#include "stream/list/list.h"

#include <stdio.h>

bool recording_has(const struct stream *s, const char *sys, const char *name)
{
	return track_of_samples(s->replay, sys, name) < s->replay->ntracks;
}

struct stream_event *recording_watch(struct stream *s, const struct spec_item *item, const char *source,
				     const char *sys, const char *name, struct fault *f)
{
	const struct replay *p = s->replay;
	struct stream_event *ev;
	char message[700], expected[300];
	bool unknown = false;
	size_t i = track_of_samples(p, sys, name);

	if (i == p->ntracks) {
		for (size_t k = 0; k < p->ntracks; k++)
			unknown |= !p->tracks[k].fmt &&
				   perfdata_event(p->reader, k)->attr.attr.type == PERF_TYPE_TRACEPOINT;
		snprintf(message, sizeof(message), "%s needs samples of %s:%s, which %s lacks%s", source, sys, name,
			 s->opts->input, unknown ? " (or its format)" : "");
		snprintf(expected, sizeof(expected), "a recording with -e %s:%s", sys, name);
		spec_fault(f, item, item->at, message, expected);
		return NULL;
	}
	ev = events_append(s, item, f);
	if (!ev || event_set_tracepoint(ev, sys, name, f))
		return NULL;
	ev->opened.track = (uint32_t)i;
	ev->fmt = p->tracks[i].fmt;
	ev->min_raw = ev->fmt->min_size;
	ev->each = 1;
	layout_from_format(&ev->layout, p->tracks[i].widened, perfdata_event(p->reader, i)->format.read_format);
	ev->opened.regs_user = perfdata_event(p->reader, i)->format.regs_user;
	ev->opened.machine = perfdata_info(p->reader)->arch;
	ev->opened.narrow = &p->narrow;
	return ev;
}
