/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a call that began before the run is one that the user's filter of raw_syscalls:sys_enter selects. */
#ifndef ANALYSIS_SYSCALLS_CALLFILTER_H
#define ANALYSIS_SYSCALLS_CALLFILTER_H

#include "analysis/durations/waitargs.h"
#include "stream/asked/event.h"

/* True without a filter; false if it reads more than the call: the CPU, the time, the name of the task. */
bool callfilter_passes(const struct stream_event *enter, const struct waitargs *c);
#endif
