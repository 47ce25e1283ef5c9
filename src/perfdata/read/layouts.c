/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of the records that perf makes itself. Other recorders use the same types for other records. */
#include "perfdata/read/reading.h"

enum { MOST_AREA_BITS = 44, MANY_KINDS = 16 };

/* Body sizes: exactly or at least `size` bytes, or `size` bytes and as many units as the first word says. */
static const struct {
	uint32_t type;
	uint16_t size, unit;
	bool least;
} layouts[] = {
	{ PERFDATA_HEADER_ATTR, 8, 0, true },
	{ PERFDATA_EVENT_TYPE, 8, 0, true },   /* without a name */
	{ PERFDATA_TRACING_DATA, 4, 0, true },
	{ PERFDATA_BUILD_ID, 36, 0, true },
	{ PERFDATA_FINISHED_ROUND, 0, 0, false },
	{ PERFDATA_ID_INDEX, 8, 32, false },
	{ PERFDATA_ID_INDEX, 8, 48, false },
	{ PERFDATA_AUXTRACE_INFO, 8, 0, true },
	{ PERFDATA_AUXTRACE, 40, 0, false },
	{ PERFDATA_AUXTRACE_ERROR, 32, 0, true },
	{ PERFDATA_THREAD_MAP, 8, 24, false },
	{ PERFDATA_CPU_MAP, 8, 0, true },
	{ PERFDATA_STAT_CONFIG, 8, 16, false },
	{ PERFDATA_STAT, 40, 0, false },
	{ PERFDATA_STAT_ROUND, 16, 0, false },
	{ PERFDATA_EVENT_UPDATE, 16, 0, true },
	{ PERFDATA_TIME_CONV, 24, 0, true },
	{ PERFDATA_FEATURE, 8, 0, true },
	{ PERFDATA_COMPRESSED, 1, 0, true },
	{ PERFDATA_FINISHED_INIT, 0, 0, false },
	{ PERFDATA_COMPRESSED2, 9, 0, true },
};

static bool has_layout(const struct perfdata_reader *r, const struct perf_event_header *head, const char *bytes)
{
	struct scan s = { bytes + sizeof(*head), bytes + head->size, r->foreign };
	size_t size = scan_left(&s);
	uint64_t first = 0;

	scan_u64(&s, &first);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		uint64_t units = layouts[i].unit ? first : 0;

		if (layouts[i].type == head->type && units <= UINT16_MAX &&
		    (layouts[i].least ? size >= layouts[i].size : size == layouts[i].size + units * layouts[i].unit))
			return true;
	}
	return false;
}

static bool begins_frame(const char *bytes, size_t n)
{
	static const char magic[] = { 0x28, (char)0xb5, 0x2f, (char)0xfd };

	return n >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

/* In the layout of files the header has all events. In a pipe all attrs have one size. */
static bool is_event(const struct perfdata_reader *r, const char *body, size_t n)
{
	struct scan s = { body, body + n, r->foreign };
	uint32_t type, size = 0;

	if (!r->pipe_layout)
		return false;
	if (!r->nevents)
		return true;
	scan_u32(&s, &type);
	scan_u32(&s, &size);
	size = size ? size : MIN_ATTR;
	return size <= n && size >= r->events->attr.attr.size && (n - size) % 8 == 0;
}

/* Whether a text with a NUL and a printable first character begins there. */
static bool is_name(const struct scan *body, size_t at)
{
	const char *text = body->p + at;

	return scan_left(body) > at && *text > ' ' && memchr(text, '\0', scan_left(body) - at);
}

/* Kinds: an array of CPUs, a bit map, a range. */
static bool is_cpu_map(const struct scan *s)
{
	uint16_t kind = 0, n = 0, width = 0;
	struct scan words = *s;

	scan_u16(&words, &kind);
	scan_u16(&words, &n);
	scan_u16(&words, &width);
	if (!kind)
		return n && scan_left(s) >= 4u + 2 * n;
	return kind == 1 ? width == 4 || width == 8 : kind == 2 && scan_left(s) == 8;
}

/* Checks the values that can be wrong. */
static bool makes_sense(const struct perfdata_reader *r, uint32_t type, struct scan *s)
{
	struct scan words = *s;
	uint64_t first = 0;
	uint32_t kind = 0;

	scan_u32(&words, &kind);
	words = *s;
	scan_u64(&words, &first);
	switch (type) {
	case PERFDATA_HEADER_ATTR:
		return is_event(r, s->p, scan_left(s));
	case PERFDATA_EVENT_TYPE:
		return scan_left(s) == 8 || is_name(s, 8) || addenda_is_record(s->p - sizeof(struct perf_event_header),
							 scan_left(s) + sizeof(struct perf_event_header));
	case PERFDATA_BUILD_ID:
		return is_name(s, 28);
	case PERFDATA_TRACING_DATA:   /* the formats follow the record, or are in it (simpleperf) */
		return scan_left(s) <= 8 || kind <= scan_left(s) - 4;
	case PERFDATA_AUXTRACE_INFO:
	case PERFDATA_AUXTRACE_ERROR:
		return kind < MANY_KINDS;
	case PERFDATA_AUXTRACE:
		return first >> MOST_AREA_BITS == 0;
	case PERFDATA_CPU_MAP:
		return is_cpu_map(s);
	case PERFDATA_TIME_CONV:
		return first < 64;
	case PERFDATA_FEATURE:
		return r->pipe_layout && first < 64;
	case PERFDATA_EVENT_UPDATE:
		return first < MANY_KINDS && attrs_id_event(r, words.p) >= 0;
	case PERFDATA_STAT:
		return r->pipe_layout || r->info.features >> FEATURE_STAT & 1;
	case PERFDATA_COMPRESSED:
		return r->z || begins_frame(s->p, scan_left(s));
	case PERFDATA_COMPRESSED2:
		return r->z || begins_frame(words.p, scan_left(&words));
	default:
		return true;
	}
}

bool user_fits(const struct perfdata_reader *r, const struct perf_event_header *head, const char *bytes)
{
	struct scan body = { bytes + sizeof(*head), bytes + head->size, r->foreign };

	return has_layout(r, head, bytes) && makes_sense(r, head->type, &body);
}

uint64_t user_area(struct perfdata_reader *r, const struct perf_event_header *head)
{
	const char *bytes = window_here(&r->w);
	struct scan s = { bytes + sizeof(*head), bytes + head->size, r->foreign };
	uint64_t size = 0;
	uint32_t size32 = 0;

	if (head->type == PERFDATA_AUXTRACE)
		return scan_u64(&s, &size) ? size : 0;
	scan_u32(&s, &size32);
	return scan_left(&s) >= size32 ? 0 : size32;   /* simpleperf has it in the record */
}
