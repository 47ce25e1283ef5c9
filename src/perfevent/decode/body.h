/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a record ends, whatever its head says.
 *
 * Of KSYMBOL, BPF_EVENT and TEXT_POKE records the kernel (seen on 6.18, so written since 5.1) adds the size of
 * the sample_id to the head of each listener's copy, and does not take it back for the next listener:
 * with two of them, the second one's record is larger by the first one's sample_id. Its own lies
 * behind the body, and behind that what was in the ring before.
 */
#ifndef PERFEVENT_DECODE_BODY_H
#define PERFEVENT_DECODE_BODY_H

#include "perfevent.h"

/* The parts of sample_type that the sample_id has, a word each. */
#define PEV_TRAILER_                                                                               \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Bytes of such a record up to its sample_id; 0: of another one, or of one that is damaged. size: what its head
 * says; foreign: its body has the other byte order. */
size_t pev_body_size_(const struct perf_event_header *rec, size_t size, bool foreign);
/* Bytes of any record, at most `size`. */
size_t pev_true_size_(const struct perf_event_header *rec, size_t size, const struct pev_format *fmt, bool foreign);
#endif
