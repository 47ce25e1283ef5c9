/* SPDX-License-Identifier: Apache-2.0 */
/* Map from addresses in a file to compile units. */
#ifndef SYMBOLS_DWARF_UNIT_MAP_H
#define SYMBOLS_DWARF_UNIT_MAP_H

#include "symbols/jail/parser.h"

#define NO_UNIT UINT32_MAX

struct unit_map;
struct dwarf_file;

/* Head of a packed map. Then follow the start addresses, relative to the base, and the units that
 * begin there, plus 1. */
struct unit_map_head {
	uint64_t base;
	uint32_t nspans, nunits;
};

/* Builds it from the ranges of the units or else from .debug_aranges; if units overlap, the first
 * one counts. 0 or -ENOMEM. */
int unit_map_pack(struct dwarf_file *f, struct parser_bytes *out);
/* NULL for invalid bytes, or out of memory. */
struct unit_map *unit_map_unpack(const void *bytes, size_t size);
void unit_map_free(struct unit_map *m);
size_t unit_map_bytes(const struct unit_map *m);
uint32_t unit_map_units(const struct unit_map *m);
/* An index < unit_map_units(), or NO_UNIT. */
uint32_t unit_map_find(const struct unit_map *m, uint64_t addr);
#endif
