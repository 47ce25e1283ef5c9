/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PYHOST_TEMPLATE_H
#define PYHOST_TEMPLATE_H

#include "stream/stream.h"

#include <stdio.h>

/* Prints a script that runs as it is, with a handler for each event. */
void template_print(const struct stream_event *events, size_t n, FILE *out);
#endif
