/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of addresses in the static data of running processes: "big", "table+0x28". The symbols of mapped files are read by a
 * parser without privilege, like those of functions (symbols/jail/parser.h).
 */
#ifndef TASKS_VARIABLES_H
#define TASKS_VARIABLES_H

#include "base/opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct variables;

/* Starts the parser's process. NULL with errno. */
struct variables *variables_new(void);
void variables_free(struct variables *v);
/* "big (/usr/bin/lock)", without an offset for locks of several words; or "0x564b0a100140 [heap]" for the heap and stack;
 * "0x7f31c8000b70" if no variable of a file is there, or if reading files took too long. The name is looked up once for each address of a process. Returns buf. */
char *variables_name(struct variables *v, pid_t pid, uint64_t addr, char *buf, size_t size);
/* For variables_recorded(): the last mapping of code before the address, in a recorded process. */
struct dso;
struct variables_code {
	const struct opener *opener; /* opens the recording's files */
	const struct dso *dso;
	uint64_t start, pgoff;
};
/* Whether that address has been looked up: buf is its name. */
bool variables_known(const struct variables *v, pid_t pid, uint64_t addr, char *buf, size_t size);
char *variables_recorded(struct variables *v, pid_t pid, uint64_t addr, const struct variables_code *c, char *buf, size_t size);
/* The first file in which variables_recorded() found no names because it is not there, or not the one that was recorded; NULL: none. */
const char *variables_refused(const struct variables *v);
/* Where in its variable a known address is: bytes from its beginning, and all its bytes. All 0: it is in no variable. */
struct variables_place {
	uint64_t into, size;
};
struct variables_place variables_place(const struct variables *v, pid_t pid, uint64_t addr);
/* The process ends, or runs another program. */
void variables_forget(struct variables *v, pid_t pid);
#endif
