/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The numbered entries of the folder: threads of a process, or processes. */
static void each(const char *folder, threads_fn *take, void *ctx)
{
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			take(ctx, (pid_t)atoi(d->d_name));
	if (dir)
		closedir(dir);
}

struct taker {
	threads_fn *take;
	void *ctx;
};

/* The task folder of a single-threaded process has three links. */
static void take_process(void *ctx, pid_t pid)
{
	const struct taker *t = ctx;
	char folder[64];
	struct stat st;

	t->take(t->ctx, pid);
	snprintf(folder, sizeof(folder), "/proc/%d/task", (int)pid);
	if (!stat(folder, &st) && st.st_nlink > 3)
		each(folder, t->take, t->ctx);
}

void threads_each(threads_fn *take, void *ctx)
{
	struct taker t = { take, ctx };

	each("/proc", take_process, &t);
}

void threads_each_process(threads_fn *take, void *ctx)
{
	each("/proc", take, ctx);
}
