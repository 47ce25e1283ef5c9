/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFEVENT_PARSE_NEAR_H
#define PERFEVENT_PARSE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* The event (software, hardware, cache, of a PMU below the folder `pmus`) whose name was probably
 * meant; false if none is near enough. */
bool pev_near_name_(const char *name, const char *pmus, char *buf, size_t size);
/* The tracepoint, "sys:name", below tracefs' folder `events`. */
bool pev_near_tracepoint_(const char *sys, const char *name, const char *events, char *buf, size_t size);

#endif
