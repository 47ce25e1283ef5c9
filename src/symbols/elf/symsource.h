/* SPDX-License-Identifier: Apache-2.0 */
/* Files with symbols, read by a parser. */
#ifndef SYMBOLS_ELF_SYMSOURCE_H
#define SYMBOLS_ELF_SYMSOURCE_H

#include "base/opener.h"
#include "symbols/elf/symfile.h"

/* Larger files are not read. */
#define SYMSOURCE_MAX_FILE (4ull << 30)

/* As symfile_open(), with the names of the debug file if that isn't -1: then NULL with
 * errno where it isn't this file's. EOWNERDEAD, ETIME: parsing it went wrong. */
struct symfile *symsource_read(struct parser *p, int fd, int debug, bool by_link);

/* The same with the names of whatever debug file there is, found by build id or by what the
 * file says, in the root of the process and in ours. `path` is the file's. *dwarf (where dwarf
 * isn't NULL) is a descriptor of the one that may have DWARF, the caller's to close, or -1. */
struct symfile *symsource_open(struct parser *p, const struct opener *o, int fd, pid_t pid,
			       const char *path, int *dwarf);
/* For a file that isn't complete, debuginfod's: f with those names, or f as it is. */
struct symfile *symsource_ask_servers(struct parser *p, struct symfile *f, int fd, const char *urls);

/* A file of that build id, kept in a folder by it, whatever its path was, or by perf; -errno. */
int symsource_find(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size);

/* The debug file of that build id, in the root of the process (0: ours); -errno. */
int symsource_find_debug(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size);

/* The handler of PARSER_SYMBOLS. */
int symsource_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
#endif
