/* SPDX-License-Identifier: Apache-2.0 */
/* One compile unit made into a table of its functions, inlined ones and lines. */
#ifndef SYMBOLS_DWARF_INLINE_UNIT_H
#define SYMBOLS_DWARF_INLINE_UNIT_H

#include "symbols/dwarf/file.h"
#include "symbols/dwarf/inline_table.h"

/* Appends the table, as inline_table_unpack() takes it. 0; -ENOEXEC: the unit can't be read;
 * -E2BIG: it would be too large; -ETIME: it takes too long; -ENOMEM. What is damaged in a
 * unit ends it: what stood before is in the table. */
int inline_unit_pack(struct dwarf_file *f, size_t unit, struct parser_bytes *out);
#endif
