/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command as a shell reads them. */
#ifndef BASE_SHELLWORDS_H
#define BASE_SHELLWORDS_H

#include <stdio.h>

/* A word, in quotes if a shell would change it. */
void shellwords_put(const char *word, FILE *out);
/* All words of a list that ends with NULL, to be freed; NULL: out of memory. */
char *shellwords(char *const *argv);
#endif
