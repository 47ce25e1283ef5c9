/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that a JIT compiler writes for its code: lines of "START SIZE NAME", in hex. The file
 * grows while the process runs. New code replaces old code: if the bytes of two lines overlap,
 * the later line is used, and the earlier one is dropped entirely.
 */
#ifndef SYMBOLS_JIT_PERFMAP_H
#define SYMBOLS_JIT_PERFMAP_H

#include "symbols/jail/parser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap;

/* Limits: bytes read from a file, number of lines, bytes of their names. */
enum { PERFMAP_MAX_FILE = 128 << 20, PERFMAP_MAX_LINES = 1 << 20, PERFMAP_MAX_NAMES = 32 << 20 };

struct perfmap *perfmap_new(void);
/* A copy, to which perfmap_read() can add new lines; NULL: out of memory. */
struct perfmap *perfmap_copy(const struct perfmap *m);
void perfmap_free(struct perfmap *m);
/* Reads what was added to the file since the last time; a file that is shorter now is read from the
 * start. Reads at most *budget bytes (NULL: no limit) and subtracts them. 1: new lines; 0: none; -errno. */
int perfmap_read(struct perfmap *m, int fd, uint64_t *budget);
/* Reads a map from memory: whole lines and the beginning of one. Returns the number of bytes used.
 * Call perfmap_sort() afterwards. */
int64_t perfmap_take(struct perfmap *m, const char *text, size_t n);
void perfmap_sort(struct perfmap *m);
/* Adds one function of `size` bytes; its name ends at len or at a NUL. Call perfmap_sort() afterwards. */
void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size, const char *name, size_t len);
/* The function at addr. The name is valid until the next perfmap_read(). */
bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **name, uint64_t *into);
/* From here on perfmap_each() is limited to functions into which a word passed to perfmap_mark()
 * points. all: no limit, and none may be marked. The map must be sorted and stay unchanged.
 * False: not limited (also if out of memory). */
bool perfmap_begin_marks(struct perfmap *m, bool all);
void perfmap_mark(struct perfmap *m, const uint64_t *words, size_t n);
/* In the order of addresses. */
typedef void perfmap_fn(void *ctx, uint64_t start, uint64_t size, const char *name);
void perfmap_each(const struct perfmap *m, perfmap_fn *fn, void *ctx);
/* The handler of PARSER_PERF_MAP: all functions of a file, as lines of a perf map. */
int perfmap_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
size_t perfmap_bytes(const struct perfmap *m);
/* Whether lines were left out because of a limit. */
bool perfmap_is_cut(const struct perfmap *m);
#endif
