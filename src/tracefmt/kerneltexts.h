/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the kernel, to which events refer by address: the file printk_formats of tracefs, or its copy in a recording. */
#ifndef TRACEFMT_KERNELTEXTS_H
#define TRACEFMT_KERNELTEXTS_H

#include <stddef.h>
#include <stdint.h>

/* Initialized by zeros. */
struct kerneltexts {
	struct kerneltext {
		uint64_t address;
		char *text;
	} *all;
	size_t n;
};

/* Adds lines such as: 0xffffffff8281a569 : "Start context switch" */
void kerneltexts_add(struct kerneltexts *k, const char *lines, size_t len);
/* NULL: there is none at that address. */
const char *kerneltexts_find(const struct kerneltexts *k, uint64_t address);
void kerneltexts_free(struct kerneltexts *k);
#endif
