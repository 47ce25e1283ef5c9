/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User call chains from the registers and the top of the stack in a sample
 * (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER) and the CFI of the mapped files. x86-64 (32-bit
 * programs, too) and arm64, each on its own machine. Only the sample's bytes are read, never another process.
 * Without CFI, the frame pointer is used.
 */
#ifndef SYMBOLS_DWARF_UNWIND_H
#define SYMBOLS_DWARF_UNWIND_H

#include "symbols/dwarf/cfi.h"

enum unwind_machine { UNWIND_NONE, UNWIND_X86_64, UNWIND_I386, UNWIND_ARM64 };

#if defined(__aarch64__)
#define UNWIND_HERE UNWIND_ARM64
#define UNWIND_HERE_32 UNWIND_NONE
#else
#define UNWIND_HERE UNWIND_X86_64
#define UNWIND_HERE_32 UNWIND_I386
#endif

struct unwind_sample {
	enum unwind_machine machine;
	uint64_t mask;           /* sample_regs_user: registers in the sample, by perf's numbers */
	const uint64_t *regs;    /* one 64-bit value per bit of mask, lowest first */
	const void *stack;       /* copied from the stack pointer upwards */
	size_t stack_size;       /* bytes copied (dyn_size) */
};

/* Why a walk ended. */
enum unwind_end {
	UNWIND_OUTERMOST,        /* no caller found, or max reached */
	UNWIND_BEHIND,           /* the return address lies beyond the copied stack */
	UNWIND_SURELY_BEHIND,    /* the same, and only CFI rules were used, no frame pointer */
};

/* Where it ended. */
struct unwind_last {
	enum unwind_end end;
	bool has_fp;
	uint64_t fp;             /* the frame pointer in the last frame */
};

/* Whether there is code at an address (else it is not a caller), and the unwind rule there, or NULL:
 * then the frame pointer is used. Called once per frame; the rule is valid until the next call. */
typedef bool unwind_code(void *ctx, uint64_t addr, const struct cfi_rule **rule);

/* User addresses as in a chain of frame pointers: the IP, then the return addresses. PERF_CONTEXT_USER stands before others that
 * are no return addresses: what a signal interrupted, and the code to which its handler returns. At most max words;
 * 0 if needed registers are missing. last may be NULL. */
size_t unwind(const struct unwind_sample *s, unwind_code *code, void *ctx, uint64_t *ips, size_t max,
	      struct unwind_last *last);
/* The return address to which the sample's own frame pointer leads. False: it is not in the copied stack. */
bool unwind_frame_return(const struct unwind_sample *s, uint64_t *ret);
/* How many frames a walk by frame pointers alone, from the same sample, has gone when its frame pointer is `fp`. False: it never
 * is, within the copied stack. */
bool unwind_hops(const struct unwind_sample *s, uint64_t fp, size_t *hops);
#endif
