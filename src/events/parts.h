/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a sample by name: names of PERF_SAMPLE_* bits as fields of events other than
 * tracepoints, and in the attribute sample=.
 */
#ifndef EVENTS_PARTS_H
#define EVENTS_PARTS_H

#include <stddef.h>
#include <stdint.h>

enum part_kind {
	PART_INT,
	PART_LIST,             /* frames */
	PART_DICT,
	PART_BYTES,
};

struct sample_part {
	const char *name;
	uint64_t bits;         /* any of them enables it */
	enum part_kind kind;
};

/* In the order of the fields; NULL past the end. TID has two rows. */
const struct sample_part *sample_part_at(size_t i);
/* The bits for a name in the table, or for "tid" and "pid"; 0: unknown. */
uint64_t sample_part_bits(const char *name, size_t len);
#endif
