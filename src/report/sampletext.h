/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of events other than tracepoints as text, after the time. */
#ifndef REPORT_SAMPLETEXT_H
#define REPORT_SAMPLETEXT_H

#include "stream/names.h"
#include "tasks/resolve.h"

/* A sample as received from the stream; all pointers are borrowed. */
struct sample_view {
	const struct stream_event *event;
	const struct perf_event_header *rec;
	const void *raw;
	uint32_t raw_size, cpu;
	const struct stream_counts *counts;   /* counts of its group to show; NULL: none */
};

/* "profile: 1003009 cpu-clock", or "7f0012345678 55d0c0de1139 main+0x10 (/usr/bin/x)": escaped
 * for a terminal. Returns the length, below size. */
size_t sample_text(struct names *names, const struct sample_view *s, char *buf, size_t size);
/* Registers, if the sample has them: complete lines. */
size_t sample_registers_text(const struct sample_view *s, char *buf, size_t size);
/* "ax", "x0", "reg40": a register's name as a key. False: a 32-bit task has no such register. */
bool sample_register_name(const struct pev_format *fmt, uint64_t abi, unsigned int reg, char *buf,
			  size_t size);
/* The time, which all samples have. */
static inline uint64_t sample_time(const struct sample_view *s)
{
	return layout_u64(s->rec, s->event->layout.time);
}
#endif
