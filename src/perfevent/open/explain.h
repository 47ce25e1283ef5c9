/* SPDX-License-Identifier: Apache-2.0 */
/* From an errno and the state of the system to a message with a remedy. All functions accept err
 * NULL and return -code. */
#ifndef PERFEVENT_OPEN_EXPLAIN_H
#define PERFEVENT_OPEN_EXPLAIN_H

#include "perfevent/open/event.h"

int pev_explain_open(struct pev_error *err, const struct pev_event *ev, int code);
int pev_explain_map(struct pev_error *err, const struct pev_event *ev, unsigned int pages,
		    int code);
int pev_explain_filter(struct pev_error *err, const struct pev_event *ev, const char *filter,
		       int code);
int pev_explain_output_(struct pev_error *err, const struct pev_event *ev,
			const struct pev_event *to, int code);
/* If root was refused: what keeps it from its privileges, and what to do: capability, or a level of
 * kernel.perf_event_paranoid; below -1: none is low enough. False for other users. */
bool pev_explain_contained_(char *buf, size_t size, const char *capability, int need);
/* For the AUX area of ev's ring. */
int pev_explain_aux_(struct pev_error *err, const struct pev_event *ev, unsigned int pages,
		     int code);

/* Finds which part of ev->attr the kernel refuses with that errno: "sigtrap (needs remove_on_exec, Linux 5.13)". False if none was
 * found. */
bool pev_blame_(const struct pev_event *ev, int code, char *buf, size_t size);
/* Tries to open such an event for user space of the calling thread, which needs the least privilege: 0 or -errno. */
int pev_try_plain_(uint32_t type, uint64_t config);
/* Whether the CPU has counters that can be used. */
bool pev_has_pmu_(void);
/* Whether this machine has no such counter, whatever the privilege. */
bool pev_lacks_counter_(const struct pev_event *ev);
/* Whether the event opens without its group. */
bool pev_opens_alone_(const struct pev_event *ev);
/* Tries to open it for user space only: 0 or -errno; -EACCES if one of the levels is excluded
 * already, or for tracepoints, which have no levels. */
int pev_open_user_only_(const struct pev_event *ev);
/* Whether the task is the reason for a refusal: even with the fewest rights needed, the event
 * opens on the calling thread only. */
bool pev_is_others_task_(const struct pev_event *ev);
#endif
