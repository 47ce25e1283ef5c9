/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that a just-in-time compiler writes for the code it makes: lines of "START SIZE
 * NAME", in hex. The file grows while the process runs. Code that is written where other
 * code was ends that one: of two lines for the same bytes the later counts, and the earlier
 * for nothing at all any more.
 */
#ifndef SYMBOLS_JIT_PERFMAP_H
#define SYMBOLS_JIT_PERFMAP_H

#include "symbols/jail/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap;

/* Bounds, whatever the file holds: bytes of it that are read, lines that are kept, bytes of
 * their names. */
enum { PERFMAP_MAX_FILE = 128 << 20, PERFMAP_MAX_LINES = 1 << 20, PERFMAP_MAX_NAMES = 32 << 20 };

struct perfmap *perfmap_new(void);
/* A copy, to which perfmap_read() can add new lines; NULL: out of memory. */
struct perfmap *perfmap_copy(const struct perfmap *m);
void perfmap_free(struct perfmap *m);
/* Reads what the file has more than last time; a file that is shorter now is read anew. At most
 * *budget bytes (NULL: no matter), which become fewer. 1: there are new lines; 0: none; -errno. */
int perfmap_read(struct perfmap *m, int fd, uint64_t *budget);
/* The same from memory, whole lines and the beginning of one: returns how many bytes were
 * taken, or -ENOMEM. To be followed by perfmap_sort(). */
int64_t perfmap_take(struct perfmap *m, const char *text, size_t n);
void perfmap_sort(struct perfmap *m);
/* One function, of those bytes; its name ends at len or at a NUL. As perfmap_take(). */
void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size, const char *name, size_t len);
/* The function around addr. The name lives until the next perfmap_read(). */
bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **name, uint64_t *into);
/* From here on perfmap_each() gives those functions only which one of the words points into; or all, and none may
 * be marked. Of a sorted one, which stays as it is. False: all are given (also without memory). */
bool perfmap_begin_marks(struct perfmap *m, bool all);
void perfmap_mark(struct perfmap *m, const uint64_t *words, size_t n);
/* By address. */
typedef void perfmap_fn(void *ctx, uint64_t start, uint64_t size, const char *name);
void perfmap_each(const struct perfmap *m, perfmap_fn *fn, void *ctx);
/* For parser_kinds.c: of a file all functions, as lines of a perf map. */
int perfmap_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
size_t perfmap_bytes(const struct perfmap *m);
/* Whether a bound left lines out. */
bool perfmap_is_cut(const struct perfmap *m);
#endif
