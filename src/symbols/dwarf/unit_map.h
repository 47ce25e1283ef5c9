/* SPDX-License-Identifier: Apache-2.0 */
/* Which compile unit of a file has an address. */
#ifndef SYMBOLS_DWARF_UNIT_MAP_H
#define SYMBOLS_DWARF_UNIT_MAP_H

#include "symbols/jail/parser.h"

#define NO_UNIT UINT32_MAX

struct unit_map;
struct dwarf_file;

/* As a packed map begins; then addresses, relative to the base, from which on a unit holds,
 * and these units, plus 1. */
struct unit_map_head {
	uint64_t base;
	uint32_t nspans, nunits;
};

/* From what the units say of themselves or else from .debug_aranges; of two for an address
 * the first one. 0 or -ENOMEM. */
int unit_map_pack(struct dwarf_file *f, struct parser_bytes *out);
/* NULL for bytes that are none, or without memory. */
struct unit_map *unit_map_unpack(const void *bytes, size_t size);
void unit_map_free(struct unit_map *m);
size_t unit_map_bytes(const struct unit_map *m);
uint32_t unit_map_units(const struct unit_map *m);
/* Below unit_map_units(), or NO_UNIT. */
uint32_t unit_map_find(const struct unit_map *m, uint64_t addr);
#endif
