/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the parts of a sample lie, computed once per event from its attr. Parts before
 * the first one of variable length have a fixed offset from the record's start; the
 * raw data, which can follow a callchain, is found by layout_raw().
 */
#ifndef EVENTS_LAYOUT_H
#define EVENTS_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct layout {
	uint64_t sample_type;
	/* bytes from the record's start; 0 = not there */
	uint8_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint8_t read;           /* of its first word */
	uint8_t callchain;      /* of its u64 count, where no group's counts precede it */
	uint8_t raw;            /* of its u32 size, where nothing of variable length precedes it */
	uint8_t fixed_end;      /* a record shorter than this is malformed */
	uint8_t group_entry;    /* READ of a group: bytes per member, else 0 */
};

/* What follows RAW is read by pev_decode(). */
void layout_from_format(struct layout *l, uint64_t sample_type, uint64_t read_format);
/* The same for samples without counts (PERF_SAMPLE_READ). */
void layout_from_sample_type(struct layout *l, uint64_t sample_type);

/* The parts that lie in those 8 bytes of a record, a bit for each: PERF_SAMPLE_*. */
uint64_t layout_parts_at(const struct layout *l, uint64_t places);

/* The raw data of a sample; NULL if the record contradicts itself. */
const void *layout_raw(const struct layout *l, const struct perf_event_header *rec,
		       uint32_t *raw_size);
/* The callchain's ips; NULL if there is none or the record contradicts itself. */
const uint64_t *layout_callchain(const struct layout *l, const struct perf_event_header *rec,
				 uint64_t *nr);

static inline uint64_t layout_u64(const struct perf_event_header *rec, uint8_t offset)
{
	return *(const uint64_t *)((const char *)rec + offset);
}

static inline uint32_t layout_u32(const struct perf_event_header *rec, uint8_t offset)
{
	return *(const uint32_t *)((const char *)rec + offset);
}
#endif
