/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The true end of a record.
 *
 * For KSYMBOL, BPF_EVENT and TEXT_POKE records the kernel (since 5.1, seen on 6.18) adds the size
 * of the sample_id to header.size for each event that gets the record, without undoing it for the
 * next event. So for the second of two events, header.size is too large by the size of the first
 * one's sample_id. The second one's own sample_id follows the body; after it come old bytes of
 * the ring.
 */
#ifndef PERFEVENT_DECODE_BODY_H
#define PERFEVENT_DECODE_BODY_H

#include "perfevent.h"

/* The bits of sample_type that are in the sample_id, one word each. */
#define PEV_TRAILER_                                                                               \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Bytes of such a record before its sample_id; 0: another type, or damaged. size: header.size;
 * foreign: the body has the other byte order. */
size_t pev_body_size_(const struct perf_event_header *rec, size_t size, bool foreign);
/* Bytes of any record, at most `size`. */
size_t pev_true_size_(const struct perf_event_header *rec, size_t size, const struct pev_format *fmt, bool foreign);
#endif
