/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of code that has no CFI, and whose callers are looked for all the same. */
#ifndef SYMBOLS_CFI_KNOWN_H
#define SYMBOLS_CFI_KNOWN_H

#include "symbols/cfi_table.h"

/* x86-64, behind the call: with -X perf CPython (3.12 and later) calls each Python function from
 * a piece of code of its own, "py::NAME:FILE" in the perf map: after endbr64 or nothing, four
 * bytes "sub $8,%rsp" or "push %rbp; mov %rsp,%rbp", and "call *%rcx" of two. Most interpreters
 * keep no frame pointer. */
extern const struct cfi_rule cfi_known_trampoline;
/* arm64: the vdso's __kernel_rt_sigreturn, to which a signal's handler returns. What was
 * interrupted is in the frame that the kernel put on the stack (struct rt_sigframe). */
extern const struct cfi_rule cfi_known_arm64_sigreturn;

#define CFI_KNOWN_ARM64_SIGRETURN "__kernel_rt_sigreturn"

/* Whether an address, so many bytes into a function of that name, is behind that call. */
bool cfi_known_is_trampoline(const char *name, uint64_t into);
#endif
