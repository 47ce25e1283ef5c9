/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of the kernel; internal. */
#ifndef PERFEVENT_MACHINE_KERNEL_H
#define PERFEVENT_MACHINE_KERNEL_H

#include "perfevent.h"

/* Buffer for a line of /proc/self/mounts, as large as getmntent(3)'s own, which all threads share. */
enum { PEV_MOUNT_TEXT_ = 4096 };

/* Reads a number in /proc/sys/kernel. 0 or -errno. */
int pev_sysctl_(const char *name, long long *value);
/* What must stand before kernel.perf_event_max_sample_rate=N in a sysctl command: while kernel.perf_cpu_time_max_percent is 0 or
 * 100, the kernel neither lowers the limit by itself nor lets it be set. "" at other times. */
const char *pev_rate_unlock_(void);
#endif
