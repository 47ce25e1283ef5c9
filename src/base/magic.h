/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are recordings, by their first bytes. */
#ifndef BASE_MAGIC_H
#define BASE_MAGIC_H

#include <stdbool.h>

enum { MAGIC_SIZE = 7 };

/* Whether a file that begins with these bytes is a perf.data file. */
bool magic_is_recording(const char magic[MAGIC_SIZE]);
/* Whether there is such a file, and it is a perf.data file. */
bool magic_names_recording(const char *path);
#endif
