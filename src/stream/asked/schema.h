/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of an event as expressions see them, in this order: those of its tracepoint, or else
 * the parts of its sample (ip, addr, ...); _cpu, _pid, _tid, _time, _period and _comm; the common_ fields
 * of tracepoints; CPU and comm, as in filters of the kernel.
 */
#ifndef STREAM_ASKED_SCHEMA_H
#define STREAM_ASKED_SCHEMA_H

#include "expr/expr.h"
#include "stream/asked/event.h"

/* Where fields lie: indices of expr_run.area. */
enum { SCHEMA_RAW, SCHEMA_RECORD, SCHEMA_CPU, SCHEMA_EACH };

/* The first function of every schema: the name of the task that ran. This one returns no copy, and needs a
 * struct schema_sample as the ctx of struct expr_run. */
enum { SCHEMA_COMM };
extern const struct expr_func schema_comm;
struct schema_sample {
	const struct stream_event *event;
	const struct perf_event_header *rec;
	const void *raw;
};

/* Fills a schema, with schema_comm as its only function. It borrows names from the event. 0 or -ENOMEM. */
int schema_of_event(struct expr_schema *schema, const struct stream_event *event);
/* PERF_SAMPLE_* bits of what the expression reads from a sample. */
uint64_t schema_reads(const struct expr *expr, const struct stream_event *event);
void schema_free(struct expr_schema *schema);

/* Points the run at one sample. *cpu must stay valid while the run is used. */
static inline void schema_set_run(struct expr_run *run, const struct stream_event *event,
				  const struct perf_event_header *rec, const void *raw, uint32_t raw_size, const uint32_t *cpu)
{
	run->area[SCHEMA_RAW].bytes = raw;
	run->area[SCHEMA_RAW].size = raw_size;
	run->area[SCHEMA_RECORD].bytes = rec;
	run->area[SCHEMA_RECORD].size = rec->size;
	run->area[SCHEMA_CPU].bytes = cpu;
	run->area[SCHEMA_CPU].size = sizeof(*cpu);
	run->area[SCHEMA_EACH].bytes = &event->each;
	run->area[SCHEMA_EACH].size = sizeof(event->each);
}
#endif
