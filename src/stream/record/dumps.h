/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that stays in memory, the newest in place of the oldest, until something asks for
 * it: then the last seconds up to that moment become a file. See perfdata/write/flight.h.
 *
 * What happened on other CPUs before the moment may not have been read when it is asked for, so
 * the file is written a little later, of what happened until then and no more.
 */
#ifndef STREAM_RECORD_DUMPS_H
#define STREAM_RECORD_DUMPS_H

#include "base/fault.h"

#include <stdint.h>

struct stream;

/* With the rights of the caller, in place of creating the file: 0, or -1 with f. */
int dumps_begin(struct stream *s, struct fault *f);
/* All rings were read: writes what was asked for. */
void dumps_round(struct stream *s);
/* Nothing more comes. 0, or -1 with f: what could not be written. */
int dumps_end(struct stream *s, struct fault *f);
void dumps_free(struct stream *s);
#endif
