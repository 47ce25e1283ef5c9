/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that is made while programs run (Node, Java, CPython's -X perf), for a recording: which
 * processes have memory for such code is seen in what they map; their perf maps (/tmp/perf-PID.map) and
 * jitdump files are opened while they live, and read when a file of the recording ends. So a map that is
 * written late names what was sampled before. Which functions to keep is known by the addresses in samples, which
 * are remembered as they are recorded.
 */
#ifndef STREAM_CODE_JITNAMES_H
#define STREAM_CODE_JITNAMES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct attention;
struct jitnames;
struct perfdata_writer;

struct jitnames *jitnames_new(void);
void jitnames_free(struct jitnames *j);
/* A record of who maps what (MMAP2), forks, calls exec(2) or exits, of that time (0: before all others). Those of
 * different CPUs need not come in order. j may be NULL. */
void jitnames_saw(struct jitnames *j, const struct perf_event_header *rec, uint64_t time);
/* Looks for maps that were not there yet; to be called now and then (now: ns of any clock). */
void jitnames_look(struct jitnames *j, uint64_t now);
/* Whether there is a process that may make code: only then samples matter. j may be NULL. */
bool jitnames_any(const struct jitnames *j);
/* A sample that is recorded, with PERF_SAMPLE_IDENTIFIER, _IP and _TID. What its process mapped before is known. */
void jitnames_sampled(struct jitnames *j, const struct perf_event_header *rec);
/* From here on a signal that asks to stop, and that `attn` has not been asked about yet, ends the reading. j may be
 * NULL. */
void jitnames_heed(struct jitnames *j, const struct attention *attn);
/* Into the file that ends now: the functions that were sampled since the last one. j may be NULL. */
void jitnames_put(struct jitnames *j, struct perfdata_writer *w);
/* What was sampled is in a file that has ended. j may be NULL. */
void jitnames_next_file(struct jitnames *j);
/* Why names are missing, each reason once; NULL: no more reasons. */
const char *jitnames_missing(struct jitnames *j);
#endif
