/* SPDX-License-Identifier: Apache-2.0 */
/* The files that processes have mapped as code, each once, however many processes map it. */
#ifndef TASKS_MAPPEDFILES_H
#define TASKS_MAPPEDFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mappedfiles {
	/* Whether a file matters, by its path in the process; NULL: all do. */
	bool (*wants)(const char *path);
	/* A file: open for reading until this returns, with its path in the process, and a path by which we find it. Returns 0,
	 * or -errno, which ends the walk. */
	int (*take)(void *ctx, int fd, const char *path, const char *here);
	void *ctx;
	struct mappedfile_id *known;
	size_t n;
};

/* Takes the files of one process; of all. 0; -ESRCH or -ENOENT: there is no such process; -errno. */
int mappedfiles_of(struct mappedfiles *m, pid_t pid);
int mappedfiles_of_all(struct mappedfiles *m);
void mappedfiles_free(struct mappedfiles *m);
#endif
