/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the reasons for which a virtual CPU leaves its guest, as the kernel has them. */
#ifndef ENGINE_EXITNAMES_H
#define ENGINE_EXITNAMES_H

#include <stddef.h>
#include <stdint.h>

/* The reason's name on a CPU of this machine's kind (VMX, SVM; on arm64 that of `ret`),
 * "reason 999" where it has none. Returns it or buf. */
const char *exit_reason_name(uint64_t code, char *buf, size_t size);
#endif
