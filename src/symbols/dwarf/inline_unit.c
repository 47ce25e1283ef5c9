/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the entries of a unit in place and uses those of functions. A function with code becomes
 * a node, its ranges become spans. A function inlined into it is deeper in the tree, so its spans
 * take precedence where both have code.
 */
#include "symbols/dwarf/inline_private.h"

#include "base/now.h"
#include "base/room.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_DEPTH = 1024, STEPS_PER_LOOK = 1 << 14 };

/* ---- time ------------------------------------------------------------------- */

int inline_work_(struct inline_maker *m, unsigned int steps)
{
	uint64_t before = m->work;

	m->work += steps;
	return before / STEPS_PER_LOOK != m->work / STEPS_PER_LOOK && now_ns(CLOCK_MONOTONIC) > m->deadline ? -ETIME : 0;
}

/* ---- functions -------------------------------------------------------------- */

static int add_node(struct inline_maker *m, const struct inline_node *node)
{
	if (m->nnodes == MAX_NODES)
		return -E2BIG;
	if (!ROOM_FOR(m->nodes, m->nodes_cap, m->nnodes, 1))
		return -ENOMEM;
	m->nodes[m->nnodes++] = *node;
	return 0;
}

static int add_range(struct inline_maker *m, uint64_t start, uint64_t end, uint32_t depth)
{
	if (++m->nranges > MAX_RANGES)
		return -E2BIG;
	if (!dwarf_file_clip(m->file, start, &end))
		return 0;
	return spans_add(&m->spans, start, end, (uint32_t)m->nnodes, depth);
}

static int add_list(struct inline_maker *m, const uint8_t *at, uint32_t depth)
{
	Dwarf_Die die = { .addr = (void *)(uintptr_t)at, .cu = m->unit.die.cu };
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	int rc = 0;

	while (!rc && (next = dwarf_ranges(&die, next, &base, &start, &end)) > 0) {
		rc = inline_work_(m, 1);
		if (!rc)
			rc = add_range(m, start, end, depth);
	}
	return rc;
}

/* DW_AT_high_pc is an address or a size. */
static bool high_pc(const struct die *d, Dwarf_Attribute *attr, uint64_t low, uint64_t *high)
{
	Dwarf_Word size;

	if (!dwarf_formaddr(attr, high))
		return true;
	if (attr->form == DW_FORM_implicit_const)
		size = (uint64_t)d->constants[DIE_HIGH_PC];
	else if (dwarf_formudata(attr, &size))
		return false;
	*high = low + size;
	return *high >= low;
}

static int add_ranges(struct inline_maker *m, struct die *d, const uint8_t *at, uint32_t depth)
{
	Dwarf_Attribute *low = &d->parts[DIE_LOW_PC], *high = &d->parts[DIE_HIGH_PC];
	uint64_t start, end;

	if (d->parts[DIE_RANGES].valp)
		return add_list(m, at, depth);
	if (!low->valp || !high->valp)
		return 0;
	low->cu = high->cu = m->unit.die.cu;
	if (dwarf_formaddr(low, &start) || !high_pc(d, high, start, &end))
		return 0;
	return add_range(m, start, end, depth);
}

static uint64_t number(struct inline_maker *m, struct die *d, enum die_part part)
{
	Dwarf_Attribute *attr = &d->parts[part];
	Dwarf_Word value;

	if (!attr->valp)
		return 0;
	if (attr->form == DW_FORM_implicit_const)
		return (uint64_t)d->constants[part];
	attr->cu = m->unit.die.cu;
	return dwarf_formudata(attr, &value) ? 0 : value;
}

/* *node: the enclosing node; set to the node that encloses the children: the new one, if it has code. */
static int add_function(struct inline_maker *m, struct die *d, const uint8_t *at, bool inlined,
			uint32_t depth, uint32_t *node)
{
	struct inline_node n = { .parent = inlined ? *node : 0 };
	size_t before = m->spans.n;
	uint64_t line;
	int rc = add_ranges(m, d, at, depth);

	if (!inlined)
		*node = 0;
	if (rc || m->spans.n == before)
		return rc;
	rc = inline_name_(m, d, at, &n.name);
	if (!rc && n.parent && d->parts[DIE_CALL_FILE].valp)
		rc = inline_file_name_(m, number(m, d, DIE_CALL_FILE), &n.call_file);
	line = number(m, d, DIE_CALL_LINE);
	n.call_line = n.parent && line <= UINT32_MAX ? (uint32_t)line : 0;
	*node = (uint32_t)m->nnodes;
	return rc ? rc : add_node(m, &n);
}

/* ---- the walk --------------------------------------------------------------- */

struct walk {
	const uint8_t *p;
	uint32_t depth;
	uint32_t nodes[MAX_DEPTH + 1];   /* by depth: the enclosing function */
	uint32_t scopes[MAX_DEPTH + 1];  /* by depth: the enclosing scope */
};

/* At the end of an entry with entries in it. */
static void leave(struct inline_maker *m, struct walk *w)
{
	if (!w->depth)
		return;
	if (w->scopes[w->depth] != w->scopes[w->depth - 1])
		m->scopes[w->scopes[w->depth]].end = w->p;
	w->depth--;
}

