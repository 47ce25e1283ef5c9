/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of a script, which names the program that runs it. */
#ifndef TASKS_SHEBANG_H
#define TASKS_SHEBANG_H

#include <stdbool.h>
#include <stddef.h>

/* So many interpreters of interpreters are followed. */
enum { SHEBANG_MOST = 4 };

/* The program that runs the script: "#!/usr/bin/env python3" is python3. False: it is no script. */
bool shebang_read(int fd, char *name, size_t size);
#endif
