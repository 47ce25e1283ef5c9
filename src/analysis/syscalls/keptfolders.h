/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that a run has read from the file system, as lines in its recording, whose reader cannot read them again.
 *
 *	PID AT READ FD PATH	at the event of time AT (0: before all events), PATH was the folder of the process (FD -1), or
 *				of a descriptor. READ: when it was read; 0: it is what a call has changed to
 */
#ifndef ANALYSIS_SYSCALLS_KEPTFOLDERS_H
#define ANALYSIS_SYSCALLS_KEPTFOLDERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { KEPTFOLDER_CWD = -1, KEPTFOLDER_LINE = PATH_MAX + 128 };

/* Initialized by zeros. */
struct keptfolders {
	struct keptfolder *all;
};

struct keptfolder_key {
	pid_t pid;
	int fd;
	uint64_t at;
};

/* Puts the line. False: it cannot be one. */
bool keptfolders_line(const struct keptfolder_key *key, uint64_t read, const char *path, char buf[KEPTFOLDER_LINE]);
/* Takes lines; each whole one is checked. */
void keptfolders_take(struct keptfolders *k, const char *text, size_t size);
/* The path, or NULL. */
const char *keptfolders_find(const struct keptfolders *k, const struct keptfolder_key *key, uint64_t *read);
/* Those of before all events. */
typedef void keptfolders_taker(void *ctx, pid_t pid, const char *path, uint64_t read);
void keptfolders_each_first(const struct keptfolders *k, keptfolders_taker *take, void *ctx);
void keptfolders_free(struct keptfolders *k);
#endif
