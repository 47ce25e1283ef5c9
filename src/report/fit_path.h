/* SPDX-License-Identifier: Apache-2.0 */
/* Paths lose folders from the left: "…/bin/app". */
#ifndef REPORT_FIT_PATH_H
#define REPORT_FIT_PATH_H

#include <stddef.h>

/* Shortens it in place; the file's name stays, even if it is too long. */
void fit_path_body(char *path, size_t columns);
/* The columns of a path that lost all its folders. */
size_t fit_path_least(const char *path);
#endif
