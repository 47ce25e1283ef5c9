/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads only the build id of an ELF file: a few small, checked reads, without a library or
 * allocation. For code that records build ids and leaves the files to others.
 */
#ifndef SYMBOLS_ELF_ELFID_H
#define SYMBOLS_ELF_ELFID_H

#include <stddef.h>
#include <stdint.h>

enum { ELFID_MAX = 20 };

/* Its length in bytes, up to ELFID_MAX; 0: the file has none, or is not an ELF file in this byte order. */
size_t elfid_read(int fd, uint8_t id[ELFID_MAX]);
/* The build id from notes in memory, from a segment or from /sys/kernel/notes. */
size_t elfid_of_notes(const char *notes, size_t n, size_t align, uint8_t id[ELFID_MAX]);
#endif
