/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows sorted by start, and an index that divides the range of addresses into as many equal
 * buckets as there are rows, each with its first row. A lookup searches the few rows of its
 * bucket, whatever the size of the table.
 *
 * Symbols may lie inside of others. A row has the index of the nearest previous row that ends
 * after it (`around`), so an address after an inner symbol still finds the outer one.
 */
#include "symbols/elf/symtab.h"

#include "base/room.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, TWO_PAGES = 8192 };

#define NONE UINT32_MAX

struct row {
	uint64_t start, end;
	uint32_t name;           /* offset in names */
	uint32_t around;         /* index of a row, or NONE */
	uint16_t group;
	uint8_t rank;
	uint8_t open;
};

struct symtab {
	struct row *rows;
	char *names;
	uint32_t *first;         /* per bucket: the first row that starts in or after it */
	size_t n, cap, names_len, names_cap, buckets;
	unsigned int shift;      /* bucket = (addr - rows[0].start) >> shift */
};

struct symtab *symtab_new(void)
{
	return calloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->names);
	free(t->first);
	free(t);
}

/* ---- filling -------------------------------------------------------------- */

int symtab_add(struct symtab *t, const struct symtab_entry *e)
{
	if (e->end <= e->start || !e->len)
		return 0;
	if (t->n >= NONE / 2 || e->len >= UINT32_MAX - t->names_len ||
	    !ROOM_FOR(t->rows, t->cap, t->n, 1) ||
	    !ROOM_FOR(t->names, t->names_cap, t->names_len, e->len + 1))
		return -ENOMEM;
	t->rows[t->n++] = (struct row){
		.start = e->start, .end = e->end, .name = (uint32_t)t->names_len,
		.group = e->group, .rank = e->rank, .open = e->open,
	};
	memcpy(t->names + t->names_len, e->name, e->len);
	t->names[t->names_len + e->len] = '\0';
	t->names_len += e->len + 1;
	return 0;
}

int symtab_copy_group(struct symtab *t, const struct symtab *from, uint16_t group)
{
	int rc = 0;

	for (const struct row *r = from->rows; r < from->rows + from->n && !rc; r++)
		if (r->group == group)
			rc = symtab_add(t, &(struct symtab_entry){ r->start, r->end, r->open, r->rank, r->group,
								   from->names + r->name, strlen(from->names + r->name) });
	return rc;
}

/* ---- sorting and indexing ------------------------------------------------- */

static bool is_sorted(const struct symtab *t)
{
	for (size_t i = 1; i < t->n; i++)
		if (t->rows[i - 1].start > t->rows[i].start)
			return false;
	return true;
}

static void sort_by_byte(const struct row *from, struct row *to, size_t n, unsigned int shift)
{
	size_t at[257] = { 0 };

	for (size_t i = 0; i < n; i++)
		at[(from[i].start >> shift & 0xff) + 1]++;
	for (size_t b = 1; b < 256; b++)
		at[b] += at[b - 1];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].start >> shift & 0xff]++] = from[i];
}

/* Radix sort over the bytes that differ; stable, so aliases keep the file's order. */
static int sort(struct symtab *t)
{
	struct row *other;
	uint64_t differ = 0;

	if (is_sorted(t))
		return 0;
	other = malloc(t->cap * sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++)
		differ |= t->rows[i].start ^ t->rows[0].start;
	for (unsigned int shift = 0; shift < 64; shift += 8) {
		struct row *sorted = other;

		if (!(differ >> shift & 0xff))
			continue;
		sort_by_byte(t->rows, sorted, t->n, shift);
		other = t->rows;
		t->rows = sorted;
	}
	free(other);
	return 0;
}

/* One row per address: the one of the highest rank. */
static void drop_aliases(struct symtab *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct row *last = kept ? &t->rows[kept - 1] : NULL;

		if (!last || last->start != t->rows[i].start)
			t->rows[kept++] = t->rows[i];
		else if (last->rank < t->rows[i].rank)
			*last = t->rows[i];
	}
	t->n = kept;
}

static void close_ends(struct symtab *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct row *r = &t->rows[i];
		const struct row *next = i + 1 < t->n ? r + 1 : NULL;
		uint64_t near = (r->start | (TWO_PAGES / 2 - 1)) + 1 + TWO_PAGES / 2;

		if (!r->open)
			continue;
		if (next && next->start < r->end)
			r->end = next->start;
		if ((!next || next->group != r->group) && r->end - r->start > near - r->start)
			r->end = near;
	}
}

/* The rows that reach beyond the current one form a stack, linked by `around`. */
static void find_around(struct symtab *t)
{
	uint32_t top = NONE;

	for (size_t i = 0; i < t->n; i++) {
		while (top != NONE && t->rows[top].end <= t->rows[i].end)
			top = t->rows[top].around;
		t->rows[i].around = top;
		top = (uint32_t)i;
	}
}

