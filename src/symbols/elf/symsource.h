/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol files, read by a parser. */
#ifndef SYMBOLS_ELF_SYMSOURCE_H
#define SYMBOLS_ELF_SYMSOURCE_H

#include "base/opener.h"
#include "symbols/elf/symfile.h"

/* Larger files are not read. */
#define SYMSOURCE_MAX_FILE (4ull << 30)

/* As symfile_open(), with names from a debug file if there is one. It is searched by build id and debug
 * link, in the root of the process and in ours. `path` is the file's. *dwarf (if dwarf is not
 * NULL) is a descriptor of the file that may have DWARF, to be closed by the caller, or -1. */
struct symfile *symsource_open(struct parser *p, const struct opener *o, int fd, pid_t pid,
			       const char *path, int *dwarf);
/* A descriptor of the debug file, for the DWARF of a file that may have names, but no DWARF (strip -g); -1: none. */
int symsource_debug(struct parser *p, const struct opener *o, int fd, const char *path);
/* symsource_open() for the file's variables. */
struct symfile *symsource_variables(struct parser *p, const struct opener *o, int fd, pid_t pid, const char *path);
/* Adds names from a debuginfod server to an incomplete file: the new f, or f unchanged. */
struct symfile *symsource_ask_servers(struct parser *p, struct symfile *f, int fd, const char *urls);

/* A file with that build id in a folder of build ids, whatever its path was, or in perf's cache;
 * -errno. */
int symsource_find(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size);

/* The debug file with that build id, in the root of the process (0: ours); -errno. */
int symsource_find_debug(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size);

/* The handler of PARSER_SYMBOLS. */
int symsource_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
#endif
