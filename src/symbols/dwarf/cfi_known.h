/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of code that has no CFI, and whose callers are looked for all the same. */
#ifndef SYMBOLS_DWARF_CFI_KNOWN_H
#define SYMBOLS_DWARF_CFI_KNOWN_H

#include "symbols/dwarf/cfi_table.h"

/* x86-64: with -X perf CPython (3.12 and later) calls each Python function from a piece of code of
 * its own, "py::NAME:FILE" in the perf map. Most interpreters keep no frame pointer. */
bool cfi_known_is_trampoline(const char *name);
/* The rule so many bytes into one of that size; into the call if it is where that returns to. Of a
 * size that is not known of any CPython only that has one, else NULL. */
const struct cfi_rule *cfi_known_trampoline(uint64_t into, uint64_t size);
/* No trampoline that is known has more bytes. */
enum { CFI_KNOWN_TRAMPOLINE = 15 };
/* arm64: the vdso's __kernel_rt_sigreturn, to which a signal's handler returns. What was
 * interrupted is in the frame that the kernel put on the stack (struct rt_sigframe). */
extern const struct cfi_rule cfi_known_arm64_sigreturn;

#define CFI_KNOWN_ARM64_SIGRETURN "__kernel_rt_sigreturn"
#endif
