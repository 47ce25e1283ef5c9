/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds files to perf's cache of the user who runs perf-prof (idfile.h), as perf-record(1) does:
 *
 *     ~/.debug/home/me/program/0123456789abcdef…/elf                a copy of /home/me/program
 *     ~/.debug/.build-id/01/23456789abcdef… -> ../../home/me/program/0123456789abcdef…
 *
 * Under sudo this is the cache of the user who ran sudo, written with that user's rights. A copy is complete or not there.
 */
#ifndef SYMBOLS_ELF_IDCACHE_H
#define SYMBOLS_ELF_IDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct idcache_file {
	int fd;                  /* its contents, for reading */
	const char *path;        /* absolute */
	const uint8_t *id;       /* its build id */
	size_t size;             /* of the id, in bytes */
	off_t most;              /* bytes: larger files have been changed */
};

/* The cache's folder, or "". */
const char *idcache_folder(void);
/* Whether the cache has a file with this build id. */
bool idcache_has(const struct idcache_file *file);
/* Copies the file. is_stopped(ctx) is asked between pieces; true ends the copy. 0 or -errno: -ESTALE: the file has been
 * changed; -EINTR: stopped. */
int idcache_add(const struct idcache_file *file, bool (*is_stopped)(void *ctx), void *ctx);
#endif