/* Takes one entry and moves w to the next; false at the end, or at damaged data. */
static bool step(struct inline_maker *m, struct walk *w, int *rc)
{
	const uint8_t *at = w->p, *end = m->unit.end;
	const struct abbrev *b;
	uint32_t node = w->nodes[w->depth];
	unsigned int tag;
	uint64_t code;

	if (!read_leb(&w->p, end, &code))
		return false;
	if (!code) {
		leave(m, w);
		return w->depth > 0;
	}
	b = abbrevs_find(m->abbrevs, code);
	if (!b)
		return false;
	tag = abbrev_tag(b);
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		struct die d = { 0 };

		w->p = abbrev_walk(m->abbrevs, b, w->p, end, &d);
		if (w->p)
			*rc = add_function(m, &d, at, tag == DW_TAG_inlined_subroutine, w->depth, &node);
	} else {
		w->p = abbrev_walk(m->abbrevs, b, w->p, end, NULL);
	}
	if (!w->p || *rc)
		return false;
	if (!abbrev_has_children(b))
		return w->depth;
	w->nodes[w->depth + 1] = node;
	w->scopes[w->depth + 1] = w->scopes[w->depth];
	w->depth++;
	*rc = inline_open_scope_(m, tag, at, &w->scopes[w->depth]);
	return !*rc && w->depth < MAX_DEPTH;
}

static int walk(struct inline_maker *m)
{
	struct walk w = { .p = m->unit.begin };
	int rc = 0;

	while (!rc && step(m, &w, &rc))
		rc = inline_work_(m, 1);
	return rc;
}

/* ---- packing ---------------------------------------------------------------- */

/* Limits a table to 4 GiB from its first address: no unit is larger. */
static size_t within(uint64_t base, uint64_t addr)
{
	return addr - base <= UINT32_MAX;
}

static uint32_t put_addresses(struct parser_bytes *out, uint64_t base, const void *first, size_t n,
			      size_t stride, int *rc)
{
	uint32_t count = 0;

	for (size_t i = 0; i < n && !*rc; i++) {
		uint64_t addr;
		uint32_t at;

		memcpy(&addr, (const char *)first + i * stride, sizeof(addr));
		if (!within(base, addr))
			break;
		at = (uint32_t)(addr - base);
		*rc = parser_put(out, &at, sizeof(at));
		count++;
	}
	return count;
}

static int put_all(struct inline_maker *m, const struct flat_span *flat, size_t nflat,
		   struct parser_bytes *out)
{
	struct inline_head head = { .base = nflat ? flat->start : UINT64_MAX };
	size_t at = out->size;
	int rc;

	if (m->nrows && m->rows->addr < head.base)
		head.base = m->rows->addr;
	rc = parser_put(out, &head, sizeof(head));
	head.nspans = put_addresses(out, head.base, flat, nflat, sizeof(*flat), &rc);
	for (uint32_t i = 0; i < head.nspans && !rc; i++)
		rc = parser_put(out, &flat[i].value, sizeof(flat[i].value));
	head.nnodes = (uint32_t)m->nnodes;
	if (!rc)
		rc = parser_put(out, m->nodes, m->nnodes * sizeof(*m->nodes));
	head.nrows = put_addresses(out, head.base, m->rows, m->nrows, sizeof(*m->rows), &rc);
	for (uint32_t i = 0; i < head.nrows && !rc; i++)
		rc = parser_put(out, &m->rows[i].row, sizeof(m->rows[i].row));
	head.nstrings = (uint32_t)m->strings.text.size;
	if (!rc)
		rc = parser_put(out, m->strings.text.data, m->strings.text.size);
	if (!rc)
		memcpy((char *)out->data + at, &head, sizeof(head));
	return rc;
}

static int pack(struct inline_maker *m, struct parser_bytes *out)
{
	size_t nflat;
	struct flat_span *flat = spans_flatten(&m->spans, &nflat);
	int rc = flat ? put_all(m, flat, nflat, out) : -ENOMEM;

	free(flat);
	return rc;
}

static int make(struct inline_maker *m, struct parser_bytes *out)
{
	int rc = add_node(m, &(struct inline_node){ 0 });

	if (!rc)
		rc = strings_alias(&m->strings, m, 0);   /* strings begin with an empty one */
	if (!rc)
		rc = inline_read_lines_(m);
	if (!rc)
		rc = inline_begin_scopes_(m);
	if (!rc)
		rc = walk(m);
	if (!rc)
		rc = inline_name_scopes_(m);
	return rc ? rc : pack(m, out);
}

int inline_unit_pack(struct dwarf_file *f, size_t unit, struct parser_bytes *out)
{
	struct inline_maker m = { .file = f, .deadline = now_ns(CLOCK_MONOTONIC) + UNIT_SECONDS * UINT64_C(1000000000) };
	int rc;

	if (!dwarf_file_unit(f, unit, &m.unit))
		return -ENOEXEC;
	m.abbrevs = dwarf_file_abbrevs(f, &m.unit);
	if (!m.abbrevs)
		return -errno;
	rc = make(&m, out);
	strings_free(&m.strings);
	spans_free(&m.spans);
	free(m.nodes);
	free(m.scopes);
	free(m.unscoped);
	free(m.rows);
	return rc;
}
