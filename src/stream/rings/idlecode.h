/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's functions in which an idle CPU waits, from /proc/kallsyms: each call chain of an idle task, also one of an
 * interrupt there, begins in one of them. So a chain tells an idle CPU from a task that the sample has no id of.
 */
#ifndef STREAM_RINGS_IDLECODE_H
#define STREAM_RINGS_IDLECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { IDLECODE_MAX = 4 };

struct idlecode {
	struct {
		uint64_t start, end;
	} code[IDLECODE_MAX];
	size_t n;                        /* 0: not known */
};

/* Reads the kernel's symbols: lines of "ADDRESS TYPE NAME", sorted by address as in /proc/kallsyms. */
void idlecode_read(struct idlecode *c, FILE *symbols);
/* Whether one of the addresses is in these functions. They may be return addresses. */
bool idlecode_has(const struct idlecode *c, const uint64_t *ips, uint64_t nr);
#endif
