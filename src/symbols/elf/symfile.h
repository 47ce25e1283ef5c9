/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of an ELF file: the addresses of its segments, and the functions in them; or the same of its variables. Files are
 * untrusted: invalid data is ignored.
 */
#ifndef SYMBOLS_ELF_SYMFILE_H
#define SYMBOLS_ELF_SYMFILE_H

#include "symbols/elf/symtab.h"
#include "symbols/jail/parser.h"

struct symfile;

enum { BUILD_ID_MAX = 20, DEBUG_LINK_MAX = 256, SYMFILE_NAME_MAX = 64 };

/* The debug file: its name and the CRC-32 of its contents. */
struct debug_link {
	char name[DEBUG_LINK_MAX];   /* without a folder */
	uint32_t crc;
};

enum symfile_what { SYMFILE_FUNCTIONS, SYMFILE_VARIABLES };

/* Reads a regular file; its descriptor may be closed afterwards. `file`: its name, without folder, by which functions without
 * a name are shown ("app+0x1320", up to SYMFILE_NAME_MAX bytes of it); "": they are not found. NULL with errno: ENOEXEC:
 * not an ELF file of a program; ENOTSUP: built without libelf. */
struct symfile *symfile_open(int fd, enum symfile_what what, const char *file);
/* symfile_open() for functions, from memory; the bytes may be freed afterwards. */
struct symfile *symfile_from_image(void *image, size_t size, const char *file);
void symfile_free(struct symfile *f);

/* The function or variable at an offset in the file, through the segment that maps it; *into is the distance from its start.
 * Variables can be behind the end of the file, as far as their segment goes. */
bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into);
/* The variable at a distance behind the byte of code at an offset, as both are mapped. False also if its size is not known. */
struct symfile_variable {
	const char *name;
	uint64_t into, size;
};
bool symfile_find_behind(const struct symfile *f, uint64_t offset, uint64_t distance, struct symfile_variable *v);
/* The addresses as linked of that function; end: after its last byte. */
bool symfile_range(const struct symfile *f, uint64_t offset, uint64_t *start, uint64_t *end);
/* The address as linked of the byte at that offset. */
bool symfile_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr);
/* Length of the build id in bytes; 0: there is none. */
size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX]);
size_t symfile_bytes(const struct symfile *f);

/* Whether it has the names of all its functions; if not, a debug file may have them. */
bool symfile_is_complete(const struct symfile *f);
/* NULL: it names none. */
const struct debug_link *symfile_debug_link(const struct symfile *f);
/* Takes the names from a debug file, if that belongs to f: by the checksum in f's debug link, or
 * else by the build id. 0; -ESTALE: it belongs to another file; -ENOENT: it has no names;
 * -ENOEXEC; -ENOMEM. */
int symfile_add_debug(struct symfile *f, int fd, bool by_link);

/* Converts it to bytes for another process running this same program. 0 or -ENOMEM. */
int symfile_pack(const struct symfile *f, struct parser_bytes *out);
/* NULL for invalid bytes: they are as untrusted as a file. */
struct symfile *symfile_unpack(const void *bytes, size_t size);
#endif
