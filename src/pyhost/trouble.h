/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions of a script's functions: printed, counted, and processing goes on. The
 * first ones are shown in full; then one line per kind at most once a second; the total
 * at the end.
 */
#ifndef PYHOST_TROUBLE_H
#define PYHOST_TROUBLE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

enum { TROUBLE_FULL = 3, TROUBLE_KINDS = 16 };

struct trouble_kind {
	char name[96];         /* "KeyError in sched__sched_wakeup" */
	uint64_t count, told;
};

struct trouble {
	struct trouble_kind kinds[TROUBLE_KINDS];   /* the last one: all others */
	int nkinds;
	uint64_t count;
	uint64_t told_ns;
};

/* Takes the current exception, raised in `where`. */
void trouble_take(struct trouble *t, const char *where);
/* Takes the current SystemExit: the exit code it asks for. What is no number is printed. */
int trouble_take_exit(void);
/* Takes the watchdog's KeyboardInterrupt: says where it met the script. */
void trouble_take_interrupt(const char *where);
/* Takes the frames of our own loader, and of importlib that it called, off the head of
 * the current exception's traceback: a script's traceback begins in the script. */
void trouble_strip_own_frames(void);
/* The totals, if there was any trouble. */
void trouble_summary(const struct trouble *t);
#endif
