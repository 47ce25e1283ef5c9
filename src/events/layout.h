/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of the fields of a sample, computed once per event from its attr. Fields before the
 * first one of variable length have a fixed offset from the record's start; layout_raw() finds
 * the raw data, which may follow a callchain.
 */
#ifndef EVENTS_LAYOUT_H
#define EVENTS_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct layout {
	uint64_t sample_type;
	/* bytes from the record's start; 0 = not present */
	uint8_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint8_t read;           /* its first word */
	uint8_t callchain;      /* its u64 count, if no group's counts precede it */
	uint8_t raw;            /* its u32 size, if nothing of variable length precedes it */
	uint8_t fixed_end;      /* a record shorter than this is malformed */
	uint8_t group_entry;    /* READ of a group: bytes per member, else 0 */
	uint8_t cgroup;         /* bytes from there to the record's end; 0: not present, or something of variable length follows */
};

/* Fields after RAW are decoded by pev_decode(). */
void layout_from_format(struct layout *l, uint64_t sample_type, uint64_t read_format);
/* layout_from_format() for samples without counts (PERF_SAMPLE_READ). */
void layout_from_sample_type(struct layout *l, uint64_t sample_type);

/* The fields in these 8-byte words of a record (a bit for each), as PERF_SAMPLE_* bits. */
uint64_t layout_parts_at(const struct layout *l, uint64_t places);

/* The raw data of a sample; NULL if the record is malformed. */
const void *layout_raw(const struct layout *l, const struct perf_event_header *rec,
		       uint32_t *raw_size);
/* The callchain's ips; NULL if there is none or the record is malformed. */
const uint64_t *layout_callchain(const struct layout *l, const struct perf_event_header *rec,
				 uint64_t *nr);

/* The control group of the task; false: the sample has none, or is malformed. */
bool layout_cgroup(const struct layout *l, const struct perf_event_header *rec, uint64_t *id);

static inline uint64_t layout_u64(const struct perf_event_header *rec, uint8_t offset)
{
	return *(const uint64_t *)((const char *)rec + offset);
}

static inline uint32_t layout_u32(const struct perf_event_header *rec, uint8_t offset)
{
	return *(const uint32_t *)((const char *)rec + offset);
}
#endif
