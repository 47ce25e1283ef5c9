/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/read/resync.h"

#include "perfdata/read/reading.h"

#define HOUR UINT64_C(3600000000000)

const char *resync_window(struct perfdata_reader *r, size_t n)
{
	if (r->w.error)
		return NULL;   /* stopped: more bytes never come */
	return window_fill(&r->w, n) ? window_here(&r->w) : NULL;
}

/* Does not wait for more bytes from a pipe. */
static const char *see_there(struct perfdata_reader *r, size_t n)
{
	if (r->w.seekable)
		return resync_window(r, n);
	return window_have(&r->w) >= n ? window_here(&r->w) : NULL;
}

static enum verdict look(struct perfdata_reader *r, resync_see *see, size_t at, struct judged *judged)
{
	const char *bytes = see(r, at + sizeof(judged->head));
	enum verdict verdict;

	if (!bytes)
		return CUT;
	verdict = verdict_of(r, bytes + at, sizeof(judged->head), judged);
	if (verdict != CUT)
		return verdict;
	bytes = see(r, at + judged->head.size);
	return bytes ? verdict_of(r, bytes + at, judged->head.size, judged) : CUT;
}

/* ---- finding the next record -------------------------------------------------- */

/* One fitting record can be chance. Two with plausible times are not, nor four without, nor one round. */
enum { ENOUGH = 4, LOOK = 8 };

static int weight_of(const struct perfdata_reader *r, const struct judged *judged)
{
	uint64_t time = judged->time, before = r->time_before;

	if (judged->head.type == PERFDATA_FINISHED_ROUND)
		return ENOUGH;
	if (!before)
		return ENOUGH / 2;
	if (!time || (time > before ? time - before : before - time) > HOUR)
		return 1;
	return ENOUGH / 2;
}

/* by_heads: if no recorder writes samples that fit their layout, four possible headers in a row are
 * enough. */
static bool begins(struct perfdata_reader *r, resync_see *see, size_t at, bool by_heads)
{
	struct judged judged;
	bool sound = false;
	int weight = 0;

	r->time_behind = 0;
	for (int n = 0; n < LOOK && weight < ENOUGH; n++, at += judged.head.size) {
		enum verdict verdict = look(r, see, at, &judged);
		bool head;

		if (verdict == CUT)
			return sound;   /* the end, or the end of what is looked at */
		head = by_heads && judged.head.type == PERF_RECORD_SAMPLE;
		if (verdict == BROKEN || (!n && verdict != SOUND && !head))
			return false;
		sound |= verdict == SOUND;
		weight += verdict == SOUND ? weight_of(r, &judged) : head;
		if (!r->time_behind)
			r->time_behind = judged.time;
	}
	return weight >= ENOUGH;
}

bool resync_begins(struct perfdata_reader *r, resync_see *see, size_t at)
{
	return begins(r, see, at, false);
}

static void widen(struct perfdata_span *span, uint64_t from, uint64_t to)
{
	if (from && (!span->from || from < span->from))
		span->from = from;
	if (to > span->to)
		span->to = to;
}

void resync_count(struct perfdata_reader *r, uint64_t bytes, bool place)
{
	uint64_t before = r->time_before, behind = r->time_behind;
	uint64_t from = before && (!behind || before < behind) ? before : behind, to = before > behind ? before : behind;

	if (to - from > HOUR)   /* one of the times is damaged too, and nothing says which */
		from = to = 0;
	r->counts.damaged_bytes += bytes;
	if (!place)
		return;
	r->counts.damaged_places++;
	r->counts.place = (struct perfdata_span){ from, to };
	widen(&r->counts.damaged, from, to);
}

void resync_pass(struct perfdata_reader *r)
{
	uint64_t bytes = window_skip(&r->w, r->grid);

	r->time_behind = 0;
	while (!window_is_stopped(&r->w) && window_fill(&r->w, sizeof(struct perf_event_header)) &&
	       !begins(r, resync_window, 0, true)) {
		r->w.pos += r->grid;
		bytes += r->grid;
	}
	if (window_have(&r->w) < sizeof(struct perf_event_header))
		bytes += window_skip(&r->w, window_have(&r->w));
	resync_count(r, bytes, true);
}

/* ---- doubtful records ---------------------------------------------------------- */

static bool holds_others(struct perfdata_reader *r, resync_see *see, const struct perf_event_header *head)
{
	for (size_t at = r->grid; at < head->size; at += r->grid)
		if (resync_begins(r, see, at))
			return true;
	return false;
}

/* ---- areas --------------------------------------------------------------------- */

static bool is_beyond_end(const struct perfdata_reader *r, const struct perf_event_header *head, uint64_t area)
{
	uint64_t end = perfdata_end(r), at = window_at(&r->w) + head->size;

	return at > end || area > end - at;
}

bool resync_has_area(struct perfdata_reader *r, const struct perf_event_header *head)
{
	return !is_beyond_end(r, head, user_area(r, head)) ||
	       !resync_begins(r, resync_window, head->size);
}

/* Whether a record may begin behind the area of the current record. */
static bool area_ends(struct perfdata_reader *r, const struct perf_event_header *head)
{
	uint64_t at = window_at(&r->w) + head->size, area = user_area(r, head);
	char bytes[sizeof(*head)];
	struct judged judged;

	if (!r->w.seekable || is_beyond_end(r, head, area))
		return true;
	return reading_at(r, at + area, bytes, sizeof(bytes)) || at + area + sizeof(bytes) > perfdata_end(r) ||
	       verdict_of(r, bytes, sizeof(bytes), &judged) != BROKEN;
}

/* The bytes behind such a record are not records. */
static bool is_followed_by_bytes(uint32_t type)
{
	return type == PERFDATA_TRACING_DATA || type == PERFDATA_AUXTRACE;
}

const char *resync_doubt(struct perfdata_reader *r, resync_see *see, const struct perf_event_header *head)
{
	struct judged judged, behind;
	bool window = see == resync_window, packed = window && is_compressed(head->type);
	enum verdict verdict;

	see = window ? see_there : see;
	verdict = look(r, see, 0, &judged);

	if (verdict == BROKEN)
		return "no recorder writes such a head";
	if (verdict == SOUND && (head->type < USER_TYPES || head->type == PERFDATA_FINISHED_ROUND))
		return NULL;
	if (verdict == SOUND && window && is_followed_by_bytes(head->type))
		return area_ends(r, head) ? NULL : "no record follows its area";
	/* if a compressed record is skipped, the rest of its stream is lost: so it is accepted if only
	 * the record behind it is damaged */
	if (packed && look(r, see, head->size, &behind) != BROKEN)
		return NULL;
	if (holds_others(r, see, head))
		return "others begin within it";
	return !packed && look(r, see, head->size, &behind) == BROKEN ? "no record follows it" : NULL;
}
