/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions as in the source, for C++, Rust (both schemes) and OCaml: without parameters,
 * return types and Rust's hash at the end, as in perf(1).
 */
#ifndef SYMBOLS_ELF_DEMANGLE_H
#define SYMBOLS_ELF_DEMANGLE_H

#include "symbols/jail/parser.h"

#include <string.h>

enum { DEMANGLE_MAX = 4096 };    /* bytes of a name, with its NUL */

static inline bool is_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && name[4] >= 'A' && name[4] <= 'Z';
}

/* Whether the name looks mangled; takes a few ns. */
static inline bool is_mangled(const char *name)
{
	return name[0] == '_' ? name[1] == 'Z' || name[1] == 'R' : is_ocaml(name);
}

/* 0; -EINVAL: not mangled, or by an unknown scheme; -E2BIG: the result would be longer than
 * DEMANGLE_MAX (a few bytes can expand to gigabytes). */
int demangle(const char *name, char buf[DEMANGLE_MAX]);

/* demangle() with parameters, as `nm -C` prints it, but without the return type, which only templates have;
 * or as `nm -C` prints it, to the letter. */
int demangle_signature(const char *name, char buf[DEMANGLE_MAX]);
int demangle_as_nm(const char *name, char buf[DEMANGLE_MAX]);

/* A name of OCaml: camlList__map_3 is List.map_3. 0, or errors as above. */
int demangle_ocaml(const char *name, char buf[DEMANGLE_MAX]);

/* Cache of demangled names for one table of symbols. */
struct demangled;

/* The name to show: from the cache, or by the parser now; or `name` itself. The key is the pointer `name`,
 * which must stay valid as long as *d. *d may be NULL at first. The result is valid until the next call. */
const char *demangled_name(struct demangled **d, struct parser *p, const char *name);
/* Whether it is in the cache. */
bool demangled_has(const struct demangled *d, const char *name);
size_t demangled_bytes(const struct demangled *d);
void demangled_free(struct demangled *d);

/* The handler of PARSER_DEMANGLE: names, each with its NUL, to as many; an empty name if it
 * cannot be demangled. */
int demangle_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
#endif
