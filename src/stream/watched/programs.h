/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that the targets of a run execute, and whether they keep frame pointers. For -p and -t these are their
 * executables, for a command the file that will be executed (of a script: its interpreter), for the whole machine those
 * of the processes that have used most of a CPU since they started.
 */
#ifndef STREAM_WATCHED_PROGRAMS_H
#define STREAM_WATCHED_PROGRAMS_H

#include "stream/asked/opts.h"

struct programs_frames {
	bool lacking;            /* programs without frame pointers matter: of the whole machine a third of what uses
				  * CPUs, of other targets any */
	unsigned int n;          /* programs that this is about: those that lack them, or those that have them; 0: no
				  * file could be judged */
	char name[256];          /* the one of these that uses CPUs most, as in /proc/PID/exe; or as the command has it */
};

/* Whether the C library, in whose functions programs wait, is known to have no frame pointers: that of perf-prof. */
bool programs_library_lacks(const struct stream_opts *o, char *name, size_t size);

/* Reads the files in the parser's process, or here if this process has no privilege. */
void programs_look(const struct stream_opts *o, struct programs_frames *out);
#endif
