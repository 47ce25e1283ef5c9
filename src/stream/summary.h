/* SPDX-License-Identifier: Apache-2.0 */
/* What is told on stderr when a run has ended: losses always, all numbers with -v. */
#ifndef STREAM_SUMMARY_H
#define STREAM_SUMMARY_H

#include "stream/stream.h"

void summary_tell(const struct stream *s);
#endif
