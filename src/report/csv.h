/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of CSV (RFC 4180), written one by one. */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

struct csv_form {
	char separator;
	bool safe;               /* for a spreadsheet: no text is a formula, quote_is_formula() */
};

/* Titles, NULL terminated, and the end of the line. */
void csv_titles(const char *const *titles, char separator, FILE *out);
/* Text, quoted where it must be, and escaped for a terminal, so that no line ends in it. NULL: nothing. */
void csv_text(const char *text, struct csv_form form, FILE *out);
/* A separator and a number; nothing behind the separator if there is none. */
void csv_number(bool there, double value, char separator, FILE *out);
#endif
