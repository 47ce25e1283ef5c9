/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program or library as the dynamic linker has mapped it: addresses of the symbols that it exports. They are read
 * from the process's memory, so no file has to be found, opened or parsed; it works for deleted files, and in other
 * containers.
 */
#ifndef PYSTACK_IMAGE_H
#define PYSTACK_IMAGE_H

#include "pystack/memory.h"
#include "tasks/procmaps.h"

/* The files that a process has mapped, each where its first byte is. */

/* A process may have mapped what takes hours to search. */
enum { IMAGES_SECONDS = 2 };

/* Calls `look` for each mapping of the beginning of a file until it returns true. 0; -ETIME: it took too long; or -errno: the
 * list of mappings cannot be read. */
int images_each(const struct memory *m, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx);

struct image {
	const struct memory *memory;
	uint64_t bias;                   /* added to addresses in the file */
	uint64_t start, end;             /* where its file's first byte is mapped; end of its last segment */
	uint64_t data, ndata;            /* variables with values: the last writable segment; bytes in the file */
	uint64_t symbols, strings;       /* addresses of tables */
	uint64_t gnu_hash, hash;         /* likewise; 0: there is none */
};

/* Reads the head of the image whose file's first byte is mapped at `start`. 0; -ENOEXEC: no ELF image for this machine
 * with dynamic symbols; -EMEDIUMTYPE: of a 32-bit program; or -errno. */
int image_open(struct image *image, const struct memory *m, uint64_t start);
/* The address of a symbol that the image defines and exports. 0, -ENOENT, or another -errno. */
int image_symbol(const struct image *image, const char *name, uint64_t *addr);
#endif
