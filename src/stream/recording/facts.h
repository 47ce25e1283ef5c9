/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording says about its machine and its clock, and how far it has been read. */
#ifndef STREAM_RECORDING_FACTS_H
#define STREAM_RECORDING_FACTS_H

#include "perfdata/read/reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct replay;

int64_t replay_realtime_offset(const struct replay *p);
uint64_t replay_reached(const struct replay *p);
/* Bytes read so far, and size of the file; false without a size (a pipe). */
bool replay_place(const struct replay *p, uint64_t *at, uint64_t *size);
/* The information in the header about the machine and the run. */
const struct perfdata_info *replay_info(const struct replay *p);

/* As perfdata_is_unfinished(). */
bool replay_is_unfinished(const struct replay *p);

/* For symbol lookup: whether the recording is from this machine; whether it is from the kernel that
 * runs now, at the same address (kernels are relocated at each boot). */
bool replay_is_same_machine(const struct replay *p);
bool replay_is_same_kernel(const struct replay *p);
/* Whether nobody but root and the user who reads it can have written the file: then a command line in it may be offered to that
 * user's shell. False for a pipe. */
bool replay_is_own(const struct replay *p);
/* When the file was last written. For a pipe: now, because recorded processes may begin after perf-prof. */
struct timespec replay_written(const struct replay *p);

struct replay_kernel {
	const char *base;              /* "_text" or "_stext"; NULL: its address is not recorded */
	uint64_t base_address;         /* address of that symbol */
	size_t build_id_size;          /* 0: no build id */
	uint8_t build_id[20];
	bool runs;                     /* the same kernel runs now, possibly at another address */
	bool hidden;                   /* this user may not see addresses of a kernel that is the same as far as the file says */
};

/* The kernel that was recorded. */
const struct replay_kernel *replay_kernel(const struct replay *p);
#endif
