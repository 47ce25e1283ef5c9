/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/layout.h"

#include <stddef.h>

/* The kernel's order of the fixed u64 words (perf_output_sample). */
static const struct {
	uint64_t bit;
	size_t member;
} words[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct layout, identifier) },
	{ PERF_SAMPLE_IP, offsetof(struct layout, ip) },
	{ PERF_SAMPLE_TID, offsetof(struct layout, tid) },
	{ PERF_SAMPLE_TIME, offsetof(struct layout, time) },
	{ PERF_SAMPLE_ADDR, offsetof(struct layout, addr) },
	{ PERF_SAMPLE_ID, offsetof(struct layout, id) },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct layout, stream_id) },
	{ PERF_SAMPLE_CPU, offsetof(struct layout, cpu) },
	{ PERF_SAMPLE_PERIOD, offsetof(struct layout, period) },
};

void layout_from_sample_type(struct layout *l, uint64_t sample_type)
{
	uint8_t at = sizeof(struct perf_event_header);

	*l = (struct layout){ .sample_type = sample_type };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!(sample_type & words[i].bit))
			continue;
		*((uint8_t *)l + words[i].member) = at;
		at += 8;
	}
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		l->callchain = at;
		at += 8;
	}
	if (sample_type & PERF_SAMPLE_RAW) {
		l->raw = at;
		at += 8;        /* u32 size, and the data is padded to u64 */
	}
	l->fixed_end = at;
}

const uint64_t *layout_callchain(const struct layout *l, const struct perf_event_header *rec,
				 uint64_t *nr)
{
	uint64_t room;

	if (!l->callchain || rec->size < l->callchain + 8u)
		return NULL;
	room = (rec->size - l->callchain - 8u) / 8;
	*nr = layout_u64(rec, l->callchain);
	if (*nr > room)
		return NULL;
	return (const uint64_t *)((const char *)rec + l->callchain + 8);
}

const void *layout_raw(const struct layout *l, const struct perf_event_header *rec,
		       uint32_t *raw_size)
{
	uint32_t at = l->raw;

	if (rec->size < l->fixed_end || !at)
		return NULL;
	if (l->callchain) {
		uint64_t nr;

		if (!layout_callchain(l, rec, &nr))
			return NULL;
		at += (uint32_t)nr * 8;
	}
	if (rec->size < at + 4)
		return NULL;
	*raw_size = *(const uint32_t *)((const char *)rec + at);
	if (*raw_size > rec->size - at - 4)
		return NULL;
	return (const char *)rec + at + 4;
}
