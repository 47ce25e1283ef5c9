/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that is made while programs run (Node, Java, CPython's -X perf), for a recording: which
 * processes have memory for such code is seen in what they map; their perf maps (/tmp/perf-PID.map) and
 * jitdump files are opened while they live, and read when a file of the recording ends. So a map that is
 * written late names what was sampled before.
 */
#ifndef STREAM_JITNAMES_H
#define STREAM_JITNAMES_H

#include <linux/perf_event.h>
#include <stdint.h>

struct jitnames;
struct perfdata_writer;

struct jitnames *jitnames_new(void);
void jitnames_free(struct jitnames *j);
/* A record of who maps what (MMAP2), forks, calls exec(2) or exits. j may be NULL. */
void jitnames_saw(struct jitnames *j, const struct perf_event_header *rec);
/* Looks for maps that were not there yet; to be called now and then (now: ns of any clock). */
void jitnames_look(struct jitnames *j, uint64_t now);
/* Into the file that ends now: of what was sampled in it, or of all where it can't be read again. 0, or the
 * number of processes some of whose functions are left out. */
unsigned int jitnames_put(struct jitnames *j, struct perfdata_writer *w);
#endif
