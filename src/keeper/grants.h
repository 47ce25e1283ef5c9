/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef KEEPER_GRANTS_H
#define KEEPER_GRANTS_H

#include "base/caller.h"
#include "keeper/cgroups.h"
#include "symbols/jail/parser.h"

#include <stddef.h>
#include <sys/stat.h>

/*
 * Programs that the user of the run cannot open. The run may know only the names in them. It gets
 * tickets (base/ticket.h); the files go only to a jailed parser of the keeper, which answers the
 * questions of the run about them.
 */

struct vault;

struct vault *vault_new(void);
/* As parser_ask(), for the files for which q has tickets. -EACCES: q also has a file that belongs neither to root
 * nor to the owner of the file with a ticket. A descriptor of a file with the answer, or -errno. */
int vault_ask(struct vault *v, const struct parser_question *q);
/* Process id of the parser that answered last; -1: none. */
pid_t vault_worker(const struct vault *v);

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

/* Descriptors, or -errno as above. */
int grants_file(struct grants *g, pid_t pid, const char *path);
int grants_mapped(struct grants *g, pid_t pid, const char *range);
int grants_proc(struct grants *g, pid_t pid, const char *name);
int grants_perf_map(struct grants *g, pid_t pid);
/* `text`: a build id in hexadecimal digits, '/', and "elf" or "kallsyms", as idfile_cached() takes them. */
int grants_cached(struct grants *g, const char *text);
#endif
