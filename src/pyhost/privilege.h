/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops privileges. If root runs the script of another user (sudo, --user), events are opened as
 * root; then the process becomes that user for good, before the interpreter starts. Capabilities of
 * the program's file are dropped at the same point. Open events keep working.
 */
#ifndef PYHOST_PRIVILEGE_H
#define PYHOST_PRIVILEGE_H

#include "keeper/identity.h"
#include "keeper/keeper.h"
#include "pyhost/host.h"

struct privilege {
	struct identity who;
	struct cgroups cgroups;        /* targets */
	bool given_up_later;           /* privilege_give_up() has something to drop */
	struct keeper *keeper;
};

/* Finds the user of the run. If it is another user, compiles the script as that user, so that errors are
 * reported before events are opened, and starts the keeper. 0, the exit code if the error was printed, or
 * -1 with f. */
int privilege_begin(struct privilege *p, const char *user, const struct stream_opts *o,
		    const struct host_script *script, struct fault *f);
const struct opener *privilege_opener(const struct privilege *p);
/* 0, or -1 with f: then the script must not run. */
int privilege_give_up(struct privilege *p, struct fault *f);
void privilege_end(struct privilege *p);

#endif
