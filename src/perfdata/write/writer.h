/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a perf.data file, in the layout that perf uses for pipes: a header of 16 bytes,
 * then nothing but records. So the file is whole after every flush: whoever is killed,
 * or finds the disk full, loses what was not flushed yet, and perf and we open the rest.
 *
 * Order: perfdata_put_attr() for each event, perfdata_put_tracing() where there are
 * tracepoints, perfdata_put_machine(), then records as the rings bring them.
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

/* For FILE; nothing is created yet, what is put until then waits in memory. NULL without
 * memory. */
struct perfdata_writer *perfdata_new(const char *path);
/* Creates FILE, readable by its owner only; under sudo it is the caller's. A regular file of that
 * name becomes FILE.old; what is no regular file (/dev/null, a FIFO; "-": stdout) is written to.
 * 0, or -1 with f. */
int perfdata_open(struct perfdata_writer *w, struct fault *f);
/* What is put from now on belongs to one file: the next one of perfdata_switch() begins with
 * what was put before. */
void perfdata_end_of_head(struct perfdata_writer *w);
/* Goes on in a new FILE; the one so far gets this name. 0, or -1 with f, and goes on in the old. */
int perfdata_switch(struct perfdata_writer *w, const char *name, struct fault *f);
/* What is put from now on goes there, and not into the file; NULL: into the file again. */
void perfdata_divert(struct perfdata_writer *w, struct flight *flight);
/* Whether a file was created. */
bool perfdata_is_open(const struct perfdata_writer *w);
/* What comes after the head is compressed (zstd); before perfdata_end_of_head(). 0, or -1 with f:
 * this was built without it. */
int perfdata_compress(struct perfdata_writer *w, struct fault *f);
/* Bytes of the present file, with what is not flushed yet (uncompressed). */
uint64_t perfdata_size(const struct perfdata_writer *w);
/* What was put is in the file. */
void perfdata_flush(struct perfdata_writer *w);
/* An event (attr->size bytes) and the ids of its descriptors. With several events, samples and sample_id need
 * PERF_SAMPLE_IDENTIFIER. */
void perfdata_put_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
		       const uint64_t *ids, size_t nids);
/* What the event of that id is called. */
void perfdata_put_name(struct perfdata_writer *w, uint64_t id, const char *name);
/* What the events are of, in the order of their attrs: "cycles:u", where perfdata_put_name() says what the
 * user calls it. Of very many, the first ones. */
struct perfdata_described {
	const struct perf_event_attr *attr;
	uint64_t id;
	const char *what;
};
void perfdata_put_descriptions(struct perfdata_writer *w, const struct perfdata_described *events, size_t n);
/* Groups of events, which are numbered from 0 as their attrs were put; name may be NULL. */
struct perfdata_group {
	const char *name;
	uint32_t leader, members;
};
void perfdata_put_groups(struct perfdata_writer *w, const struct perfdata_group *groups, size_t n);
/* Two times of one moment: of the events' clock (clockid as in clock_gettime(2); UINT32_MAX:
 * the kernel's own) and since the Unix epoch, ns. */
void perfdata_put_clock(struct perfdata_writer *w, uint32_t clockid, uint64_t clock_ns,
			uint64_t realtime_ns);
/* The build id of a file that is mapped; misc: PERF_RECORD_MISC_KERNEL or _USER. */
void perfdata_put_build_id(struct perfdata_writer *w, uint16_t misc, const uint8_t *id, size_t size,
			   const char *path);
/* The formats of tracepoints, out of tracefs: `names` are "sys:name". 0, or -1 with f. */
int perfdata_put_tracing(struct perfdata_writer *w, const char *tracefs,
			 const char *const *names, size_t n, struct fault *f);
/* For perfdata_put_machine(), a version behind it: who makes such an end, two rounds with nothing
 * between. Recordings of "perf-prof" alone have none. */
#define PERFDATA_WRITER "perf-prof "
/* Host, kernel, architecture, CPUs, memory, command line. */
void perfdata_put_machine(struct perfdata_writer *w, const char *version,
			  const char *const *argv, size_t argc);
/* At the end of a file: the functions of code that was made while processes ran, as lines of a perf map ("START
 * SIZE NAME", in hex), at most 64 MiB in all. */
struct perfdata_jit_map {
	int32_t pid;
	const char *text;
	size_t size;
};
/* False: some had no place there, or in memory. */
bool perfdata_put_jit_maps(struct perfdata_writer *w, const struct perfdata_jit_map *maps, size_t n);
/* Whole records. A failure is kept for perfdata_close(); what comes after it is dropped. */
void perfdata_put(struct perfdata_writer *w, const void *records, size_t n);
/* Whole records in two parts, as a ring has them. */
void perfdata_put2(struct perfdata_writer *w, const void *first, size_t nfirst, const void *second,
		   size_t nsecond);
/* All rings were emptied: what comes from now on is not earlier than what came before the
 * last round. */
void perfdata_put_round(struct perfdata_writer *w);
/* What was put is all there is: a reader knows that nothing is missing. perfdata_close() and
 * perfdata_switch() do so. */
void perfdata_put_end(struct perfdata_writer *w);
/* 0 or the -errno of the first write that failed. */
int perfdata_error(const struct perfdata_writer *w);
/* Flushes. 0, or -1 with f: what could not be written, and how much was. Frees w. */
int perfdata_close(struct perfdata_writer *w, struct fault *f);

#endif
