/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/parser_kinds.h"

#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/frameptr.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/dwarf/params.h"
#include "symbols/elf/demangle.h"
#include "symbols/elf/disasm.h"
#include "symbols/elf/places.h"
#include "symbols/elf/symsource.h"
#include "symbols/jit/perfmap.h"

static const struct parser_row rows[PARSER_KINDS] = {
	[PARSER_SYMBOLS] = { symsource_answer, NULL },
	[PARSER_DEMANGLE] = { demangle_answer, NULL },
	[PARSER_CFI] = { cfi_answer, cfi_forget },
	[PARSER_PERF_MAP] = { perfmap_answer, NULL },
	[PARSER_PLACES] = { places_answer, NULL },
	[PARSER_PARAMS] = { params_answer, NULL },
	[PARSER_FRAMEPTR] = { frameptr_answer, NULL },
	[PARSER_CODE] = { disasm_answer, NULL },
	[PARSER_INLINES] = { inlines_answer, inlines_forget },
};

struct parser *parser_new_all(const struct parser_opts *opts)
{
	struct parser_opts all = *opts;

	all.rows = rows;
	return parser_new(&all);
}
