/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that may stand in an event list: see stream/source.h. */
#ifndef ANALYSIS_SOURCES_H
#define ANALYSIS_SOURCES_H

#include "stream/source.h"

/* For stream_opts.sources: a row per command, NULL terminated. */
extern const struct source_ops *const analysis_sources[];

extern const struct source_ops kvm_exit_source, latency_source, page_faults_source, profile_source,
	rundelay_source, syscalls_source, task_state_source, top_source, trace_source;
#endif
