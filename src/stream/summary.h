/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on stderr after a run: losses in any case, all numbers with -v. */
#ifndef STREAM_SUMMARY_H
#define STREAM_SUMMARY_H

#include "stream/stream.h"

void summary_tell(const struct stream *s);
/* Of live runs without any event: reports it if the watched tasks are the reason. */
void summary_tell_empty(const struct stream *s);
/* 0; -1 with f if nothing of a recording is among what -p, -t, -C or --time select; with needs_samples, if nothing came of it. */
int summary_check(const struct stream *s, struct fault *f);
/* Samples that the kernel counted, but neither delivered nor reported as lost. 0 also if that is not known: in a recording, or
 * if an event's count is not the number of its samples. To be called after the run; *counted: all. */
uint64_t summary_missing(const struct stream *s, uint64_t *counted);
#endif
