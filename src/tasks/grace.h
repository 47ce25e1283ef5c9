/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_GRACE_H
#define TASKS_GRACE_H

#include <stdint.h>

/* How long a task is remembered beyond its exit, by the time of the records that were
 * taken: these are never ahead of the events by more than one CPU's ring is of another's. */
#define TASKS_GRACE_NS UINT64_C(10000000000)

#endif
