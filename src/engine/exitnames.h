/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's names for the exit reasons of a virtual CPU. */
#ifndef ENGINE_EXITNAMES_H
#define ENGINE_EXITNAMES_H

#include <stddef.h>
#include <stdint.h>

/* The reason's name on this machine's CPU (VMX, SVM; on arm64 for the field `ret`), or "reason 999".
 * Returns a static string or buf. */
const char *exit_reason_name(uint64_t code, char *buf, size_t size);
#endif
