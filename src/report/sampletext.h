/* SPDX-License-Identifier: Apache-2.0 */
/* How samples of events that are no tracepoints print, behind the time. */
#ifndef REPORT_SAMPLETEXT_H
#define REPORT_SAMPLETEXT_H

#include "stream/names.h"
#include "tasks/resolve.h"

/* A sample as a consumer of the stream gets it; all is borrowed. */
struct sample_view {
	const struct stream_event *event;
	const struct perf_event_header *rec;
	const void *raw;
	uint32_t raw_size, cpu;
	const struct stream_counts *counts;   /* of its group, to be shown; NULL: none */
};

/* "profile: 1003009 cpu-clock", or "7f0012345678 55d0c0de1139 main+0x10 (/usr/bin/x)": safe
 * for a terminal. Returns the length, below size. */
size_t sample_text(struct names *names, const struct sample_view *s, char *buf, size_t size);
/* Registers, if the sample has them: whole lines. */
size_t sample_registers_text(const struct sample_view *s, char *buf, size_t size);
/* "ax", "x0", "reg40": a register's name as a key. */
void sample_register_name(const struct pev_format *fmt, uint64_t abi, unsigned int reg, char *buf,
			  size_t size);
/* "main+0x10 (/usr/bin/x)" of an address; "Unknown+0x0 ([unknown])". */
size_t sample_symbol_text(const struct resolve_words *words, char *buf, size_t size);
/* The time of a sample, which all samples have. */
static inline uint64_t sample_time(const struct sample_view *s)
{
	return layout_u64(s->rec, s->event->layout.time);
}
#endif
