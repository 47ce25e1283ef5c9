/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel addresses, including modules and BPF images, from /proc/kallsyms. */
#ifndef SYMBOLS_KERNEL_KALLSYMS_H
#define SYMBOLS_KERNEL_KALLSYMS_H

#include "base/opener.h"
#include "symbols/elf/elfid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The running kernel: its build id and its address, which differs at each boot. */

/* The address of a symbol such as "_text" in /proc/kallsyms; 0: hidden from this user. */
uint64_t kernel_address(const char *symbol, const struct opener *o);
/* The build id: its number of bytes, 0 if unknown. */
size_t kernel_build_id(uint8_t id[ELFID_MAX]);

struct kallsyms;

struct kernel_symbol {
	const char *name;
	const char *dso;         /* "[kernel.kallsyms]", "[nf_tables]", "[bpf]" */
	uint64_t start;
};

/* Reads the whole table (some 200,000 symbols in 100 ms, nearly all of it in the kernel) from a
 * descriptor, which stays open. NULL if it is not readable or has no addresses (kernel.kptr_restrict). */
struct kallsyms *kallsyms_read(int fd);
void kallsyms_free(struct kallsyms *k);
/* The function at addr: 0, or -1 outside of all code. The table has no sizes: a function ends
 * where the next one begins, the last one of a module within two pages. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kernel_symbol *sym);
/* Address of "_text" or "_stext"; 0 for other symbols, and if the table lacks it. */
uint64_t kallsyms_base(const struct kallsyms *k, const char *symbol);
/* Whether the symbol is in the kernel's image, not in a module or BPF program. */
bool kallsyms_is_image(const struct kernel_symbol *sym);
#endif
