/* SPDX-License-Identifier: Apache-2.0 */
/* Text inside files of other languages: names of symbols and tasks must never become markup. */
#ifndef REPORT_QUOTE_H
#define REPORT_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

/* Content of an XML or HTML element or attribute, of n bytes of UTF-8. Control characters and
 * what XML forbids become '?'. */
void quote_xml(const char *text, size_t n, FILE *out);
/* A JSON string with its quotes that may also stand in a <script>: '<', '>', '&' and the line
 * ends U+2028 and U+2029 are written as \uNNNN. */
void quote_json(const char *text, FILE *out);
/* Whether a spreadsheet takes a cell with that text for a formula. An apostrophe before it says that it is text
 * (OWASP, CSV injection). Where a tab or the end of a line would begin a cell, an escape does. */
bool quote_is_formula(const char *text, size_t n);
#endif
