/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a perf.data file in perf's layout for pipes: a header of 16 bytes, then records only. The
 * file is complete after every flush: if perf-prof is killed or the disk is full, only what was not
 * flushed is lost, and perf and perf-prof read the rest.
 *
 * Order of calls: perfdata_put_attr() for each event, perfdata_put_tracing() if there are
 * tracepoints, perfdata_put_machine(), then the records of the rings.
 */
#ifndef PERFDATA_WRITE_WRITER_H
#define PERFDATA_WRITE_WRITER_H

#include "base/fault.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight;
struct perfdata_writer;

/* A writer for FILE. Does not create it: until perfdata_open(), data is kept in memory. NULL without
 * memory. */
struct perfdata_writer *perfdata_new(const char *path);
/* Creates FILE, readable by its owner only; under sudo it belongs to the user who ran sudo. A regular
 * file of that name becomes FILE.old. Anything else (/dev/null, a FIFO; "-": stdout) is written to. 0, or
 * -1 with f. */
int perfdata_open(struct perfdata_writer *w, struct fault *f);
/* Ends the head: what was put so far also starts each file after perfdata_switch(). */
void perfdata_end_of_head(struct perfdata_writer *w);
/* Renames the current file to `name` and continues in a new FILE. 0, or -1 with f; then it continues in
 * the old one. */
int perfdata_switch(struct perfdata_writer *w, const char *name, struct fault *f);
/* From now on data goes to `flight`; NULL: to the file again. */
void perfdata_divert(struct perfdata_writer *w, struct flight *flight);
/* Whether the file was created. */
bool perfdata_is_open(const struct perfdata_writer *w);
/* Compresses the data behind the head with zstd. Call it before perfdata_end_of_head(). 0, or -1 with f:
 * built without zstd. */
int perfdata_compress(struct perfdata_writer *w, struct fault *f);
/* Bytes of the current file, including those not flushed yet (uncompressed). */
uint64_t perfdata_size(const struct perfdata_writer *w);
/* Writes all data that was put. */
void perfdata_flush(struct perfdata_writer *w);
/* An event (attr->size bytes) and its ids. With several events, samples and sample_id need
 * PERF_SAMPLE_IDENTIFIER. */
void perfdata_put_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
		       const uint64_t *ids, size_t nids);
/* The name of the event with that id. */
void perfdata_put_name(struct perfdata_writer *w, uint64_t id, const char *name);
/* The events behind the names, such as "cycles:u", in the order of their attrs. Of very many events, only
 * the first ones. */
struct perfdata_described {
	const struct perf_event_attr *attr;
	uint64_t id;
	const char *what;
};
void perfdata_put_descriptions(struct perfdata_writer *w, const struct perfdata_described *events, size_t n);
/* Groups of events. Events are numbered from 0 in the order of their attrs; name may be NULL. */
struct perfdata_group {
	const char *name;
	uint32_t leader, members;
};
void perfdata_put_groups(struct perfdata_writer *w, const struct perfdata_group *groups, size_t n);
/* Writes one moment on two clocks: the clock of the events (clockid as in clock_gettime(2); UINT32_MAX: the
 * kernel's own) and ns since the Unix epoch. */
void perfdata_put_clock(struct perfdata_writer *w, uint32_t clockid, uint64_t clock_ns,
			uint64_t realtime_ns);
/* The build id of a mapped file; misc: PERF_RECORD_MISC_KERNEL or _USER. */
void perfdata_put_build_id(struct perfdata_writer *w, uint16_t misc, const uint8_t *id, size_t size,
			   const char *path);
/* The formats of tracepoints from tracefs; names: "sys:name". 0, or -1 with f. */
int perfdata_put_tracing(struct perfdata_writer *w, const char *tracefs,
			 const char *const *names, size_t n, struct fault *f);
/* Prefix of the version in perfdata_put_machine(). Recorders with this prefix and a version end a file
 * with two adjacent rounds; those that are called "perf-prof" alone do not. */
#define PERFDATA_WRITER "perf-prof "
/* Host, kernel, architecture, CPUs, memory, command line. */
void perfdata_put_machine(struct perfdata_writer *w, const char *version,
			  const char *const *argv, size_t argc);
/* JIT maps at the end of a file: functions that were generated at run time, as lines of a perf map
 * ("START SIZE NAME", in hex), at most 64 MiB in all. */
struct perfdata_jit_map {
	int32_t pid;
	const char *text;
	size_t size;
};
/* False if some did not fit, or without memory. */
bool perfdata_put_jit_maps(struct perfdata_writer *w, const struct perfdata_jit_map *maps, size_t n);
/* Lines about the folders of processes, at most 64 MiB, before the JIT maps. False if some did not fit, or without memory. */
bool perfdata_put_folders(struct perfdata_writer *w, const char *text, size_t size);
/* Whole records. After a failed write all further records are dropped; perfdata_close() reports the
 * failure. */
void perfdata_put(struct perfdata_writer *w, const void *records, size_t n);
/* Whole records, in two parts as a ring has them. */
void perfdata_put2(struct perfdata_writer *w, const void *first, size_t nfirst, const void *second,
		   size_t nsecond);
/* Call it after all rings were drained. No later record is earlier than those before the previous round. */
void perfdata_put_round(struct perfdata_writer *w);
/* Writes the end, by which readers know that nothing is missing. perfdata_close() and perfdata_switch()
 * call it. */
void perfdata_put_end(struct perfdata_writer *w);
/* 0 or the -errno of the first write that failed. */
int perfdata_error(const struct perfdata_writer *w);
/* Flushes and frees w. 0, or -1 with f: the failure, and how many bytes were written. */
int perfdata_close(struct perfdata_writer *w, struct fault *f);

#endif
