/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where probes can be in a file: at its functions, by the names that its source has, and at its USDT probes. Files are
 * untrusted: a parser (jail/parser.h) searches them.
 */
#ifndef SYMBOLS_ELF_PLACES_H
#define SYMBOLS_ELF_PLACES_H

#include "symbols/jail/parser.h"

enum places_kind { PLACES_FUNCTIONS, PLACES_USDT };

/* What the name that was asked for is. The best that there is counts, and places are of one kind. */
enum places_match {
	PLACES_NONE,             /* nothing of the file: the places are names that resemble it */
	PLACES_GLOB,             /* it has * or ?, and matches these */
	PLACES_PLAIN,            /* a function's name without parameters and template arguments: Cart::add of Cart<Item>::add(int) */
	PLACES_BARE,             /* a function's name without its parameters: overloads have the same */
	PLACES_FULL,             /* with its parameters, or a USDT probe's */
	PLACES_SYMBOL,           /* the linker's */
};

struct place {
	uint64_t offset;         /* in the file */
	uint64_t address;        /* as linked */
	uint64_t size;           /* of the function, bytes; 0: not known */
	uint64_t counter;        /* offset of a USDT probe's semaphore; 0: it has none */
	bool chooses;            /* runs once, and returns the address of the function that is then called by that name (IFUNC) */
	const char *name;        /* as `nm -C` prints it, without the return type; "PROVIDER:NAME" */
	const char *bare;        /* without parameters */
	const char *symbol;      /* the linker's name */
	const char *args;        /* of a USDT probe: "-4@%edi 8@%rax" */
};

struct places {
	enum places_match match;
	size_t seen;             /* how many the file has; 0: a stripped file */
	struct place *all;       /* by name and offset, each pair once */
	size_t n;
	struct parser_bytes bytes;
};

enum { PLACES_NEAR = 8 };        /* names of PLACES_NONE, at most */

/* Searches a regular file for a name; blanks don't count. A glob's "*" stands for any text, "?" for one character. If the
 * file has no such function, its debug file is searched, too. 0; -EBADMSG: not an ELF file, or a damaged one; -errno.
 * Release with places_free(). */
int places_find(struct places *out, struct parser *p, int fd, const char *path, enum places_kind kind, const char *wanted);
void places_free(struct places *places);

/* ---- places_answer.c */

/* The handler of PARSER_PLACES: the kind as one byte and the name; the file, and its debug file if there is one. */
int places_answer(void **state, const struct parser_question *q, struct parser_bytes *out);

/* Its answer: this head, then a struct place_head and four strings for each place. */
struct places_head {
	uint32_t match;          /* enum places_match */
	uint32_t seen;
};
struct place_head {
	uint64_t offset, counter, address, size;
	uint64_t chooses;        /* 0 or 1 */
};
enum { PLACE_STRINGS = 4 };      /* name, bare, symbol, args */

/* Whether the two are equal but for blanks; whether the glob matches. */
bool place_name_is(const char *wanted, const char *name);
bool place_glob_matches(const char *glob, const char *name);
bool place_is_glob(const char *text);
/* Writes the name without its templates' arguments, of which "operator<" and Rust's "<T as Trait>::f" have none. buf has room for
 * the name. */
void place_name_plain(const char *name, char *buf);
/* Whether `part` is the end of a name, or of what stands before its template's arguments, its parameters or its suffix:
 * "add" of "shop::Cart::add(int)". */
bool place_name_ends(const char *name, const char *part);
#endif
