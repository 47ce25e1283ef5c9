/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that stays root when a run becomes its caller's: see identity.h. It parses
 * nothing, and answers nothing but what grants.h says, each with a descriptor for reading,
 * and questions about files of which it gave tickets (vault.h), with bytes.
 *
 * What is in a program that the user may not read stays so, and what may be known of it is
 * the names in it: whoever traces a process may see the names of its functions. When it has
 * ended, they can't be had any more.
 *
 * It answers the process that started it alone: to a child that this one forks, -EPERM. It
 * ends when the run does, however that ends, and cleans up after it.
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
	const struct identity *who;      /* the run becomes */
	struct keeper_targets targets;
	struct opt_strings outputs;      /* that keeper_write() may write */
	void (*clean_up)(void *ctx);     /* run by it when the run has ended; may be NULL */
	void *ctx;
};

/* Forks it; to be called while there is one thread, before privilege is given up. NULL with f. */
struct keeper *keeper_start(const struct keeper_opts *opts, struct fault *f);
/* Its process. */
pid_t keeper_pid(const struct keeper *k);
/* Opens through it. */
const struct opener *keeper_opener(struct keeper *k);
/* Has it do that, as outfile_do(); -EPERM: it isn't about one of the outputs. */
int keeper_write(struct keeper *k, const struct outfile_order *order);
/* Ends it, and waits until it has cleaned up. NULL is fine. */
void keeper_stop(struct keeper *k);

#endif
