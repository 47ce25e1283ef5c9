/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files for the symbols of a recording. Recorded processes need not run now: then their files are looked up in
 * perf-prof's own root directory. */
#ifndef STREAM_RECORDING_FILES_H
#define STREAM_RECORDING_FILES_H

#include "base/opener.h"
#include "stream/recording/facts.h"

/* The piece of a perf map that kept_map() returned last: the search for the next one begins behind it. */
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

/* `under` and `replay` must outlive r. */
const struct opener *recorded_opener(struct recorded *r, const struct opener *under,
				     const struct replay *replay);
#endif
