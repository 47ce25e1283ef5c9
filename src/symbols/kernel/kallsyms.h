/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel addresses, modules and BPF images included, from /proc/kallsyms. */
#ifndef SYMBOLS_KERNEL_KALLSYMS_H
#define SYMBOLS_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kernel_symbol {
	const char *name;
	const char *dso;         /* "[kernel.kallsyms]", "[nf_tables]", "[bpf]" */
	uint64_t start;
};

/* Reads the whole table (some 200,000 symbols: 100 ms, nearly all of it the kernel's) from
 * a descriptor, which stays open. NULL if it can't be read or holds no addresses
 * (kernel.kptr_restrict). */
struct kallsyms *kallsyms_read(int fd);
void kallsyms_free(struct kallsyms *k);
/* The function around addr: 0, or -1 outside of all text. The table knows no sizes: a
 * function ends where the next begins, the last one of a module within two pages. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kernel_symbol *sym);
/* Where "_text" or "_stext" lies by it; 0 for others, and where it doesn't say. */
uint64_t kallsyms_base(const struct kallsyms *k, const char *symbol);
/* Whether that names something of the kernel's own image, and no module or BPF program. */
bool kallsyms_is_image(const struct kernel_symbol *sym);
#endif
