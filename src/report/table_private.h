/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by table.c and the renderings. */
#ifndef REPORT_TABLE_PRIVATE_H
#define REPORT_TABLE_PRIVATE_H

#include "report/table.h"

enum table_cell_type { CELL_NONE, CELL_TEXT, CELL_INTEGER, CELL_UNSIGNED, CELL_NUMBER };

struct table_cell {
	enum table_cell_type type;
	union {
		size_t text;             /* offset in the table's text; escaped */
		int64_t integer;
		uint64_t natural;
		double number;
	};
};

struct table_row {
	size_t first;                    /* index of its first cell */
	size_t rank;                     /* position before the sort */
	bool marked;
	const char *part;                /* key of the part in the row above; NULL: a row of its own */
	bool wanted;                     /* selected by the style for printing */
};
#endif
