/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixed groups: software events of several PMUs of the kernel (task-clock, page-faults and tracepoints
 * are of three). Newer kernels (seen on Linux 6.18) start what joins or is enabled only on its own PMU: if
 * the leader is on already, and on another one, the member counts nothing until the task is next switched
 * in. Nothing is missed if the members are enabled before the leader, so a leader that is on is turned off and
 * on again.
 */
#ifndef PERFEVENT_OPEN_MIXED_H
#define PERFEVENT_OPEN_MIXED_H

#include "perfevent.h"

/* Remembers the group that ev has joined, and starts ev if it is on. */
void pev_mixed_join_(struct pev_event *ev, struct pev_event *leader);
/* ev itself has been enabled: starts it if its leader is on. Nothing is read for other groups. */
void pev_mixed_start_(const struct pev_event *ev);
/* All of ev's group have been enabled: starts them. */
void pev_mixed_start_group_(const struct pev_event *ev);
#endif
