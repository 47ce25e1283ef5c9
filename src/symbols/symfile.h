/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file says about its code: where its segments go, and which functions they
 * hold. Files are hostile: what can't be right is left out.
 */
#ifndef SYMBOLS_SYMFILE_H
#define SYMBOLS_SYMFILE_H

#include "symbols/symtab.h"

struct symfile;

enum { BUILD_ID_MAX = 20 };

/* Reads a descriptor of a regular file, which may be closed then. NULL with errno: ENOEXEC
 * for what is no ELF file of a program, ENOTSUP where this was built without libelf. */
struct symfile *symfile_open(int fd);
/* The same from memory; the bytes may be freed then. */
struct symfile *symfile_from_image(void *image, size_t size);
void symfile_free(struct symfile *f);

/* The function at an offset in the file, through the segment that maps it; *into is how
 * far the address is behind the function's start. */
bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into);
/* Its length in bytes; 0: there is none. */
size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX]);
size_t symfile_bytes(const struct symfile *f);
#endif
