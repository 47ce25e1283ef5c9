/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes text for files in other languages: names of symbols and tasks must never become markup. */
#ifndef REPORT_QUOTE_H
#define REPORT_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

/* Content of an XML or HTML element or attribute, from n bytes of UTF-8. Control characters and
 * characters forbidden in XML become '?'. */
void quote_xml(const char *text, size_t n, FILE *out);
/* A JSON string with its quotes that is also safe within <script>: '<', '>', '&' and the line
 * ends U+2028 and U+2029 are written as \uNNNN. */
void quote_json(const char *text, FILE *out);
/* Whether a spreadsheet would treat a cell with that text as a formula. Then an apostrophe before it
 * makes it text (OWASP, CSV injection). Tabs and newlines are escaped, so they cannot begin a cell. */
bool quote_is_formula(const char *text, size_t n);
#endif
