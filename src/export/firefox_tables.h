/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that all threads of a Firefox profile share: strings, and stacks as a tree. Rows refer to
 * rows: stack -> frame -> function -> file. A parent's row comes before its children's.
 */
#ifndef EXPORT_FIREFOX_TABLES_H
#define EXPORT_FIREFOX_TABLES_H

#include "engine/callstacks.h"
#include "export/wordlist.h"

#include <stdio.h>

/* Categories of frames, in the order of meta.categories. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL, FIREFOX_GUEST };

struct firefox_tables {
	struct wordlist words;
	struct numbers stacks, frames, functions, files, sources;
};

void firefox_tables_begin(struct firefox_tables *t);
void firefox_tables_free(struct firefox_tables *t);
/* The row of a stack; -1 for an empty one. */
int64_t firefox_stack(struct firefox_tables *t, struct callstack *stack);
/* Whether rows are missing for lack of memory. Then nothing can be written. */
bool firefox_tables_lost(const struct firefox_tables *t);
/* Writes "libs":[...] for a machine of that architecture. */
void firefox_put_files(const struct firefox_tables *t, const char *arch, FILE *out);
/* Writes "shared":{...}. */
void firefox_put_tables(const struct firefox_tables *t, FILE *out);
#endif
