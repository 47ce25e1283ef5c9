/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a source file that a program's debug information names. */
#ifndef REPORT_SOURCEFILE_H
#define REPORT_SOURCEFILE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct sourcefile;

/* The file is opened with the rights of the user who ran sudo. If root itself runs perf-prof: with the rights of `owner`,
 * to whom the program belongs, since anybody's program can name any file. Regular files by absolute paths, up to 16 MiB.
 * NULL with errno. */
struct sourcefile *sourcefile_read(const char *path, uid_t owner);
void sourcefile_free(struct sourcefile *s);
size_t sourcefile_lines(const struct sourcefile *s);
struct timespec sourcefile_written(const struct sourcefile *s);
/* Line n, from 1, with spaces for tabs; "" if there is none. Valid until the next call. */
const char *sourcefile_line(struct sourcefile *s, size_t n);
#endif
