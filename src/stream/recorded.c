/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recorded.h"

#include <errno.h>
#include <string.h>

static int open_file(void *ctx, pid_t pid, const char *path)
{
	const struct recorded *r = ctx;

	return opener_file(r->under, 0, path);
}

/* The kernel's symbols are there if it is the same one. */
static int open_proc(void *ctx, pid_t pid, const char *name)
{
	const struct recorded *r = ctx;

	if (pid || strcmp(name, "kallsyms") || !replay_is_same_kernel(r->replay))
		return -ENOENT;
	return opener_proc(r->under, 0, name);
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
