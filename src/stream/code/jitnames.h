/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that programs generate while they run (Node, Java, CPython's -X perf), for a
 * recording. Their mappings show which processes have memory for such code. Their perf maps
 * (/tmp/perf-PID.map) and jitdump files are opened while they live, and read when a file of the
 * recording ends, so a map that is written late still names what was sampled before. Only functions
 * that were sampled are kept: the addresses in samples are remembered while they are recorded.
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
/* A record of that time (0: before all others) about mappings (MMAP2), fork, exec(2) or exit.
 * Records of different CPUs need not be in order. j may be NULL. */
void jitnames_saw(struct jitnames *j, const struct perf_event_header *rec, uint64_t time);
/* Looks for perf maps that did not exist before; to be called from time to time. now: ns of any clock. */
void jitnames_look(struct jitnames *j, uint64_t now);
/* Whether any process may generate code: only then pass samples. j may be NULL. */
bool jitnames_any(const struct jitnames *j);
/* A sample that is recorded, beginning with IDENTIFIER, IP and TID. Mappings before it must have
 * been passed already. */
void jitnames_sampled(struct jitnames *j, const struct perf_event_header *rec);
/* From now on, a pending ATTN_STOP of `attn` ends the reading of files. j may be NULL. */
void jitnames_heed(struct jitnames *j, const struct attention *attn);
/* Writes the functions that were sampled since the last file into the file that ends now. j may be NULL. */
void jitnames_put(struct jitnames *j, struct perfdata_writer *w);
/* The next file has begun: forgets what was sampled for the previous one. j may be NULL. */
void jitnames_next_file(struct jitnames *j);
/* A reason why names are missing, each reason once; NULL: no more. */
const char *jitnames_missing(struct jitnames *j);
#endif
