/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process may do beyond what its user may. The program may be installed with CAP_PERFMON, so that
 * some users can watch the machine; any other capability of the file is given back at the start, and
 * setuid is refused: every option that names a file would be a way to root.
 */
#ifndef BASE_CAPABILITIES_H
#define BASE_CAPABILITIES_H

#include "base/fault.h"

#include <stdbool.h>

/* At the start of main(): gives back what the program's file should not have given. 0, or -1 with f:
 * then nothing may be done. */
int capabilities_trim(struct fault *f);
/* Whether the program's file gave more than who runs it has (AT_SECURE, getauxval(3)). */
bool capabilities_of_file(void);
/* Whether the environment may name code that is run: never as root, nor where the file gave privilege. */
bool capabilities_trust_environment(void);
/* Gives back all of them, the ambient ones too. 0, or -1 with errno. */
int capabilities_drop(void);

#endif
