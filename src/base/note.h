/* SPDX-License-Identifier: Apache-2.0 */
/* Hints to the user. Test harnesses take any line on stderr for a failure, so a hint is printed
 * only with -v or on a terminal. */
#ifndef BASE_NOTE_H
#define BASE_NOTE_H

#include <stdbool.h>

/* verbose: -q is negative (never), 0 is the default, -v is 1. */
void note(int verbose, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The `verbose` of a hint that a program which has redirected the notes gets in any case. */
int note_kept(int verbose);

/* Whether note() prints, so that who can say the same elsewhere does not say it twice. */
bool note_is_shown(int verbose);

/* From now on, this thread's notes go there instead of stderr, if verbose is above 0; NULL: to stderr. For a run inside
 * another program, whose stderr is not ours. */
struct note_sink {
	void (*take)(void *ctx, const char *text);
	void *ctx;
};
void note_redirect(const struct note_sink *sink);
#endif
