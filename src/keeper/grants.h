/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keeper gives for the asking, and to whom it belongs:
 *
 *   - a program or library by a path, as some process sees it, or by a mapping, or as the
 *     program that a process runs: a regular ELF file of the types executable and shared
 *     object, never a core dump. The user who can open it by that path gets it, opened with
 *     the user's own rights. Else, where it is run by a target, or is a target's debug file
 *     that everybody may read, or was either before, a ticket (base/ticket.h), for names
 *     alone; where everybody is a target, also for all programs that everybody may read;
 *   - "maps" or "comm" of a target's folder in /proc;
 *   - for a recording: a ticket for any program by its path; /proc/kallsyms; root's own cache of
 *     perf, of which programs are tickets, too; and perf maps;
 *   - a target's perf map, as opener.h says: /tmp/perf-PID.map and no other name. If the user can't
 *     open it, a file with the functions that are in it, which a jailed parser has found.
 *
 * -ENOENT is the answer for what isn't there, isn't for this user, or is no program; -ESRCH
 * for a process that isn't there or is no target.
 */
#ifndef KEEPER_GRANTS_H
#define KEEPER_GRANTS_H

#include "base/caller.h"
#include "keeper/cgroups.h"
#include "keeper/vault.h"

#include <stddef.h>
#include <stdint.h>

/* Who is watched: everybody; or processes (also by one of their threads) with the children that they start, and those in
 * control groups; or nobody, since a recording is read. */
struct keeper_targets {
	bool everybody, recorded;
	const int *pids, *tids;
	size_t npids, ntids;
	struct cgroups cgroups;
};

struct grants {
	struct caller who;
	struct keeper_targets targets;
	struct vault *vault;
};

/* Descriptors, or -errno as above. */
int grants_file(struct grants *g, pid_t pid, const char *path);
int grants_mapped(struct grants *g, pid_t pid, const char *range);
int grants_proc(struct grants *g, pid_t pid, const char *name);
int grants_perf_map(struct grants *g, pid_t pid);
/* `text` is a build id in hexadecimal digits, '/', and what is wanted: idfile_cached(). */
int grants_cached(struct grants *g, const char *text);
#endif
