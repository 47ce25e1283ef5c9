/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/jit/jitdump.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x4a695444, MAX_NAME = 1024, MAX_RECORDS = 1 << 21 };

/* The parts of the file's head that are used. */
struct head {
	uint32_t magic, version, size;
};

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_CLOSE = 3 };

struct record {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma;
	union {
		struct { uint64_t addr, size, index; } load;   /* followed by the name */
		struct { uint64_t from, to, size, index; } move;
	};
};

enum { RECORD_HEAD = 16, LOAD_HEAD = offsetof(struct record, load) + 24, MOVE_HEAD = sizeof(struct record) };

/* A record and the beginning of the data after it. */
struct piece {
	struct record r;
	char more[MAX_NAME];
};

static void turn(struct record *r, size_t n)
{
	r->id = bswap_32(r->id);
	r->size = bswap_32(r->size);
	r->load.addr = bswap_64(r->load.addr);
	r->load.size = bswap_64(r->load.size);
	r->load.index = bswap_64(r->load.index);
	if (n >= MOVE_HEAD && r->id == CODE_MOVE)
		r->move.index = bswap_64(r->move.index);
}

static bool take_load(struct perfmap *m, const struct piece *p, size_t n)
{
	const char *name = (const char *)p + LOAD_HEAD;

	if (n <= LOAD_HEAD)
		return false;
	perfmap_add(m, p->r.load.addr, p->r.load.size, name, n - LOAD_HEAD);
	return true;
}

/* The code keeps its name at the new address. */
static bool take_move(struct perfmap *m, const struct piece *p, size_t n)
{
	const char *name;
	uint64_t into;
	char copy[MAX_NAME + 1];
	size_t len;

	if (n < MOVE_HEAD)
		return false;
	perfmap_sort(m);
	if (!perfmap_find(m, p->r.move.from, &name, &into) || into)
		return true;
	len = strnlen(name, MAX_NAME);
	memcpy(copy, name, len);   /* perfmap_add() may move the memory of `name` */
	perfmap_add(m, p->r.move.to, p->r.move.size, copy, len);
	return true;
}

enum { MAX_MOVES = 1024, MAX_SORTED = 1 << 24 };   /* limits for the work: each move sorts all lines */

static bool may_move(unsigned int moves, int64_t loads)
{
	return moves < MAX_MOVES && moves * loads < MAX_SORTED;
}

/* Reads a record, its head in our byte order; returns its size. 0: there is none, or the budget is used up. */
static size_t take_piece(int fd, uint64_t at, uint64_t end, bool foreign, struct piece *p, uint64_t *budget)
{
	ssize_t got = pread(fd, p, sizeof(*p), (off_t)at);

	if (got < RECORD_HEAD)
		return 0;
	if (foreign)
		turn(&p->r, (size_t)got);
	if (p->r.size < RECORD_HEAD || p->r.size > end - at)
		return 0;
	got = p->r.size < (size_t)got ? (ssize_t)p->r.size : got;
	if (*budget < (uint64_t)got) {
		*budget = 0;
		return 0;
	}
	*budget -= (uint64_t)got;
	return (size_t)got;
}

/* False: no more records are read. */
static bool take_record(struct perfmap *m, const struct piece *p, size_t n, unsigned int *moves, int64_t *loads,
			struct jitdump_place *place)
{
	if (p->r.id == CODE_LOAD) {
		++*loads;
		return take_load(m, p, n);
	}
	if (p->r.id != CODE_MOVE)
		return p->r.id != CODE_CLOSE;
	if (may_move((*moves)++, *loads))
		return take_move(m, p, n);
	place->cut = true;
	return true;
}

int64_t jitdump_read(struct perfmap *m, int fd, struct jitdump_place *place, uint64_t *budget)
{
	struct head h = { 0 };
	unsigned int moves = 0, records = 0;
	int64_t loads = 0;
	struct stat st;
	bool foreign;
	uint64_t at, end;
	ssize_t got = pread(fd, &h, sizeof(h), 0);

	if (got < 0 || fstat(fd, &st))
		return -errno;
	foreign = h.magic == bswap_32(MAGIC);
	if (got != sizeof(h) || (h.magic != MAGIC && !foreign))
		return -ENOEXEC;
	at = place->at ? place->at : foreign ? bswap_32(h.size) : h.size;
	end = (uint64_t)st.st_size > at ? (uint64_t)st.st_size : at;
	for (; records < MAX_RECORDS; records++) {
		struct piece p = { 0 };
		size_t n = take_piece(fd, at, end, foreign, &p, budget);

		if (!n || !take_record(m, &p, n, &moves, &loads, place))
			break;
		at += p.r.size;
	}
	place->cut |= records == MAX_RECORDS;
	place->at = at;
	return loads;
}
