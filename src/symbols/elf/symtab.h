/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of symbols, sorted by address: for the kernel, files and others. It is filled, then
 * finished, then only used for lookups.
 */
#ifndef SYMBOLS_ELF_SYMTAB_H
#define SYMBOLS_ELF_SYMTAB_H

#include "symbols/jail/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

/* A symbol to add. */
struct symtab_entry {
	uint64_t start, end;     /* end: after its last byte */
	bool open;               /* its size is unknown: it ends at the next symbol's start or at
				  * `end`, whichever is first */
	uint8_t rank;            /* of several symbols at one address the highest rank stays; if equal, the first */
	uint16_t group;          /* its object, numbered by the caller; an open symbol followed
				  * by one of another group ends within two pages */
	const char *name;
	size_t len;
};

struct symtab_hit {
	const char *name;        /* valid as long as the table */
	uint64_t start, end;     /* end: after its last byte */
	uint16_t group;
	bool open;               /* its size is unknown */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *t);
/* 0 or -ENOMEM. Symbols without a length or a name are left out. */
int symtab_add(struct symtab *t, const struct symtab_entry *e);
/* Adds the symbols of that group in a finished table. 0 or -ENOMEM. */
int symtab_copy_group(struct symtab *t, const struct symtab *from, uint16_t group);
/* Sorts and indexes. -ENOENT for an empty table, -ENOMEM. */
int symtab_finish(struct symtab *t);
/* The innermost symbol at addr; takes some 10 ns. */
bool symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit);
/* Bytes of memory used. */
size_t symtab_bytes(const struct symtab *t);
size_t symtab_count(const struct symtab *t);

/* Converts a finished table to symtab_packed_size() bytes, for another process running this same
 * program, and back; NULL for invalid bytes. */
size_t symtab_packed_size(const struct symtab *t);
int symtab_pack(const struct symtab *t, struct parser_bytes *out);
struct symtab *symtab_unpack(const void *bytes, size_t size);
#endif
