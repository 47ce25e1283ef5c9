/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/error.h - why a call failed */
#ifndef PEV_ERROR_H
#define PEV_ERROR_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed, for the user: the request, the kernel's answer, and a remedy. */
struct pev_error {
	int code;          /* errno, positive; 0 = no error */
	char asked[256];   /* "open sched:sched_switch on CPU 3" */
	char said[256];    /* "Permission denied (EACCES)" or the kernel's own text */
	char remedy[512];  /* "run as root, or: sysctl kernel.perf_event_paranoid=-1" */
};

/* Writes "asked: said; remedy" into buf, always terminated. Returns its length. */
PEV_API size_t pev_error_text(const struct pev_error *err, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
