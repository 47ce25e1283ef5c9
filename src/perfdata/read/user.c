/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the recorder, not of the kernel. Unknown ones are skipped. */
#include "perfdata/read/reading.h"
#include "perfdata/read/resync.h"

#include <inttypes.h>
#include <stdlib.h>

/* The body, in the recorder's byte order. */
static struct scan body_of(struct perfdata_reader *r, const struct perf_event_header *head)
{
	const char *at = window_here(&r->w);

	return (struct scan){ at + sizeof(*head), at + head->size, r->foreign };
}

static int take_attr(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f)
{
	struct scan s = body_of(r, head), attr = s;
	uint32_t type = 0, size = 0;
	int rc;

	scan_u32(&attr, &type);
	scan_u32(&attr, &size);
	size = size ? size : MIN_ATTR;   /* the first kernels left it 0 */
	if (size > scan_left(&s) || size < MIN_ATTR)
		return reading_fault(r, f, r->at, "an event of %u bytes in a record of %u: it is damaged", size,
				     head->size);
	rc = attrs_add(r, s.p, size, s.p + size, (scan_left(&s) - size) / 8, f);
	window_skip(&r->w, head->size);
	return rc;
}

/* The record has the size of the formats, and they follow it; simpleperf puts them into the record. */
static int take_tracing(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f)
{
	struct scan s = body_of(r, head);
	uint32_t size = 0;
	char piece[4096];

	bytes_free(&r->tracing);
	if (scan_u32(&s, &size) && size && scan_left(&s) >= size) {
		bytes_add(&r->tracing, s.p, size);
		size = 0;
	}
	window_skip(&r->w, head->size);
	if (size > MAX_SECTION)
		return reading_fault(r, f, r->at, "%u bytes of tracepoint formats; expected at most %d", size,
				     MAX_SECTION);
	while (size && !r->tracing.failed) {
		uint32_t n = size < sizeof(piece) ? size : (uint32_t)sizeof(piece);

		if (!window_take(&r->w, piece, n))
			return reading_fault(r, f, window_at(&r->w), "the recording ends within the formats of its "
					     "tracepoints, %u bytes before their end", size);
		bytes_add(&r->tracing, piece, n);
		size -= n;
	}
	return r->tracing.failed ? reading_no_memory(f) : 0;
}

static void take_feature(struct perfdata_reader *r, struct scan *s)
{
	uint64_t feature = 0;

	if (!scan_u64(s, &feature) || feature >= 64)
		return;
	r->info.features |= UINT64_C(1) << feature;
	if (!feature_take(r, (int)feature, s->p, scan_left(s)))
		r->info.unread |= UINT64_C(1) << feature;
}

static int pass_own(struct perfdata_reader *r, const struct perf_event_header *head)
{
	r->counts.own++;
	window_skip(&r->w, head->size);
	return 0;
}

/* The AUX data of a hardware tracer follows the record. */
static int skip_aux(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f)
{
	uint64_t size = user_area(r, head), there;

	if (!resync_has_area(r, head))
		return pass_own(r, head);
	window_skip(&r->w, head->size);
	there = window_skip(&r->w, size);
	r->counts.aux_bytes += there;
	if (size % 8)
		r->grid = 1;
	if (there < size)
		return reading_fault(r, f, window_at(&r->w), "an AUX area of %" PRIu64 " bytes begins at %#"
				     PRIx64 ", but %" PRIu64 " are there", size, r->at, there);
	return 0;
}

/* Layout: id, CPU and thread, value, times. */
static bool take_count(struct perfdata_reader *r, struct scan *s)
{
	uint64_t v[5] = { 0 };
	struct pev_count *sum;

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		scan_u64(s, &v[i]);
	if (ids_find(&r->ids, v[0]) < 0)
		return false;
	sum = &r->events[ids_find(&r->ids, v[0])].sum;
	*sum = (struct pev_count){ sum->value + v[2], sum->time_enabled + v[3], sum->time_running + v[4], .timed = true };
	return true;
}

/* Layout: type, time. */
static bool end_counts(struct perfdata_reader *r, struct scan *s)
{
	scan_u64(s, &r->info.counted_ns);
	scan_u64(s, &r->info.counted_ns);
	for (struct perfdata_event *e = r->events; e < r->events + r->nevents; e++) {
		e->counted = pev_count_delta(&e->before, &e->sum);
		e->before = e->sum;
		e->sum = (struct pev_count){ .timed = true };
	}
	return true;
}

/* False if the record is not used. */
static bool take(struct perfdata_reader *r, const struct perf_event_header *head)
{
	struct scan s = body_of(r, head);

	switch (head->type) {
	case PERFDATA_EVENT_TYPE:
		/* a seekable file has them read at the start */
		return addenda_is_record(window_here(&r->w), head->size) || feature_take_event_type(r, &s);
	case PERFDATA_FEATURE:
		take_feature(r, &s);
		return true;
	case PERFDATA_EVENT_UPDATE:
		return feature_take_update(r, &s);
	case PERFDATA_STAT:
		return take_count(r, &s);
	case PERFDATA_STAT_ROUND:
		return end_counts(r, &s);
	case PERFDATA_BUILD_ID:
		return feature_take_build_id(r, window_here(&r->w), head->size);
	default:
		return false;
	}
}

int user_record(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f)
{
	if (head->size % 8)
		r->grid = 1;
	if (!user_fits(r, head, window_here(&r->w)))
		return pass_own(r, head);
	/* recorders write events before their records: an event that comes later would change whose
	 * samples are whose */
	if (head->type == PERFDATA_HEADER_ATTR && !r->settled)
		return take_attr(r, head, f);
	if (head->type == PERFDATA_TRACING_DATA)
		return take_tracing(r, head, f);
	if (head->type == PERFDATA_AUXTRACE)
		return skip_aux(r, head, f);
	if (!take(r, head))
		r->counts.other++;
	window_skip(&r->w, head->size);
	return 0;
}
