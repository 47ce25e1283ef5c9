/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recorded.h"

#include "symbols/idfile.h"

#include <errno.h>
#include <string.h>

static int open_file(void *ctx, pid_t pid, const char *path)
{
	const struct recorded *r = ctx;

	return opener_file(r->under, 0, path);
}

/* The kernel's symbols: ours if it is the same one; of another boot what perf kept of it then, which
 * may have its modules, too, before what this boot says. */
static int open_proc(void *ctx, pid_t pid, const char *name)
{
	const struct recorded *r = ctx;
	const struct replay_kernel *k = replay_kernel(r->replay);
	bool same = replay_is_same_kernel(r->replay);
	int fd;

	if (pid || strcmp(name, "kallsyms") || (!same && !k->base))
		return -ENOENT;
	fd = same ? -ENOENT : idfile_cached(k->build_id, k->build_id_size, name);
	return fd >= 0 || !(same || k->runs) ? fd : opener_proc(r->under, 0, name);
}

const struct opener *recorded_opener(struct recorded *r, const struct opener *under,
				     const struct replay *replay)
{
	*r = (struct recorded){
		.opener = { .file = open_file, .proc = open_proc, .ctx = r },
		.under = under, .replay = replay,
	};
	return &r->opener;
}
