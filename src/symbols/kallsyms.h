/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel addresses, modules and BPF images included, from /proc/kallsyms. */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kernel_symbol {
	const char *name;
	const char *module;      /* NULL for the kernel itself */
	uint64_t start;
};

/* Reads the whole table (some 200,000 symbols). NULL if it can't be read or holds no
 * addresses (kernel.kptr_restrict). */
struct kallsyms *kallsyms_load(const char *path);
void kallsyms_free(struct kallsyms *k);
/* The symbol at or before addr: 0, or -1 outside of all text. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kernel_symbol *sym);
#endif
