/* SPDX-License-Identifier: Apache-2.0 */
/* What a user whom the kernel refuses an event may look at instead. */
#ifndef BASE_UNPRIVILEGED_H
#define BASE_UNPRIVILEGED_H

#include "base/fault.h"

/* If a tracepoint or probe was refused: adds to f what still works without privilege. */
void unprivileged_advise(const char *command, struct fault *f);
#endif
