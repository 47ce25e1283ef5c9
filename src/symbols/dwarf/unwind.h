/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers of a user function by what a sample has of its thread: registers and the top of
 * the stack (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER), and by the CFI of the files that
 * are mapped. x86-64 and arm64, each on its own machine. Nothing but the sample's bytes is
 * read, never another process. Where there is no CFI, the frame pointer is tried.
 */
#ifndef SYMBOLS_DWARF_UNWIND_H
#define SYMBOLS_DWARF_UNWIND_H

#include "symbols/dwarf/cfi.h"

enum unwind_machine { UNWIND_X86_64, UNWIND_ARM64 };

#if defined(__aarch64__)
#define UNWIND_HERE UNWIND_ARM64
#else
#define UNWIND_HERE UNWIND_X86_64
#endif

struct unwind_sample {
	enum unwind_machine machine;
	uint64_t mask;           /* sample_regs_user: which registers there are, by perf's numbers */
	const uint64_t *regs;    /* one per bit of mask, lowest first; of 64 bits */
	const void *stack;       /* copied from the stack pointer on */
	size_t stack_size;       /* what was copied (dyn_size) */
};

/* Why a walk ended. */
enum unwind_end {
	UNWIND_OUTERMOST,        /* no caller is found, or max */
	UNWIND_BEHIND,           /* the caller's place lies on the stack behind what was copied; a register that was */
	UNWIND_SURELY_BEHIND,    /* taken for a frame pointer led there, or rules alone did */
};

/* Whether there is code at an address (else it is no caller's), and how to come from there to
 * the caller, or NULL: then the frame pointer is tried. Asked once a frame; the rule lives
 * until the next question. */
typedef bool unwind_code(void *ctx, uint64_t addr, const struct cfi_rule **rule);

/* User addresses as a chain of frame pointers has them: where the thread was, then where each
 * call returns to. At most max; 0 if the registers that are needed are not there. *end (may be NULL): why. */
size_t unwind(const struct unwind_sample *s, unwind_code *code, void *ctx, uint64_t *ips, size_t max,
	      enum unwind_end *end);
#endif
