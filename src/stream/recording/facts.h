/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording says of its machine and its clock, and how far it was read. */
#ifndef STREAM_RECORDING_FACTS_H
#define STREAM_RECORDING_FACTS_H

#include "perfdata/read/reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct replay;

int64_t replay_realtime_offset(const struct replay *p);
uint64_t replay_reached(const struct replay *p);
/* How far it has been read, and its size in bytes; false: it has none, as a pipe. */
bool replay_place(const struct replay *p, uint64_t *at, uint64_t *size);
/* What it says of the machine and the run. */
const struct perfdata_info *replay_info(const struct replay *p);

/* For those who look up names: whether it was recorded on the machine that this is, and by
 * the kernel that runs now, in the place where it is now. */
bool replay_is_same_machine(const struct replay *p);
bool replay_is_same_kernel(const struct replay *p);
/* When the file was last written to. For a pipe: now, because recorded processes may begin after perf-prof does. */
struct timespec replay_written(const struct replay *p);

struct replay_kernel {
	const char *base;              /* "_text" or "_stext"; NULL: it doesn't say where that lay, */
	uint64_t base_address;         /* which was here */
	size_t build_id_size;          /* 0: not known */
	uint8_t build_id[20];
	bool runs;                     /* the same one runs now, maybe at another place */
};

/* The kernel that was recorded. */
const struct replay_kernel *replay_kernel(const struct replay *p);
#endif
