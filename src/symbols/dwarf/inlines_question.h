/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for PARSER_INLINES. Descriptors: the file and, optionally, dwz's file. */
#ifndef SYMBOLS_DWARF_INLINES_QUESTION_H
#define SYMBOLS_DWARF_INLINES_QUESTION_H

#include <stdint.h>

enum {
	INLINES_MAP = 1,         /* -> a struct debug_alt and, packed, a map of units */
	INLINES_UNIT,            /* -> a packed table */
};

struct inlines_question {
	uint32_t what, unit;
};
#endif
