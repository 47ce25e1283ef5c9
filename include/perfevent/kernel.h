/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/kernel.h - the kernel's settings for perf events */
#ifndef PEV_KERNEL_H
#define PEV_KERNEL_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0 if the kernel has perf_event_open(2) and this process may call it; -ENOSYS: not built in;
 * -EPERM/-EACCES: a seccomp filter refuses. */
PEV_API int pev_supported(void);

/* kernel.perf_event_max_stack, or -errno. Linux 4.7. */
PEV_API int pev_max_stack(void);

/* Stores kernel.perf_event_paranoid in *level; returns 0 or -errno. */
PEV_API int pev_paranoid(int *level);

/* Path of a mounted, readable tracefs ("/sys/kernel/tracing"). Returns 0, -ENOENT if none is
 * mounted, -EACCES if this user may not read it; err has the command to run. */
PEV_API int pev_tracefs_path(char *buf, size_t size, struct pev_error *err);

/* Id of tracepoint sys:name (attr.config), or -errno. */
PEV_API int64_t pev_tracepoint_id(const char *sys, const char *name, struct pev_error *err);

#ifdef __cplusplus
}
#endif
#endif
