/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains, each kept once: folded by (what the process maps, addresses), before any
 * name is looked up. A frame's name is asked for when it is seen first, while its process is there; if it takes longer
 * to come, the frame has it from the next callstacks_expand() or callstacks_name_late() on.
 */
#ifndef ENGINE_CALLSTACKS_H
#define ENGINE_CALLSTACKS_H

#include "stream/names.h"

struct callstacks;

struct frame {
	uint64_t addr;
	const char *symbol;      /* NULL: it has no name */
	const char *dso;         /* "[kernel.kallsyms]", "/usr/bin/cat", "[unknown]" */
	uint64_t offset;         /* in the function; of one without a name, in the file */
	uint64_t at;             /* in the file; where none is mapped, and of the kernel, the address */
	const struct dso *object;    /* the file; NULL: of the kernel, or none */
	bool kernel;
	bool inlined;            /* into the frame behind it */
	const char *file;        /* of its source line, or NULL */
	unsigned int line;
};

struct callstack {
	uint32_t n;
	const struct frame *const *frames;   /* innermost first */
	void *user;              /* the caller's own; NULL at first */
};

/* The names outlive it; without `inlines` callstacks_expand() only names; max_bytes is what
 * callstacks_rest() comes down to. NULL without memory. */
struct callstacks *callstacks_new(struct names *names, bool inlines, size_t max_bytes);
void callstacks_free(struct callstacks *s);
/* The stack of a sample's chain as the kernel wrote it; lives as long as s, or until
 * callstacks_rest(). NULL if memory is short, or all stacks together would take more than 256 MiB:
 * callstacks_refused() counts them. */
struct callstack *callstacks_get(struct callstacks *s, const uint64_t *ips, uint64_t nr, pid_t pid,
			 uint64_t time);
/* The same of a sample that says more exactly than its chain where it was: there, in user space or the kernel. In the
 * chain's innermost function that is its place; in another one that is a frame before it, to which the sample counts. */
struct callstack *callstacks_get_at(struct callstacks *s, uint64_t ip, bool user, const uint64_t *ips, uint64_t nr,
				    pid_t pid, uint64_t time);
/* Of a stack that is about to be shown: the names that came late, and the calls that compilers put into others, by
 * the DWARF of the files. What takes too long while rings are read is missing. */
void callstacks_expand(struct callstacks *s, struct callstack *stack);
/* At the end: all names that came late, also of code that was made while programs ran, where they were written since
 * they were asked for. */
void callstacks_name_late(struct callstacks *s);
/* All there are: the next behind `last`, the first one for NULL. */
struct callstack *callstacks_next(struct callstacks *s, const struct callstack *last);
size_t callstacks_count(const struct callstacks *s);
/* How many of the samples so far had a user's part, *all, and one that is cut off: a frame only, or
 * the last one where nothing is mapped. */
uint64_t callstacks_cut(const struct callstacks *s, uint64_t *all);
/* Between two intervals: the caller has no stack any more but those that it keeps now, by calling
 * callstacks_keep() from keep() (NULL: none). Beyond max_bytes those go that the interval before did not
 * have, or, if they are too few, all. */
void callstacks_rest(struct callstacks *s, void (*keep)(void *ctx), void *ctx);
void callstacks_keep(struct callstack *stack);
/* What stacks, frames and their names take. */
size_t callstacks_bytes(const struct callstacks *s);
/* How many chains had no room. */
uint64_t callstacks_refused(const struct callstacks *s);
#endif
