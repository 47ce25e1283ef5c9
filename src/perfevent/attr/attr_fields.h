/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an attr, by row of the table. */
#ifndef PERFEVENT_ATTR_ATTR_FIELDS_H
#define PERFEVENT_ATTR_ATTR_FIELDS_H

#include "perfevent.h"

/* The caller has checked that the field lies inside the object. */
uint64_t pev_field_get_(const struct perf_event_attr *attr, const struct pev_attr_field *f);
void pev_field_set_(struct perf_event_attr *attr, const struct pev_attr_field *f, uint64_t value);
/* Whether :u counts nothing of this event, which happens in the kernel only. */
bool pev_is_of_kernel_alone_(const struct perf_event_attr *attr);
/* Whether the kernel ignores exclude_host: software events, tracepoints and breakpoints happen on the host. */
bool pev_is_of_host_alone_(const struct perf_event_attr *attr);
#endif
