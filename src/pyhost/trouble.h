/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions of a script's functions are printed and counted, and the run continues. The first ones
 * are printed in full; then a line per kind, at most once a second, and the total at the end.
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
	struct trouble_kind kinds[TROUBLE_KINDS];   /* the last one counts all others */
	int nkinds;
	uint64_t count;
	uint64_t told_ns;
};

/* Takes the current exception, raised in `where`. */
void trouble_take(struct trouble *t, const char *where);
/* Takes the current SystemExit and returns its exit code. Other values than numbers are printed. */
int trouble_take_exit(void);
/* Takes the KeyboardInterrupt of the watchdog and prints where it interrupted the script. */
void trouble_take_interrupt(const char *where);
/* Removes the frames of loader.py and importlib from the head of the current traceback, so that it begins
 * in the script. */
void trouble_strip_own_frames(void);
/* Prints the totals, if there was more than one exception. */
void trouble_summary(const struct trouble *t);
#endif
