/* SPDX-License-Identifier: Apache-2.0 */
/* A table as CSV: the columns and values of its JSON. */
#include "report/table_private.h"

#include <errno.h>

static void put_cell(const struct table *t, const struct table_cell *cell, struct csv_form form, FILE *out)
{
	if (cell->type == CELL_TEXT)
		csv_text(t->text + cell->text, form, out);
	else if (cell->type == CELL_INTEGER)
		fprintf(out, "%lld", (long long)cell->integer);
	else if (cell->type == CELL_UNSIGNED)
		fprintf(out, "%llu", (unsigned long long)cell->natural);
	else if (cell->type == CELL_NUMBER)
		fprintf(out, "%.15g", cell->number);
}

/* first: whether it is the first cell of its line; then it is not any more. */
static void separate(bool *first, char separator, FILE *out)
{
	if (!*first)
		fputc(separator, out);
	*first = false;
}

static void put_titles(const struct table *t, bool timed, char separator, FILE *out)
{
	bool first = !timed;

	if (timed)
		fputs("time", out);
	for (size_t i = 0; i < t->ncolumns; i++)
		if (t->columns[i].where != TABLE_ONLY_TEXT) {
			separate(&first, separator, out);
			fputs(t->columns[i].name, out);
		}
	fputc('\n', out);
}

int table_csv(const struct table *t, const char *time, bool titles, struct csv_form form, FILE *out)
{
	if (titles)
		put_titles(t, time, form.separator, out);
	for (size_t r = 0; r < t->nrows; r++) {
		bool first = !time;

		csv_text(time, form, out);
		for (size_t i = 0; i < t->ncolumns; i++)
			if (t->columns[i].where != TABLE_ONLY_TEXT) {
				separate(&first, form.separator, out);
				put_cell(t, &t->cells[t->rows[r].first + i], form, out);
			}
		fputc('\n', out);
	}
	return t->lost ? -ENOMEM : 0;
}
