/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build id of an ELF file, and nothing else of it: a few small reads at checked places,
 * no library and no allocation. For whoever writes it down and leaves the rest to others.
 */
#ifndef SYMBOLS_ELF_ELFID_H
#define SYMBOLS_ELF_ELFID_H

#include <stddef.h>
#include <stdint.h>

enum { ELFID_MAX = 20 };

/* Its length in bytes, up to ELFID_MAX; 0: the file has none, or is no ELF file of this
 * byte order. */
size_t elfid_read(int fd, uint8_t id[ELFID_MAX]);
/* The same of notes as they lie in a segment, or in /sys/kernel/notes. */
size_t elfid_of_notes(const char *notes, size_t n, size_t align, uint8_t id[ELFID_MAX]);
#endif
