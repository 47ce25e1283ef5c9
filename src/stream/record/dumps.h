/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --overwrite: a recording in memory, in which the newest records replace the oldest. When a dump
 * is requested, the last seconds up to that moment are written to a file: perfdata/write/flight.h.
 *
 * Records of other CPUs from before that moment may not have been read yet when the dump is
 * requested. So the file is written a little later, and contains only what happened up to that
 * moment.
 */
#ifndef STREAM_RECORD_DUMPS_H
#define STREAM_RECORD_DUMPS_H

#include "base/fault.h"

#include <stdint.h>

struct stream;

/* Begins, instead of creating the file; with the privileges of the user. 0, or -1 with f. */
int dumps_begin(struct stream *s, struct fault *f);
/* All rings have been read: writes a dump that was requested. */
void dumps_round(struct stream *s);
/* The run has ended: writes dumps that were requested. 0, or -1 with f if one could not be written. */
int dumps_end(struct stream *s, struct fault *f);
void dumps_free(struct stream *s);
#endif
