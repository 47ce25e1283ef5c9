/* SPDX-License-Identifier: Apache-2.0 */
/* For what a file is opened, from the flags of open(2): "r", "w create trunc", "rw append". */
#ifndef ANALYSIS_SYSCALLS_OPENFLAGS_H
#define ANALYSIS_SYSCALLS_OPENFLAGS_H

#include <stddef.h>
#include <stdint.h>

enum { OPENFLAGS_TEXT = 64 };   /* bytes that hold every text */

/* Flags of open(2) that have the same text have the same code; it is never 0. */
uint32_t openflags_code(uint64_t flags);
/* Returns buf. */
char *openflags_text(uint32_t code, char *buf, size_t size);
#endif
