/* SPDX-License-Identifier: Apache-2.0 */
/* With a recording, processes are not those that run now: of theirs there is nothing in /proc,
 * and files are looked for where we see them. */
#ifndef STREAM_RECORDING_FILES_H
#define STREAM_RECORDING_FILES_H

#include "base/opener.h"
#include "stream/recording/facts.h"

/* The piece of a map that was asked for last: the next lies behind it. */
struct recorded_kept {
	pid_t pid;
	size_t n, at;
};

struct recorded {
	struct opener opener;
	const struct opener *under;
	const struct replay *replay;
	struct recorded_kept kept;
};

/* Both outlive it. */
const struct opener *recorded_opener(struct recorded *r, const struct opener *under,
				     const struct replay *replay);
#endif
