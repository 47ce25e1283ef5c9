/* SPDX-License-Identifier: Apache-2.0 */
#include "report/csv.h"

#include "base/escape.h"
#include "report/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quoted where a separator or a quote is in it. */
static void put_quoted(const char *text, struct csv_form form, FILE *out)
{
	const char special[] = { form.separator, '"', '\0' };
	const char *mark = form.safe && quote_is_formula(text, strlen(text)) ? "'" : "";

	if (!strpbrk(text, special)) {
		fprintf(out, "%s%s", mark, text);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

void csv_text(const char *text, struct csv_form form, FILE *out)
{
	char *safe = text ? escape_whole(text) : NULL;

	if (safe)
		put_quoted(safe, form, out);
	free(safe);
}

void csv_number(bool there, double value, char separator, FILE *out)
{
	fputc(separator, out);
	if (there && !isinf(value) && !isnan(value))
		fprintf(out, "%.15g", value);
}

void csv_titles(const char *const *titles, char separator, FILE *out)
{
	for (size_t i = 0; titles[i]; i++)
		fprintf(out, "%s%.1s", titles[i], titles[i + 1] ? &separator : "\n");
}
