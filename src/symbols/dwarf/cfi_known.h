/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rules for known code without CFI. */
#ifndef SYMBOLS_DWARF_CFI_KNOWN_H
#define SYMBOLS_DWARF_CFI_KNOWN_H

#include "symbols/dwarf/cfi_table.h"

/* x86-64: with -X perf, CPython (3.12 and later) calls each Python function through a trampoline
 * of its own, "py::NAME:FILE" in the perf map. Most interpreters keep no frame pointer. */
bool cfi_known_is_trampoline(const char *name);
/* The rule at offset `into` of a trampoline of `size` bytes. For a size that no known CPython
 * has: only at the return address of its call, else NULL. */
const struct cfi_rule *cfi_known_trampoline(uint64_t into, uint64_t size);
/* Size of the largest known trampoline. */
enum { CFI_KNOWN_TRAMPOLINE = 15 };
/* arm64: the vdso's __kernel_rt_sigreturn, to which signal handlers return. The interrupted
 * registers are in the frame that the kernel put on the stack (struct rt_sigframe). */
extern const struct cfi_rule cfi_known_arm64_sigreturn;

#define CFI_KNOWN_ARM64_SIGRETURN "__kernel_rt_sigreturn"
#endif
