/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/inline_private.h"

#include "base/room.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A relative name is relative to the folder in which the compiler ran. That one may be relative, too, if the compiler
 * replaced its beginning (-ffile-prefix-map): then the name stays as it is. Names longer than a path stay, too. */
static const char *whole_path(struct inline_maker *m, const char *name, char buf[PATH_MAX])
{
	Dwarf_Attribute attr;
	const char *folder = dwarf_attr(&m->unit.die, DW_AT_comp_dir, &attr) ? die_text(&attr) : NULL;
	const char *rest = name;
	int n;

	if (*name == '/' || !folder || *folder != '/')
		return name;
	while (rest[0] == '.' && rest[1] == '/')
		for (rest += 2; *rest == '/'; rest++)
			;
	n = snprintf(buf, PATH_MAX, "%s%s%s", folder, folder[1] ? "/" : "", rest);
	return n < PATH_MAX ? buf : name;
}

static int put_file(struct inline_maker *m, const char *name, uint32_t *at)
{
	char buf[PATH_MAX];

	*at = 0;
	if (!name || strings_find(&m->strings, name, at))
		return 0;
	return strings_put(&m->strings, name, whole_path(m, name, buf), at);
}

int inline_file_name_(struct inline_maker *m, uint64_t index, uint32_t *at)
{
	*at = 0;
	if (!m->files || index >= m->nfiles)
		return 0;
	return put_file(m, dwarf_filesrc(m->files, index, NULL, NULL), at);
}

/* A sequence ends with an empty row that repeats the previous one. If the next sequence begins at
 * the same address, libdw may sort that row after the next sequence's first one. */
static bool is_of_no_length(const struct inline_maker *m, uint64_t addr, struct inline_row row)
{
	const struct inline_address_row *last = m->nrows ? &m->rows[m->nrows - 1] : NULL;

	return m->ended.addr == addr && m->ended.row.line == row.line && m->ended.row.file == row.file &&
	       last && last->addr == addr && last->row.line;
}

static void end_sequence(struct inline_maker *m, uint64_t addr)
{
	if (m->nrows && m->rows[m->nrows - 1].addr != addr)
		m->ended = (struct inline_address_row){ addr, m->rows[m->nrows - 1].row };
}

/* Of several rows for an address the last one is used. */
static int add_row(struct inline_maker *m, uint64_t addr, struct inline_row row)
{
	struct inline_address_row *last = m->nrows ? &m->rows[m->nrows - 1] : NULL;

	if (last && last->addr == addr) {
		last->row = row;
		return 0;
	}
	if (last && last->row.file == row.file && last->row.line == row.line)
		return 0;
	if (m->nrows == MAX_ROWS_OF_UNIT)
		return -E2BIG;
	if (!ROOM_FOR(m->rows, m->rows_cap, m->nrows, 1))
		return -ENOMEM;
	m->rows[m->nrows++] = (struct inline_address_row){ addr, row };
	return 0;
}

static int read_row(struct inline_maker *m, Dwarf_Line *line)
{
	struct inline_row row = { 0 };
	Dwarf_Addr addr;
	int number, rc;
	bool end;

	if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end))
		return 0;
	if (!dwarf_file_is_code(m->file, end ? addr - 1 : addr))
		return 0;
	if (end)
		end_sequence(m, addr);
	if (end || dwarf_lineno(line, &number) || number < 0)
		return add_row(m, addr, row);
	rc = put_file(m, dwarf_linesrc(line, NULL, NULL), &row.file);
	row.line = (uint32_t)number;
	return rc || is_of_no_length(m, addr, row) ? rc : add_row(m, addr, row);
}

/* libdw returns rows by ascending address, ends of sequences first. */
int inline_read_lines_(struct inline_maker *m)
{
	Dwarf_Lines *lines;
	size_t n;
	int rc;

	if (dwarf_getsrclines(&m->unit.die, &lines, &n))
		return 0;
	dwarf_file_count_rows(m->file, n);
	rc = inline_work_(m, (unsigned int)n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = read_row(m, dwarf_onesrcline(lines, i));
	if (dwarf_getsrcfiles(&m->unit.die, &m->files, &m->nfiles))
		m->files = NULL;
	return rc;
}
