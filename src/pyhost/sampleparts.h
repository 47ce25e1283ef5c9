/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a sample without a fixed place, as Python values. */
#ifndef PYHOST_SAMPLEPARTS_H
#define PYHOST_SAMPLEPARTS_H

#include "pyhost/event.h"

/* dict of name -> count since the previous sample */
PyObject *sample_counts(const struct stream_counts *counts);
/* A part of an event that is not a tracepoint; bits as in events/parts.h. None if the sample does not
 * have it, or if it follows registers of an unknown ABI. NULL with an exception. */
PyObject *sample_part_value(const struct perf_event *e, uint64_t bits);
#endif
