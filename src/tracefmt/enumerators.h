/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the running kernel's enumerators: a "print fmt" names those that its author did not export by TRACE_DEFINE_ENUM. */
#ifndef TRACEFMT_ENUMERATORS_H
#define TRACEFMT_ENUMERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks in the kernel's types (/sys/kernel/btf/vmlinux, Linux 5.4), which it reads once. False: there is no such enumerator, or
 * there are several with different values. */
bool enumerator_of_kernel(const char *name, size_t len, uint64_t *value);

/* The enumerators of BTF data, by name; they refer to the data. */
struct enumerator {
	const char *name;
	uint64_t value;
};
struct enumerators {
	struct enumerator *all;
	size_t n;
};

/* Takes the enumerators before the first byte that is wrong. */
void enumerators_read(struct enumerators *e, const char *btf, size_t len);
bool enumerators_find(const struct enumerators *e, const char *name, size_t len, uint64_t *value);

#endif