static int build_index(struct symtab *t)
{
	uint64_t base = t->rows[0].start, span = t->rows[t->n - 1].start - base;
	size_t row = 0;

	while (span >> t->shift > t->n)
		t->shift++;
	t->buckets = (size_t)(span >> t->shift) + 1;
	t->first = malloc((t->buckets + 1) * sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (size_t b = 0; b < t->buckets; b++) {
		while ((t->rows[row].start - base) >> t->shift < b)
			row++;
		t->first[b] = (uint32_t)row;
	}
	t->first[t->buckets] = (uint32_t)t->n;
	return 0;
}

static void shrink(struct symtab *t)
{
	struct row *rows = realloc(t->rows, t->n * sizeof(*rows));
	char *names = realloc(t->names, t->names_len);

	t->rows = rows ? rows : t->rows;
	t->names = names ? names : t->names;
	t->cap = rows ? t->n : t->cap;
	t->names_cap = names ? t->names_len : t->names_cap;
}

int symtab_finish(struct symtab *t)
{
	if (!t->n)
		return -ENOENT;
	if (sort(t))
		return -ENOMEM;
	drop_aliases(t);
	close_ends(t);
	find_around(t);
	shrink(t);
	return build_index(t);
}

/* ---- transfer between processes --------------------------------------------- */

struct packed {
	uint64_t n, names_len;   /* rows and names follow */
};

size_t symtab_packed_size(const struct symtab *t)
{
	return sizeof(struct packed) + t->n * sizeof(*t->rows) + t->names_len;
}

int symtab_pack(const struct symtab *t, struct parser_bytes *out)
{
	struct packed head = { t->n, t->names_len };

	if (parser_put(out, &head, sizeof(head)) ||
	    parser_put(out, t->rows, t->n * sizeof(*t->rows)) ||
	    parser_put(out, t->names, t->names_len))
		return -ENOMEM;
	return 0;
}

/* Checks what finishing guarantees. */
static bool are_sane(const struct symtab *t)
{
	if (t->names[t->names_len - 1])
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].end <= t->rows[i].start || t->rows[i].name >= t->names_len ||
		    (i && t->rows[i].start <= t->rows[i - 1].start))
			return false;
	return true;
}

static void *copy_of(const void *data, size_t n)
{
	void *copy = malloc(n);

	return copy ? memcpy(copy, data, n) : NULL;
}

struct symtab *symtab_unpack(const void *bytes, size_t size)
{
	struct packed head;
	struct symtab *t;
	const char *rows = (const char *)bytes + sizeof(head);

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	size -= sizeof(head);
	if (!head.n || head.n >= NONE / 2 || !head.names_len || head.names_len > UINT32_MAX ||
	    head.n > size / sizeof(struct row) || head.names_len != size - head.n * sizeof(struct row))
		return NULL;
	t = symtab_new();
	if (!t)
		return NULL;
	t->n = t->cap = head.n;
	t->names_len = t->names_cap = head.names_len;
	t->rows = copy_of(rows, head.n * sizeof(struct row));
	t->names = copy_of(rows + head.n * sizeof(struct row), head.names_len);
	if (t->rows && t->names && are_sane(t)) {
		find_around(t);
		if (!build_index(t))
			return t;
	}
	symtab_free(t);
	return NULL;
}

/* ---- lookup --------------------------------------------------------------- */

/* The last row that starts at or before addr; NONE before the first. */
static uint32_t last_before(const struct symtab *t, uint64_t addr)
{
	uint64_t base = t->rows[0].start, bucket;

	if (addr < base)
		return NONE;
	bucket = (addr - base) >> t->shift;
	if (bucket >= t->buckets)
		return (uint32_t)t->n - 1;
	/* the last row before the bucket, if all in the bucket start later */
	return (uint32_t)FIRST_NOT(i, t->first[bucket], t->first[bucket + 1], t->rows[i].start <= addr) - 1;
}

bool symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	uint32_t i = last_before(t, addr);

	for (int depth = 0; i != NONE && depth < MAX_DEPTH; depth++, i = t->rows[i].around) {
		const struct row *r = &t->rows[i];

		if (addr >= r->end)
			continue;
		*hit = (struct symtab_hit){ t->names + r->name, r->start, r->end, r->group, r->open };
		return true;
	}
	return false;
}

size_t symtab_bytes(const struct symtab *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->rows) + t->names_cap +
	       (t->buckets + 1) * sizeof(*t->first);
}

size_t symtab_count(const struct symtab *t)
{
	return t->n;
}
