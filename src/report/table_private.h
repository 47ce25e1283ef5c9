/* SPDX-License-Identifier: Apache-2.0 */
/* What table.c shares with the renderings. */
#ifndef REPORT_TABLE_PRIVATE_H
#define REPORT_TABLE_PRIVATE_H

#include "report/table.h"

enum table_cell_type { CELL_NONE, CELL_TEXT, CELL_INTEGER, CELL_UNSIGNED, CELL_NUMBER };

struct table_cell {
	enum table_cell_type type;
	union {
		size_t text;             /* where in the table's text; escaped */
		int64_t integer;
		uint64_t natural;
		double number;
	};
};

struct table_row {
	size_t first;                    /* of its cells */
	size_t rank;                     /* before the sort */
	bool marked;
	const char *part;                /* the key of what it is of the row above; NULL: a row of its own */
	bool wanted;                     /* by the style it is printed in */
};
#endif
