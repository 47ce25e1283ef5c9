/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains, each stored once. A chain is first looked up by mappings and addresses, so that a repeated one needs no
 * names. A frame's name is looked up when the frame is first seen, while its process exists; if that takes long, it is
 * set by the next callstacks_expand() or callstacks_name_late().
 */
#ifndef ENGINE_CALLSTACKS_H
#define ENGINE_CALLSTACKS_H

#include "base/options.h"
#include "stream/names.h"
#include "symbols/chain.h"

struct callstacks;

struct frame {
	uint64_t addr;
	const char *symbol;      /* NULL: it has no name */
	const char *dso;         /* "[kernel.kallsyms]", "/usr/bin/cat", "[unknown]" */
	uint64_t offset;         /* in the function; without a name: in the file */
	uint64_t at;             /* offset in the file; in the kernel, or if no file is mapped: the address */
	/* Where the function begins, as `at`: static functions with one name differ in it. 0: not known, inlined, or made at run
	 * time, where a function is compiled several times. */
	uint64_t start;
	const struct dso *object;    /* the file; NULL: the kernel, or no file */
	bool kernel;
	bool guest;              /* in a virtual machine: its symbols are not ours */
	bool script;             /* a function of an interpreter's program: dso is "FILE:FIRST LINE" */
	bool inlined;            /* into the next frame */
	const char *file;        /* source file, or NULL */
	unsigned int line;
};

struct callstack {
	uint32_t n;
	const struct frame *const *frames;   /* innermost first */
	void *user;              /* for the caller; NULL at first */
	bool cut;                /* a chain with these frames lacks its outermost callers: samplestack.c sets it */
};

/* `names` has to outlive it. Without `inlines`, callstacks_expand() only sets names. Above max_bytes,
 * callstacks_rest() drops stacks. NULL: out of memory. */
struct callstacks *callstacks_new(struct names *names, bool inlines, size_t max_bytes);
/* From now on, callstacks_expand() shows functions of Python under -X perf as those of scripts, and their time in the
 * interpreter as theirs: pyframes.h. */
void callstacks_merge_python(struct callstacks *s);
/* From now on, callstacks_expand() shows stacks only below the innermost frame of one of these functions: without it and its
 * callers. If it is itself the innermost frame, that one is left. Stacks without such a frame stay as they are. They outlive s. */
void callstacks_begin_below(struct callstacks *s, const struct opt_strings *functions);
/* Whether there were stacks, and none has such a function. */
bool callstacks_lack_below(const struct callstacks *s);
void callstacks_free(struct callstacks *s);
/* The frame at the end of a chain that ends in user space where nothing is mapped: "[broken]". */
const struct frame *callstacks_broken(void);
/* The stack for a sample's call chain; valid until callstacks_rest() or callstacks_free(). NULL: out
 * of memory, or all stacks together would take more than 256 MiB: see callstacks_refused(). */
struct callstack *callstacks_get(struct callstacks *s, const uint64_t *ips, uint64_t nr, pid_t pid,
			 uint64_t time);
/* The same for a sample whose ip is more precise than its chain. If ip is in the chain's
 * innermost function, it replaces the innermost address; otherwise, a frame for ip is added before it. */
struct callstack *callstacks_get_at(struct callstacks *s, uint64_t ip, enum chain_place place, const uint64_t *ips, uint64_t nr,
				    pid_t pid, uint64_t time);
/* A frame of a stack that an interpreter has. */
struct script_frame {
	uint64_t function;       /* a number: equal for the same function of the same process */
	const char *name, *file; /* file NULL: it is no function of a file */
	int first_line, line;    /* of the function; of the frame (0: not known) */
};
/* The stack with these frames, innermost first. NULL as for callstacks_get(). */
struct callstack *callstacks_script(struct callstacks *s, const struct script_frame *frames, size_t n);
/* For a stack that is to be shown: sets late names, and adds inlined calls, from the files' DWARF. Names and calls that
 * take too long while rings are read are missing: false, and the next call tries again. */
bool callstacks_expand(struct callstacks *s, struct callstack *stack);
/* At the end: sets all late names, and those of JIT code that were written after the first look-up. */
void callstacks_name_late(struct callstacks *s);
/* Iterates over all stacks: the one after `last`; the first one for NULL. */
struct callstack *callstacks_next(struct callstacks *s, const struct callstack *last);
size_t callstacks_count(const struct callstacks *s);
/* The number of samples whose chain is incomplete in user space: one frame only, or the last one where
 * nothing is mapped. *all: samples with a part in user space. */
uint64_t callstacks_cut(const struct callstacks *s, uint64_t *all);
/* To be called between two intervals. Above max_bytes, stacks are dropped: first those that were not in
 * the last interval, then, if more than half of max_bytes is left, all. keep() (may be NULL) calls
 * callstacks_keep() for each stack that the caller still uses; these are not dropped. */
void callstacks_rest(struct callstacks *s, void (*keep)(void *ctx), void *ctx);
void callstacks_keep(struct callstack *stack);
/* Bytes of stacks, frames and their names. */
size_t callstacks_bytes(const struct callstacks *s);
/* The number of stacks, frames and names that there was no memory for. */
uint64_t callstacks_refused(const struct callstacks *s);
#endif
