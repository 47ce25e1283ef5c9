/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/jit/perfmap.h"

#include "base/room.h"
#include "base/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, MAX_NAME = 1024, FIRST_LINES = 256, FIRST_NAMES = 16 << 10 };

struct line {
	uint64_t start, end;
	uint32_t name;           /* offset in names */
	uint32_t number;         /* position in the file: later lines have higher numbers */
};

struct perfmap {
	struct line *lines;      /* by start, without overlaps, once sorted */
	size_t n, cap;
	char *names;
	size_t names_len, names_cap;
	uint32_t numbers;
	uint64_t offset;         /* end of the last whole line read from the file */
	bool cut;
	bool *marks;             /* per line; NULL: none is marked */
};

struct perfmap *perfmap_new(void)
{
	return calloc(1, sizeof(struct perfmap));
}

void perfmap_free(struct perfmap *m)
{
	if (!m)
		return;
	free(m->lines);
	free(m->names);
	free(m->marks);
	free(m);
}

static void *copy_of(const void *from, size_t size, size_t room)
{
	void *to = malloc(size + room);

	if (to && size)
		memcpy(to, from, size);
	return to;
}

struct perfmap *perfmap_copy(const struct perfmap *m)
{
	struct perfmap *copy = perfmap_new();

	if (!copy)
		return NULL;
	*copy = *m;
	copy->marks = NULL;
	copy->lines = copy_of(m->lines, m->n * sizeof(*m->lines), FIRST_LINES * sizeof(*m->lines));
	copy->cap = m->n + FIRST_LINES;
	copy->names = copy_of(m->names, m->names_len, FIRST_NAMES);
	copy->names_cap = m->names_len + FIRST_NAMES;
	if (copy->lines && copy->names)
		return copy;
	perfmap_free(copy);
	return NULL;
}

/* ---- lines ------------------------------------------------------------------ */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A hex number of at most 64 bits and the space after it; some compilers write 0x before it. */
static bool take_number(const char **p, const char *end, uint64_t *v)
{
	const char *start;

	if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 0x20) == 'x')
		*p += 2;
	start = *p;
	for (*v = 0; *p < end && digit(**p) >= 0; ++*p)
		*v = *v << 4 | (uint64_t)digit(**p);
	if (*p == start || *p - start > 16 || *p == end || **p != ' ')
		return false;
	++*p;
	return true;
}

void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size, const char *name, size_t len)
{
	len = strnlen(name, len < MAX_NAME ? len : MAX_NAME);
	if (!len || !size || start + size < start)
		return;
	if (m->n >= PERFMAP_MAX_LINES || m->names_len + len >= PERFMAP_MAX_NAMES ||
	    !ROOM_FOR(m->lines, m->cap, m->n, 1) ||
	    !ROOM_FOR(m->names, m->names_cap, m->names_len, len + 1)) {
		m->cut = true;
		return;
	}
	m->lines[m->n++] = (struct line){ start, start + size, (uint32_t)m->names_len, m->numbers++ };
	memcpy(m->names + m->names_len, name, len);
	m->names[m->names_len + len] = '\0';
	m->names_len += len + 1;
}

/* Malformed lines are ignored. */
static void take_line(struct perfmap *m, const char *p, const char *end)
{
	uint64_t start, size;

	if (!take_number(&p, end, &start) || !take_number(&p, end, &size))
		return;
	if (end > p && end[-1] == '\r')
		end--;
	perfmap_add(m, start, size, p, (size_t)(end - p));
}

int64_t perfmap_take(struct perfmap *m, const char *text, size_t n)
{
	const char *p = text, *nl;

	while ((nl = memchr(p, '\n', n - (size_t)(p - text)))) {
		take_line(m, p, nl);
		p = nl + 1;
	}
	return p - text;
}

/* ---- sorting ---------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* By ascending start, compared with the lines kept so far: of two that overlap, the later one in
 * the file is kept. Lines that it removes stay removed, even if it is removed itself. */
void perfmap_sort(struct perfmap *m)
{
	size_t kept = 0;

	if (m->n)
		qsort(m->lines, m->n, sizeof(*m->lines), by_start);
	for (size_t i = 0; i < m->n; i++) {
		struct line line = m->lines[i];

		while (kept && m->lines[kept - 1].end > line.start &&
		       m->lines[kept - 1].number < line.number)
			kept--;
		if (!kept || m->lines[kept - 1].end <= line.start)
			m->lines[kept++] = line;
	}
	m->n = kept;
}

/* ---- the file --------------------------------------------------------------- */

static void start_anew(struct perfmap *m)
{
	m->n = m->names_len = 0;
	m->offset = 0;
	m->numbers = 0;
	m->cut = false;
}

