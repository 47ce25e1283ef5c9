/* SPDX-License-Identifier: Apache-2.0 */
/* Room for open files (RLIMIT_NOFILE): an event on one task on one CPU is one. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Makes sure that n more files can be opened: raises the soft limit, and the hard one where
 * the kernel lets us (CAP_SYS_RESOURCE), by no more than it takes. False where that many
 * can't be had; then the soft limit is as high as it goes. */
bool descriptors_reserve(size_t n);
/* Closes all but these two, which may be one. */
void descriptors_close_but(int one, int two);
/* The limit and what to do, for a message that begins with what needs them. */
const char *descriptors_remedy(char *buf, size_t size);
/* What may follow strerror(code) in a message: the remedy after "; ", or nothing where code
 * isn't about descriptors. */
const char *descriptors_hint(int code, char *buf, size_t size);
#endif
