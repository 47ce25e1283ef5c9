/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of debug data, for the process that parses it. They are valid as long as the file is open. */
#ifndef SYMBOLS_DWARF_TEXT_H
#define SYMBOLS_DWARF_TEXT_H

#include <elfutils/libdw.h>

/* NULL: not a string, or it lies outside of its section. */
const char *die_text(Dwarf_Attribute *attr);
/* Its DW_AT_name, or that of what it is an instance of. NULL: none. */
const char *die_name(Dwarf_Die *die);
#endif
