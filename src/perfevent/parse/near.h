/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFEVENT_PARSE_NEAR_H
#define PERFEVENT_PARSE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* The most similar name of an event (software, hardware, cache, of a PMU in folder `pmus`); false
 * if none is similar enough. */
bool pev_near_name_(const char *name, const char *pmus, char *buf, size_t size);
/* The most similar tracepoint, "sys:name", in tracefs' folder `events`. */
bool pev_near_tracepoint_(const char *sys, const char *name, const char *events, char *buf, size_t size);

/* The most similar field of perf_event_attr. */
bool pev_near_field_(const char *name, char *buf, size_t size);

#endif
