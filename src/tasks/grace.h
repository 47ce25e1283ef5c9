/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_GRACE_H
#define TASKS_GRACE_H

#include <stdint.h>

/* How long state of a task is kept after its exit, in time of the records. Records may be taken
 * before events that are older, by at most the difference between two CPUs' ring buffers. */
#define TASKS_GRACE_NS UINT64_C(10000000000)

#endif
