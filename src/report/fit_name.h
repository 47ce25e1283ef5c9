/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, as demanglers, compilers and JITs write them. */
#ifndef REPORT_FIT_NAME_H
#define REPORT_FIT_NAME_H

#include <stddef.h>

/* Shortens it in place; the function itself stays, even if it is too long. Each "…" adds at most a byte. */
void fit_name_body(char *name, size_t columns);
/* The length of the symbol with which the text begins, if it is what stands behind "operator": "()", "<<"; 0: there is none. */
size_t fit_name_operator(const char *text);
#endif
