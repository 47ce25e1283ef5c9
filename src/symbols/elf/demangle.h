/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions as they stand in the source, for C++ and Rust (both of its schemes):
 * without parameters, return types and, of Rust, the hash at the end, as perf(1) shows them.
 */
#ifndef SYMBOLS_ELF_DEMANGLE_H
#define SYMBOLS_ELF_DEMANGLE_H

#include "symbols/jail/parser.h"

enum { DEMANGLE_MAX = 4096 };    /* bytes of a name, its end included */

/* Whether the name looks like a mangled one; a few ns. */
static inline bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* 0; -EINVAL: it isn't mangled, or not as we know it; -E2BIG: it would be longer than
 * DEMANGLE_MAX (a few bytes can stand for gigabytes). */
int demangle(const char *name, char buf[DEMANGLE_MAX]);

/* Demangled names of one table of symbols, each made when it is first asked for. */
struct demangled;

/* The name for people: as demangled before, or by the parser now; or `name` itself. The key
 * is the pointer: it lives as long as *d. *d may be NULL at first. What is returned lives
 * until the next call. */
const char *demangled_name(struct demangled **d, struct parser *p, const char *name);
/* Whether that asks nobody. */
bool demangled_has(const struct demangled *d, const char *name);
size_t demangled_bytes(const struct demangled *d);
void demangled_free(struct demangled *d);

/* The handler of PARSER_DEMANGLE: names, each with its end, to as many; an empty one for
 * what is none. */
int demangle_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
#endif
