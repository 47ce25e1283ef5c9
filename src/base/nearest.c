/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimal string alignment (Levenshtein distance plus swaps of neighbours) with three rows. A
 * candidate is given up when a row is no better than the best so far, so comparing thousands of
 * tracepoint names is cheap.
 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LEN (sizeof(((struct nearest *)0)->name) - 1)

/* Edits allowed for a word of this length. */
static unsigned int tolerance(size_t len)
{
	if (len < 2)
		return 0;
	if (len <= 4)
		return 1;
	if (len <= 8)
		return 2;
	return len <= 14 ? 3 : 4;
}

void nearest_begin(struct nearest *n, const char *wanted)
{
	n->wanted = wanted;
	n->best = tolerance(strlen(wanted)) + 1;
	n->name[0] = '\0';
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* One row of the table: the distance of a[0..i] from every prefix of b. Returns the minimum.
 * before and last are the two rows above. */
static unsigned int fill_row(const char *a, size_t i, const char *b, size_t lb,
			     const unsigned int *before, const unsigned int *last, unsigned int *row)
{
	unsigned int min = row[0] = (unsigned int)i;

	for (size_t j = 1; j <= lb; j++) {
		unsigned int cost = same(a[i - 1], b[j - 1]) ? 0 : 1;

		row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + cost);
		if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
			row[j] = least(row[j], before[j - 2] + 1);
		min = least(min, row[j]);
	}
	return min;
}

/* The distance of a from b if it is below bound, else any value >= bound. */
static unsigned int distance(const char *a, size_t la, const char *b, size_t lb, unsigned int bound)
{
	unsigned int rows[3][NAME_MAX_LEN + 1];
	unsigned int above = 0;

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int min = fill_row(a, i, b, lb, rows[(i + 1) % 3], rows[(i - 1) % 3],
					    rows[i % 3]);

		/* A swap uses the row before the last, so both must be too far. */
		if (min >= bound && above >= bound)
			return bound;
		above = min;
	}
	return rows[la % 3][lb];
}

/* "sched_wakeup_n" for "sched_wakeup_new": incomplete rather than misspelt. */
static bool cut_short(const char *wanted, size_t len, const char *candidate)
{
	return len >= 3 && !strncasecmp(wanted, candidate, len);
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t la = strlen(n->wanted), lb = strlen(candidate);
	unsigned int d;

	if (!n->best || la > NAME_MAX_LEN || lb > NAME_MAX_LEN || !lb)
		return;
	d = distance(n->wanted, la, candidate, lb, n->best);
	if (d >= n->best && cut_short(n->wanted, la, candidate))
		d = tolerance(la);
	if (d >= n->best)
		return;
	n->best = d;
	memcpy(n->name, candidate, lb + 1);
}

const char *nearest_get(const struct nearest *n)
{
	return n->name[0] ? n->name : NULL;
}
