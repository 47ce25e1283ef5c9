/* SPDX-License-Identifier: Apache-2.0 */
/* `COMMAND -e EVENT help`: prints the fields of events, with type and size. */
#ifndef ENGINE_FIELDS_H
#define ENGINE_FIELDS_H

#include "stream/stream.h"

/* 0, or -1 with f. */
int fields_print(struct stream_opts *opts, const struct opt_parser *args, struct fault *f);
#endif
