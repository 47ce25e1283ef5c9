/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: the processes that stay root when the run changes to another user (identity.h). It
 * parses nothing. It answers requests for the files in grants.h with a descriptor for reading, and
 * questions about files that have tickets (vault.h) with bytes. It writes the files in outputs.h.
 * It answers nothing else. One of its two processes answers at once, for entries in /proc and
 * outputs; the other one waits for the jailed parser.
 *
 * From a program that the user may not read, the run gets function names and nothing else: a user
 * who traces a process may see the names of its functions. Once the process has ended, the run
 * cannot get them any more.
 *
 * The keeper answers only the process that started it; a child forked by that process gets -EPERM.
 * The keeper ends when the run ends, for whatever reason, and cleans up after it.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "base/caller.h"
#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "base/outfile.h"
#include "keeper/cgroups.h"
#include "keeper/identity.h"
#include "symbols/jail/parser.h"

#include <stddef.h>
#include <sys/stat.h>

/*
 * Which files the keeper gives to the run, whose user is not root:
 *
 *   - a program or library: by its path as a process sees it, by a mapping, or as the program that
 *     a process runs. It has to be a regular ELF file of the types executable or shared object,
 *     never a core dump. If the user can open it by that path, the run gets the file, opened with
 *     the user's rights. If not, the run gets a ticket (base/ticket.h), which is only good for names,
 *     in these cases: a target runs the file; it is a target's debug file, and everybody may read
 *     it; there is a ticket for it already; everybody is a target, and everybody may read it;
 *   - "maps" and "comm" in a target's folder in /proc;
 *   - for a recording: a ticket for any program, by its path; /proc/kallsyms; files in root's cache
 *     of perf (programs as tickets, too); and perf maps;
 *   - a target's perf map, /tmp/perf-PID.map, under the conditions in base/opener.h. If the user
 *     cannot open it, the run gets a file with the functions that a jailed parser found in it.
 *
 * -ENOENT: there is no such file, it is no program, or this user may not have it. -ESRCH: there is
 * no such process, or it is no target.
 */

/*
 * Programs that the user of the run cannot open. The run may know only the names in them. It gets
 * tickets (base/ticket.h); the files go only to a jailed parser of the keeper, which answers the
 * questions of the run about them.
 */

struct vault;

/* The processes that are watched: everybody; or those in `pids`, those with a thread in `tids`,
 * those in `cgroups`, and their children; or nobody, if a recording is read. */
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

struct keeper;

struct keeper_opts {
	const struct identity *who;      /* the user to whom the run changes */
	struct keeper_targets targets;
	struct opt_strings outputs;      /* the files that keeper_write() may write */
};

/* Forks the keeper. Call it while there is one thread, before privilege is given up. NULL with f. */
struct keeper *keeper_start(const struct keeper_opts *opts, struct fault *f);
/* The keeper's processes; 0 past the last. */
pid_t keeper_pid(const struct keeper *k, size_t i);
/* Opens files through the keeper. */
const struct opener *keeper_opener(struct keeper *k);
/* The keeper carries out the order, as outfile_do(). -EPERM: the order is not about one of the outputs. */
int keeper_write(struct keeper *k, const struct outfile_order *order);
/* Ends the keeper, and waits for its end. k may be NULL. */
void keeper_stop(struct keeper *k);

#endif
