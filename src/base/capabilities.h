/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities of this process. The program's file may have CAP_PERFMON, so that some users can watch the machine.
 * Any other capability of the file is dropped at the start, and setuid is refused: every option that names a file
 * would give access as root.
 */
#ifndef BASE_CAPABILITIES_H
#define BASE_CAPABILITIES_H

#include "base/fault.h"

#include <stdbool.h>
#include <stdint.h>

/* Call at the start of main(): drops the capabilities of the program's file other than CAP_PERFMON. 0, or -1 with f:
 * then do nothing. */
int capabilities_trim(struct fault *f);
/* Whether the program's file gave this process more privilege than its user has (AT_SECURE, getauxval(3)). */
bool capabilities_of_file(void);
/* Whether environment variables may name code to run: not as root, nor if the program's file gave privilege. */
bool capabilities_trust_environment(void);
/* The effective capabilities, a bit for each. */
uint64_t capabilities_effective(void);
/* Drops all capabilities, including the ambient ones. 0, or -1 with errno. */
int capabilities_drop(void);

#endif
