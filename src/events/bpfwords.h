/* SPDX-License-Identifier: Apache-2.0 */
/* Probes as bpftrace spells them, in an event list that was refused: the message says how they are written here. */
#ifndef EVENTS_BPFWORDS_H
#define EVENTS_BPFWORDS_H

#include "base/fault.h"

#include <stdbool.h>

/* Whether the list has one: then f says so, instead of what was refused. */
bool bpfwords_explain(const char *list, struct fault *f);
#endif
