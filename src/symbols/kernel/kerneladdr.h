/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel: its build id and its address, which differs at each boot. */
#ifndef SYMBOLS_KERNEL_KERNELADDR_H
#define SYMBOLS_KERNEL_KERNELADDR_H

#include "base/opener.h"
#include "symbols/elf/elfid.h"

/* The address of a symbol such as "_text" in /proc/kallsyms; 0: hidden from this user. */
uint64_t kernel_address(const char *symbol, const struct opener *o);
/* The build id: its number of bytes, 0 if unknown. */
size_t kernel_build_id(uint8_t id[ELFID_MAX]);
#endif
