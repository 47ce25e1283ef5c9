/* SPDX-License-Identifier: Apache-2.0 */
#include "events/layout.h"

#include <perfevent.h>

#include <stddef.h>

/* The fixed u64 words in the kernel's order (perf_output_sample). */
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

/* Bytes before the values of a group's members, or before one event's value. */
static uint8_t read_head(uint64_t read_format, bool group)
{
	uint64_t times = read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint8_t bytes = (uint8_t)(8 * __builtin_popcountll(times));

	return (uint8_t)(bytes + (group ? 8 : 0));
}

static uint8_t read_entry(uint64_t read_format)
{
	return (uint8_t)(8 * (1 + __builtin_popcountll(read_format & (PERF_FORMAT_ID | PEV_FORMAT_LOST))));
}

void layout_from_format(struct layout *l, uint64_t sample_type, uint64_t read_format)
{
	bool group = read_format & PERF_FORMAT_GROUP;
	uint8_t at = sizeof(struct perf_event_header);

	*l = (struct layout){ .sample_type = sample_type };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!(sample_type & words[i].bit))
			continue;
		*((uint8_t *)l + words[i].member) = at;
		at += 8;
	}
	if (sample_type & PERF_SAMPLE_READ) {
		l->read = at;
		at += read_head(read_format, group);
		if (group)
			l->group_entry = read_entry(read_format);
		else
			at += read_entry(read_format);
	}
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		l->callchain = at;
		at += 8;
	}
	if (sample_type & PERF_SAMPLE_RAW) {
		l->raw = at;
		at += 8;        /* u32 size; with the data it is padded to u64 */
	}
	l->fixed_end = at;
	if (sample_type & PERF_SAMPLE_CGROUP && !(sample_type & PERF_SAMPLE_AUX))
		l->cgroup = (uint8_t)(8 + 8 * __builtin_popcountll(sample_type & (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)));
}

void layout_from_sample_type(struct layout *l, uint64_t sample_type)
{
	layout_from_format(l, sample_type, 0);
}

uint64_t layout_parts_at(const struct layout *l, uint64_t places)
{
	uint64_t parts = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint8_t at = *((const uint8_t *)l + words[i].member);

		if (at && places >> (at / 8) & 1)
			parts |= words[i].bit;
	}
	return parts;
}

/* Bytes of a group's counts, which lie between the fixed fields; false if they do not fit. */
static bool group_bytes(const struct layout *l, const struct perf_event_header *rec, uint32_t *bytes)
{
	uint64_t nr;

	*bytes = 0;
	if (!l->group_entry)
		return true;
	if (rec->size < l->fixed_end)
		return false;
	nr = layout_u64(rec, l->read);
	if (nr > (uint64_t)(rec->size - l->fixed_end) / l->group_entry)
		return false;
	*bytes = (uint32_t)nr * l->group_entry;
	return true;
}

const uint64_t *layout_callchain(const struct layout *l, const struct perf_event_header *rec,
				 uint64_t *nr)
{
	uint32_t at, before;

	if (!l->callchain || !group_bytes(l, rec, &before))
		return NULL;
	at = l->callchain + before;
	if (rec->size < at + 8)
		return NULL;
	*nr = *(const uint64_t *)((const char *)rec + at);
	if (*nr > (rec->size - at - 8) / 8)
		return NULL;
	return (const uint64_t *)((const char *)rec + at + 8);
}

const void *layout_raw(const struct layout *l, const struct perf_event_header *rec,
		       uint32_t *raw_size)
{
	uint32_t at = l->raw, before;

	if (rec->size < l->fixed_end || !at || !group_bytes(l, rec, &before))
		return NULL;
	at += before;
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

bool layout_cgroup(const struct layout *l, const struct perf_event_header *rec, uint64_t *id)
{
	if (!l->cgroup || rec->size < l->fixed_end + l->cgroup)
		return false;
	*id = *(const uint64_t *)((const char *)rec + rec->size - l->cgroup);
	return true;
}
