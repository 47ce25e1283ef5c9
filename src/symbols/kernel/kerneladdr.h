/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel runs, and where it lies: at each boot elsewhere. */
#ifndef SYMBOLS_KERNEL_KERNELADDR_H
#define SYMBOLS_KERNEL_KERNELADDR_H

#include "base/opener.h"
#include "symbols/elf/elfid.h"

/* The address of a symbol, such as "_text", by /proc/kallsyms; 0: this user isn't told. */
uint64_t kernel_address(const char *symbol, const struct opener *o);
/* Its build id: how many bytes it has, 0 if nobody says. */
size_t kernel_build_id(uint8_t id[ELFID_MAX]);
#endif
