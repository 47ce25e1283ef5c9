/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recording/recording.h"

#include <time.h>

bool replay_place(const struct replay *p, uint64_t *at, uint64_t *size)
{
	*at = perfdata_offset(p->reader);
	*size = p->size;
	return p->size;
}

bool replay_is_unfinished(const struct replay *p)
{
	return perfdata_is_unfinished(p->reader);
}

const struct perfdata_info *replay_info(const struct replay *p)
{
	return perfdata_info(p->reader);
}

bool replay_is_own(const struct replay *p)
{
	return p->own;
}

struct timespec replay_written(const struct replay *p)
{
	struct timespec now = p->written;

	if (!p->size)
		clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

bool replay_is_same_machine(const struct replay *p)
{
	return p->same_machine;
}

bool replay_is_same_kernel(const struct replay *p)
{
	return p->same_kernel;
}

const struct replay_kernel *replay_kernel(const struct replay *p)
{
	return &p->kernel;
}

uint64_t replay_reached(const struct replay *p)
{
	return p->reached;
}

int64_t replay_realtime_offset(const struct replay *p)
{
	const struct perfdata_info *info = perfdata_info(p->reader);

	return info->has_clock ? (int64_t)(info->realtime_ns - info->clock_ns) : 0;
}
