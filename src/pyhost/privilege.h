/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least privilege: where root runs the script of somebody else (sudo, --user), events are
 * opened as root, and then the process becomes that user for good, before the interpreter
 * starts. Where the program's file gave a capability, it is given back there. What was
 * opened keeps working.
 */
#ifndef PYHOST_PRIVILEGE_H
#define PYHOST_PRIVILEGE_H

#include "keeper/identity.h"
#include "keeper/keeper.h"
#include "pyhost/host.h"

struct privilege {
	struct identity who;
	struct cgroups cgroups;        /* of the targets */
	bool given_up_later;           /* there is somebody to become */
	struct keeper *keeper;
};

/* Finds out whose run it is and, if another's, compiles the script as that user, so that
 * a bad one is told before anything opens, and starts the keeper. 0; the exit code of what
 * was told already; or -1 with f. */
int privilege_begin(struct privilege *p, const char *user, const struct stream_opts *o,
		    const struct host_script *script, struct fault *f);
const struct opener *privilege_opener(const struct privilege *p);
/* 0, or -1 with f: then nothing may be run. */
int privilege_give_up(struct privilege *p, struct fault *f);
void privilege_end(struct privilege *p);

#endif
