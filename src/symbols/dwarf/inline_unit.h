/* SPDX-License-Identifier: Apache-2.0 */
/* Converts one compile unit to a table of its functions, inlined calls and lines. */
#ifndef SYMBOLS_DWARF_INLINE_UNIT_H
#define SYMBOLS_DWARF_INLINE_UNIT_H

#include "symbols/dwarf/file.h"
#include "symbols/dwarf/inline_table.h"

/* Appends the table for inline_table_unpack(). 0; -ENOEXEC: the unit is not readable; -E2BIG: too
 * large; -ETIME: it takes too long; -ENOMEM. Damaged data ends a unit: the table has what came before. */
int inline_unit_pack(struct dwarf_file *f, size_t unit, struct parser_bytes *out);
#endif
