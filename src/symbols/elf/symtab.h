/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of symbols, sorted by address: of the kernel, of a file, of whatever else gives
 * names to addresses. Filled, finished, then only asked.
 */
#ifndef SYMBOLS_ELF_SYMTAB_H
#define SYMBOLS_ELF_SYMTAB_H

#include "symbols/jail/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

/* One symbol as it goes in. */
struct symtab_entry {
	uint64_t start, end;     /* end: behind its last byte */
	bool open;               /* its size is not known: it ends where the next one starts,
				  * or at `end`, whichever is first */
	uint8_t rank;            /* of several at one address the highest stays, then the first */
	uint16_t group;          /* what it belongs to, a number of the caller's; an open one of
				  * another group than the next ends within two pages */
	const char *name;
	size_t len;
};

struct symtab_hit {
	const char *name;        /* lives as long as the table */
	uint64_t start;
	uint16_t group;
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *t);
/* 0 or -ENOMEM. Symbols without a length or a name are left out. */
int symtab_add(struct symtab *t, const struct symtab_entry *e);
/* Adds those of that group from a finished table. 0 or -ENOMEM. */
int symtab_copy_group(struct symtab *t, const struct symtab *from, uint16_t group);
/* Sorts and indexes. -ENOENT for an empty table, -ENOMEM. */
int symtab_finish(struct symtab *t);
/* The innermost symbol around addr; some 10 ns. */
bool symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit);
/* What it takes of memory. */
size_t symtab_bytes(const struct symtab *t);
size_t symtab_count(const struct symtab *t);

/* A finished table to bytes of symtab_packed_size(), for another process of this same
 * program, and back; NULL for bytes that are none. */
size_t symtab_packed_size(const struct symtab *t);
int symtab_pack(const struct symtab *t, struct parser_bytes *out);
struct symtab *symtab_unpack(const void *bytes, size_t size);
#endif
