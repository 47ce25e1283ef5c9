/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens names of functions and paths to the columns that a terminal has for them. What tells functions apart goes last:
 *
 *	shop::Cart<std::pair<int, long>>::add(Item const&)
 *	shop::Cart<std::pair<…>>::add(Item const&)          template arguments, the innermost first
 *	shop::Cart<…>::add(…)                               then lists of arguments
 *	…::Cart<…>::add(…)                                  then what is in front, but never the function itself
 *
 *	/usr/lib/x86_64-linux-gnu/libc.so.6
 *	…/libc.so.6
 */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include <stddef.h>

enum fit { FIT_END, FIT_NAME, FIT_PATH };       /* FIT_END: only the end is cut off */
enum { FIT_MAX = 4608 };                        /* bytes of a result, with its NUL */

/* The text in at most `columns` (1 or more) columns: itself if it fits, else in buf. It is UTF-8, escaped for a terminal.
 * Spaces in front, and remarks such as " (inlined)" at the end, stay. */
const char *fit_text(enum fit how, const char *text, size_t columns, char buf[FIT_MAX]);
/* The columns of a path that lost all its folders. */
size_t fit_path_least(const char *path);
/* The length of the symbol with which the text begins, if it is what stands behind "operator": "()", "<<"; 0: there is none. */
size_t fit_name_operator(const char *text);
#endif
