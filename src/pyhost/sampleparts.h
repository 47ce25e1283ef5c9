/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a sample that have no fixed place, as Python values. */
#ifndef PYHOST_SAMPLEPARTS_H
#define PYHOST_SAMPLEPARTS_H

#include "pyhost/event.h"

/* Of an event that is no tracepoint; bits as in events/parts.h. None where the sample does
 * not say it: behind registers of an unknown ABI. NULL with an exception. */
/* {name: count since the sample before}. */
PyObject *sample_counts(const struct stream_counts *counts);
PyObject *sample_part_value(const struct perf_event *e, uint64_t bits);
#endif
