/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of the kernel; internal. */
#ifndef PERFEVENT_MACHINE_KERNEL_H
#define PERFEVENT_MACHINE_KERNEL_H

#include "perfevent.h"

/* Buffer for a line of /proc/self/mounts, as large as getmntent(3)'s own, which all threads share. */
enum { PEV_MOUNT_TEXT_ = 4096 };

/* Reads a number in /proc/sys/kernel. 0 or -errno. */
int pev_sysctl_(const char *name, long long *value);
#endif
