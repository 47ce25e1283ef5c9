/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a parser: one row per kind. */
#include "symbols/cfi.h"
#include "symbols/demangle.h"
#include "symbols/inlines.h"
#include "symbols/perfmap.h"
#include "symbols/symsource.h"

const struct parser_row parser_rows[PARSER_KINDS] = {
	[PARSER_SYMBOLS] = { symsource_answer, NULL },
	[PARSER_DEMANGLE] = { demangle_answer, NULL },
	[PARSER_CFI] = { cfi_answer, cfi_forget },
	[PARSER_PERF_MAP] = { perfmap_answer, NULL },
	[PARSER_INLINES] = { inlines_answer, inlines_forget },
};
