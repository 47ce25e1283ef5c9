/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file says about its code: where its segments go, and which functions they
 * hold. Files are hostile: what can't be right is left out.
 */
#ifndef SYMBOLS_ELF_SYMFILE_H
#define SYMBOLS_ELF_SYMFILE_H

#include "symbols/elf/symtab.h"
#include "symbols/jail/parser.h"

struct symfile;

enum { BUILD_ID_MAX = 20, DEBUG_LINK_MAX = 256 };

/* The file that has the rest of the names, and the CRC-32 of all its bytes. */
struct debug_link {
	char name[DEBUG_LINK_MAX];   /* without a folder */
	uint32_t crc;
};

/* Reads a descriptor of a regular file, which may be closed then. NULL with errno: ENOEXEC
 * for what is no ELF file of a program, ENOTSUP where this was built without libelf. */
struct symfile *symfile_open(int fd);
/* The same from memory; the bytes may be freed then. */
struct symfile *symfile_from_image(void *image, size_t size);
void symfile_free(struct symfile *f);

/* The function at an offset in the file, through the segment that maps it; *into is how
 * far the address is behind the function's start. */
bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into);
/* The address that the file gives the byte at that offset. */
bool symfile_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr);
/* Its length in bytes; 0: there is none. */
size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX]);
size_t symfile_bytes(const struct symfile *f);

/* Whether it has the names of all its functions; if not, a file with them may be had. */
bool symfile_is_complete(const struct symfile *f);
/* NULL: it names none. */
const struct debug_link *symfile_debug_link(const struct symfile *f);
/* Takes the names from that file, if it is the one that was split off from f: by the
 * checksum of f's debug link, or else by the build id. 0; -ESTALE: it belongs to another
 * file; -ENOENT: it has no names; -ENOEXEC; -ENOMEM. */
int symfile_add_debug(struct symfile *f, int fd, bool by_link);

/* To bytes that another process with this same program makes it again of. 0 or -ENOMEM. */
int symfile_pack(const struct symfile *f, struct parser_bytes *out);
/* NULL for bytes that are none: they are as hostile as a file is. */
struct symfile *symfile_unpack(const void *bytes, size_t size);
#endif
