/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/file.h"
#include "symbols/dwarf/spans.h"
#include "symbols/dwarf/unit_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 1 << 22 };

struct maker {
	struct dwarf_file *file;
	struct spans spans;
	uint8_t *covered;        /* by unit: its own ranges were added */
	size_t nranges;
};

static int add(struct maker *m, uint64_t start, uint64_t end, size_t unit)
{
	if (++m->nranges > MAX_RANGES || !dwarf_file_clip(m->file, start, &end))
		return 0;
	m->covered[unit] = 1;
	return spans_add(&m->spans, start, end, (uint32_t)unit + 1, 0);
}

static int add_unit(struct maker *m, size_t i)
{
	Dwarf_Addr base, start, end;
	struct dwarf_unit unit;
	ptrdiff_t next = 0;
	int rc = 0;

	if (!dwarf_file_unit(m->file, i, &unit))
		return 0;
	while (!rc && m->nranges <= MAX_RANGES &&
	       (next = dwarf_ranges(&unit.die, next, &base, &start, &end)) > 0)
		rc = add(m, start, end, i);
	return rc;
}

static int add_aranges(struct maker *m)
{
	Dwarf_Aranges *ranges;
	Dwarf_Addr start;
	Dwarf_Word len;
	Dwarf_Off offset;
	size_t n, unit;
	int rc = 0;

	if (dwarf_file_aranges(m->file, &ranges, &n))
		return 0;
	for (size_t i = 0; !rc && i < n; i++) {
		if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), &start, &len, &offset) ||
		    !dwarf_file_unit_at(m->file, offset, &unit) || m->covered[unit] == 1)
			continue;
		rc = add(m, start, start + len, unit);
		m->covered[unit] = 2;
	}
	return rc;
}

/* Ranges more than 4 GiB after the first code are left out: no file is that large. */
static int put_all(struct maker *m, struct parser_bytes *out)
{
	struct unit_map_head head = { .nunits = (uint32_t)dwarf_file_units(m->file) };
	struct flat_span *flat;
	size_t n = 0, all;
	int rc;

	flat = spans_flatten(&m->spans, &all);
	if (!flat)
		return -ENOMEM;
	head.base = all ? flat->start : 0;
	while (n < all && flat[n].start - head.base <= UINT32_MAX)
		n++;
	head.nspans = (uint32_t)n;
	rc = parser_put(out, &head, sizeof(head));
	for (size_t i = 0; !rc && i < n; i++)
		rc = parser_put(out, &(uint32_t){ (uint32_t)(flat[i].start - head.base) }, 4);
	for (size_t i = 0; !rc && i < n; i++)
		rc = parser_put(out, &flat[i].value, sizeof(flat[i].value));
	free(flat);
	return rc;
}

int unit_map_pack(struct dwarf_file *f, struct parser_bytes *out)
{
	size_t n = dwarf_file_units(f);
	struct maker m = { .file = f, .covered = calloc(n + 1, 1) };
	int rc = m.covered ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		rc = add_unit(&m, i);
	if (!rc && memchr(m.covered, 0, n))
		rc = add_aranges(&m);
	if (!rc)
		rc = put_all(&m, out);
	spans_free(&m.spans);
	free(m.covered);
	return rc;
}
