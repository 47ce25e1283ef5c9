/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in a struct pev_error. */
#ifndef PERFEVENT_ATTR_COMPLAIN_H
#define PERFEVENT_ATTR_COMPLAIN_H

#include "perfevent.h"

/* pev_ask_() begins an error with "asked"; the other two add "said" and "remedy". err may be NULL. */
void pev_ask_(struct pev_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void pev_say_(struct pev_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pev_advise_(struct pev_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets "said" from errno: "Permission denied (EACCES)". */
void pev_say_errno_(struct pev_error *err, int code);
/* Fills in a whole error that is not from a system call. Returns -code. */
int pev_refuse_(struct pev_error *err, int code, const char *asked, const char *said,
		const char *remedy);
int pev_no_memory_(struct pev_error *err, const char *asked);
#endif
