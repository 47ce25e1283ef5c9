/* SPDX-License-Identifier: Apache-2.0 */
/* How events that are no tracepoints print, behind the time. */
#ifndef SCRIPT_SAMPLETEXT_H
#define SCRIPT_SAMPLETEXT_H

#include "script/event.h"

/* "profile: 1003009 cpu-clock", or "7f0012345678 55d0c0de1139 main+0x10 (/usr/bin/x)": safe
 * for a terminal. Returns the length, below size. */
size_t sample_text(struct perf_event *e, char *buf, size_t size);
/* Registers, if the sample has them: whole lines. */
size_t sample_registers_text(const struct perf_event *e, char *buf, size_t size);
#endif
