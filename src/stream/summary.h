/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on stderr after a run: losses in any case, all numbers with -v. */
#ifndef STREAM_SUMMARY_H
#define STREAM_SUMMARY_H

#include "stream/stream.h"

void summary_tell(const struct stream *s);
#endif
