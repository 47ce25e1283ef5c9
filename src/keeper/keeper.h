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

#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "base/outfile.h"
#include "keeper/grants.h"
#include "keeper/identity.h"

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
