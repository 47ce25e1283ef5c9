/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all threads of a Firefox profile share: strings, and stacks as a tree of frames, of
 * functions, of files. Rows are numbered as they come, parents before children.
 */
#ifndef EXPORT_FIREFOX_TABLES_H
#define EXPORT_FIREFOX_TABLES_H

#include "engine/callstacks.h"
#include "export/wordlist.h"

#include <stdio.h>

/* The categories of frames, by their place in meta.categories. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL };

struct firefox_tables {
	struct wordlist words;
	struct numbers stacks, frames, functions, files, sources;
	struct firefox_stack *stack;
	struct firefox_frame *frame;
	struct firefox_function *function;
	struct firefox_file *file;
	uint32_t *source;            /* words */
	bool lost;                   /* a row found no memory */
};

void firefox_tables_begin(struct firefox_tables *t);
void firefox_tables_free(struct firefox_tables *t);
/* The row of a stack; -1: it is empty. */
int64_t firefox_stack(struct firefox_tables *t, struct callstack *stack);
/* Whether something found no memory: then rows are missing, and nothing can be put. */
bool firefox_tables_lost(const struct firefox_tables *t);
/* "libs":[...] of a machine of that architecture. */
void firefox_put_files(const struct firefox_tables *t, const char *arch, FILE *out);
/* "shared":{...}. */
void firefox_put_tables(const struct firefox_tables *t, FILE *out);
#endif
