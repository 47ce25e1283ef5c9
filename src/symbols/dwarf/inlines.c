/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/inlines.h"

#include "symbols/dwarf/inlines_question.h"
#include "symbols/dwarf/unit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEATHS = 3, MAX_BYTES = 64 << 20 };

struct unit {
	struct inline_table *table;  /* NULL: not read, or forgotten */
	uint64_t used;               /* number of the last question that used it; UINT64_MAX: not readable */
};

struct inlines {
	struct parser *parser;
	void *state;                 /* of the handler, if there is no parser */
	int fd, alt_fd;              /* alt_fd: ours; -1: none */
	bool opened;
	struct debug_alt alt;
	struct unit_map *map;        /* NULL: not opened, or not readable */
	struct unit *units;
	size_t bytes;                /* of tables */
	uint64_t now;
	unsigned int deaths;
};

/* ---- questions to the parser ------------------------------------------------ */

static int ask(struct inlines *in, uint32_t what, uint32_t unit, struct parser_bytes *out)
{
	struct inlines_question bytes = { what, unit };
	struct parser_question q = { .kind = PARSER_INLINES, .fds = { in->fd, in->alt_fd },
				     .nfds = in->alt_fd < 0 ? 1 : 2, .bytes = &bytes, .size = sizeof(bytes) };
	int rc;

	*out = (struct parser_bytes){ 0 };
	if (in->deaths >= MAX_DEATHS)
		return -EOWNERDEAD;
	rc = in->parser ? parser_ask(in->parser, &q, out) : inlines_answer(&in->state, &q, out);
	in->deaths += rc == -EOWNERDEAD || rc == -ETIME;
	if (rc)
		parser_bytes_free(out);
	return rc;
}

static int read_map(struct inlines *in)
{
	struct parser_bytes out;
	int rc = ask(in, INLINES_MAP, 0, &out);

	if (!rc && out.size < sizeof(in->alt))
		rc = -ENOEXEC;
	if (!rc) {
		memcpy(&in->alt, out.data, sizeof(in->alt));
		in->alt.path[ALT_PATH_MAX - 1] = '\0';
		in->map = unit_map_unpack((char *)out.data + sizeof(in->alt), out.size - sizeof(in->alt));
		rc = in->map && in->alt.build_id_size <= ALT_BUILD_ID_MAX ? 0 : -ENOEXEC;
	}
	parser_bytes_free(&out);
	return rc;
}

/* Reads the map of units at the first lookup. */
static bool is_open(struct inlines *in)
{
	if (in->opened)
		return in->map;
	in->opened = true;
	if (!read_map(in))
		in->units = calloc(unit_map_units(in->map) + 1ul, sizeof(*in->units));
	if (!in->units) {
		unit_map_free(in->map);
		in->map = NULL;
	}
	return in->map;
}

struct inlines *inlines_new(struct parser *p, int fd)
{
	struct inlines *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->parser = p;
	in->fd = fd;
	in->alt_fd = -1;
	return in;
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	for (uint32_t i = 0; in->units && i < unit_map_units(in->map); i++)
		inline_table_free(in->units[i].table);
	free(in->units);
	unit_map_free(in->map);
	if (in->state)
		inlines_forget(in->state);
	if (in->alt_fd >= 0)
		close(in->alt_fd);
	free(in);
}

const struct debug_alt *inlines_alt(struct inlines *in)
{
	return is_open(in) && in->alt.path[0] ? &in->alt : NULL;
}

void inlines_use_alt(struct inlines *in, int fd)
{
	if (in->alt_fd < 0)
		in->alt_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

const char *inlines_elsewhere(const struct inlines *in)
{
	if (!in->map)
		return NULL;
	return in->alt.split ? ".dwo files (gcc -gsplit-dwarf), which perf-prof does not read" :
	       in->alt.path[0] && in->alt_fd < 0 ? in->alt.path : NULL;
}

/* ---- tables ----------------------------------------------------------------- */

static void forget_oldest(struct inlines *in, const struct unit *but)
{
	struct unit *oldest = NULL;

	for (uint32_t i = 0; i < unit_map_units(in->map); i++) {
		struct unit *u = &in->units[i];

		if (u->table && u != but && (!oldest || u->used < oldest->used))
			oldest = u;
	}
	if (!oldest)
		return;
	in->bytes -= inline_table_bytes(oldest->table);
	inline_table_free(oldest->table);
	oldest->table = NULL;
}

static void keep_bound(struct inlines *in, const struct unit *but)
{
	size_t before = 0;

	while (in->bytes > MAX_BYTES && in->bytes != before) {
		before = in->bytes;
		forget_oldest(in, but);
	}
}

static void read_unit(struct inlines *in, uint32_t i)
{
	struct unit *unit = &in->units[i];
	struct parser_bytes out;

	if (!ask(in, INLINES_UNIT, i, &out))
		unit->table = inline_table_unpack(out.data, out.size);
	parser_bytes_free(&out);
	if (!unit->table) {
		unit->used = UINT64_MAX;
		return;
	}
	in->bytes += inline_table_bytes(unit->table);
	keep_bound(in, unit);
}

size_t inlines_find(struct inlines *in, uint64_t vaddr, struct inline_frame *out, size_t max)
{
	uint32_t i = in && is_open(in) ? unit_map_find(in->map, vaddr) : NO_UNIT;
	struct unit *unit = i == NO_UNIT ? NULL : &in->units[i];

	if (!unit || unit->used == UINT64_MAX)
		return 0;
	if (!unit->table)
		read_unit(in, i);
	if (!unit->table)
		return 0;
	unit->used = ++in->now;
	return inline_table_find(unit->table, vaddr, out, max);
}

bool inlines_has(const struct inlines *in, uint64_t vaddr)
{
	uint32_t i = in && in->map ? unit_map_find(in->map, vaddr) : NO_UNIT;

	return in && in->opened && (i == NO_UNIT || in->units[i].table || in->units[i].used == UINT64_MAX);
}

size_t inlines_bytes(const struct inlines *in)
{
	if (!in || !in->map)
		return in ? sizeof(*in) : 0;
	return sizeof(*in) + unit_map_bytes(in->map) + unit_map_units(in->map) * sizeof(*in->units) +
	       in->bytes;
}