/* Lines longer than the buffer are ignored. */
static int read_lines(struct perfmap *m, int fd, char *buf, uint64_t end)
{
	size_t have = 0;
	ssize_t got = 1;

	while (m->offset + have < end && got > 0) {
		size_t room = CHUNK - have, left = end - m->offset - have;
		int64_t taken;

		got = pread(fd, buf + have, left < room ? left : room, (off_t)(m->offset + have));
		if (got <= 0)
			break;
		have += (size_t)got;
		taken = perfmap_take(m, buf, have);
		if (!taken && have == CHUNK)
			taken = CHUNK;
		have -= (size_t)taken;
		m->offset += (uint64_t)taken;
		memmove(buf, buf + taken, have);
	}
	return got < 0 ? -errno : 0;
}

/* Reads up to `end`, as far as the budget allows. */
static int read_more(struct perfmap *m, int fd, uint64_t end, uint64_t *budget)
{
	uint64_t from = m->offset, most = budget ? *budget : UINT64_MAX;
	char *buf = malloc(CHUNK);
	int rc;

	if (!buf)
		return -ENOMEM;
	rc = read_lines(m, fd, buf, end - from > most ? from + most : end);
	free(buf);
	if (budget)
		*budget = end - from > most ? 0 : most - (m->offset - from);
	return rc;
}

int perfmap_read(struct perfmap *m, int fd, uint64_t *budget)
{
	uint32_t before = m->numbers;
	struct stat st;
	uint64_t end;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	end = (uint64_t)st.st_size < PERFMAP_MAX_FILE ? (uint64_t)st.st_size : PERFMAP_MAX_FILE;
	if (end < m->offset) {
		start_anew(m);
		before = UINT32_MAX;
	}
	m->cut |= (uint64_t)st.st_size > end;
	if (end == m->offset)
		return before != m->numbers;
	rc = read_more(m, fd, end, budget);
	if (before != m->numbers)
		perfmap_sort(m);
	return rc ? rc : before != m->numbers;
}

/* ---- lookup ----------------------------------------------------------------- */

static const struct line *line_at(const struct perfmap *m, uint64_t addr)
{
	size_t after = FIRST_NOT(i, 0, m->n, m->lines[i].start <= addr);

	return after && addr < m->lines[after - 1].end ? &m->lines[after - 1] : NULL;
}

bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **name, uint64_t *into)
{
	const struct line *line = line_at(m, addr);

	if (!line)
		return false;
	*name = m->names + line->name;
	*into = addr - line->start;
	return true;
}

/* ---- marked functions ------------------------------------------------------- */

bool perfmap_begin_marks(struct perfmap *m, bool all)
{
	free(m->marks);
	m->marks = all ? NULL : calloc(m->n + 1, sizeof(*m->marks));
	return m->marks;
}

void perfmap_mark(struct perfmap *m, const uint64_t *words, size_t n)
{
	uint64_t low = m->n ? m->lines[0].start : 0, size = m->n ? m->lines[m->n - 1].end - low : 0;

	for (size_t i = 0; i < n; i++) {
		const struct line *line = words[i] - low < size ? line_at(m, words[i]) : NULL;

		if (line)
			m->marks[line - m->lines] = true;
	}
}

void perfmap_each(const struct perfmap *m, perfmap_fn *fn, void *ctx)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->marks || m->marks[i])
			fn(ctx, m->lines[i].start, m->lines[i].end - m->lines[i].start,
			   m->names + m->lines[i].name);
}

size_t perfmap_bytes(const struct perfmap *m)
{
	return sizeof(*m) + m->cap * sizeof(*m->lines) + m->names_cap;
}

bool perfmap_is_cut(const struct perfmap *m)
{
	return m->cut;
}

/* ---- in a parser ------------------------------------------------------------ */

struct answer {
	struct parser_bytes *out;
	int rc;
};

static void put_line(void *ctx, uint64_t start, uint64_t size, const char *name)
{
	struct answer *a = ctx;
	char numbers[48];
	int n = snprintf(numbers, sizeof(numbers), "%llx %llx ", (unsigned long long)start, (unsigned long long)size);

	if (!a->rc)
		a->rc = parser_put(a->out, numbers, (size_t)n) || parser_put(a->out, name, strlen(name)) ||
			parser_put(a->out, "\n", 1) ? -ENOMEM : 0;
}

int perfmap_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct perfmap *m = q->nfds == 1 ? perfmap_new() : NULL;
	struct answer a = { out, m ? 0 : -EINVAL };
	int rc = m ? perfmap_read(m, q->fds[0], NULL) : 0;

	if (rc < 0)
		a.rc = rc;
	if (m)
		perfmap_each(m, put_line, &a);
	perfmap_free(m);
	return a.rc;
}
