/* SPDX-License-Identifier: Apache-2.0 */
/* From an errno and the situation to a text that says what to do. All accept err NULL
 * and return -code. */
#ifndef PERFEVENT_OPEN_EXPLAIN_H
#define PERFEVENT_OPEN_EXPLAIN_H

#include "perfevent/open/event.h"

int pev_explain_open(struct pev_error *err, const struct pev_event *ev,
		     const struct pev_event *group, uint64_t flags, int code);
int pev_explain_map(struct pev_error *err, const struct pev_event *ev, unsigned int pages,
		    int code);
int pev_explain_filter(struct pev_error *err, const struct pev_event *ev, const char *filter,
		       int code);
int pev_explain_output_(struct pev_error *err, const struct pev_event *ev,
			const struct pev_event *to, int code);
/* For the AUX area of ev's ring. */
int pev_explain_aux_(struct pev_error *err, const struct pev_event *ev, unsigned int pages,
		     int code);

/* What makes the kernel refuse ev->attr found by opening it otherwise:
 * "sigtrap (needs remove_on_exec, Linux 5.13)". False if nothing was found. */
bool pev_blame_attr_(const struct pev_event *ev, char *buf, size_t size);
/* The same for what a uprobe points to, found by looking. */
bool pev_blame_uprobe_(const struct pev_event *ev, char *buf, size_t size);
/* Whether it opens without its group. */
bool pev_opens_alone_(const struct pev_event *ev);
/* Tries it without the kernel's part: 0, or the -errno; -EACCES where that was left out already, or where
 * there is no other part, as of tracepoints. */
int pev_open_user_only_(const struct pev_event *ev);
/* Whether it is the task that is refused: the least of the event opens on the caller, and is denied
 * there. */
bool pev_is_others_task_(const struct pev_event *ev);
#endif
