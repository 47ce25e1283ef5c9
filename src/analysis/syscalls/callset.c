/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callset.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FEW: as many comparisons in a row cost less than to branch again. MOST_RANGES have a filter below KFILTER_MAX. */
enum { FEW = 3, MOST_RANGES = 88, RANGES = CALLSET_NUMBERS / 2 + 2 };

/* Numbers from the first to the last one. */
struct range {
	int first, last;             /* INT_MAX: all above */
};

struct ranges {
	struct range v[RANGES];
	size_t n;
};

static void add(struct ranges *r, int first, int last)
{
	if (r->n && r->v[r->n - 1].last >= first - 1)
		r->v[r->n - 1].last = last;
	else
		r->v[r->n++] = (struct range){ first, last };
}

static void find_ranges(const struct callset *s, struct ranges *r)
{
	const int end = s->newer && s->newer < CALLSET_NUMBERS ? s->newer : CALLSET_NUMBERS;

	r->n = 0;
	if (s->left_signal)
		add(r, -1, -1);
	for (int i = 0; i < end; i++)
		if (s->has[i])
			add(r, i, i);
	if (s->newer)
		add(r, s->newer, INT_MAX);
}

static void fill_smallest_gap(struct ranges *r)
{
	size_t at = 1;

	for (size_t i = 2; i < r->n; i++)
		if (r->v[i].first - r->v[i - 1].last < r->v[at].first - r->v[at - 1].last)
			at = i;
	r->v[at - 1].last = r->v[at].last;
	r->n--;
	memmove(&r->v[at], &r->v[at + 1], (r->n - at) * sizeof(*r->v));
}

static void put_range(FILE *out, const struct range *r)
{
	if (r->first == r->last)
		fprintf(out, "id==%d", r->first);
	else if (r->last == INT_MAX)
		fprintf(out, "id>=%d", r->first);
	else
		fprintf(out, "id>=%d&&id<=%d", r->first, r->last);
}

/* (id>=MIDDLE||LOWER)&&(id<MIDDLE||UPPER): decided after two comparisons more at most; of low numbers, which are the most frequent
 * calls, after one. */
static void put_ranges(FILE *out, const struct range *r, size_t n)
{
	if (n <= FEW) {
		for (size_t i = 0; i < n; i++) {
			fputs(i ? "||" : "", out);
			put_range(out, &r[i]);
		}
		return;
	}
	fprintf(out, "(id>=%d||", r[n / 2].first);
	put_ranges(out, r, n / 2);
	fprintf(out, ")&&(id<%d||", r[n / 2].first);
	put_ranges(out, r + n / 2, n - n / 2);
	fputc(')', out);
}

static void put_set(FILE *out, const struct callset *s)
{
	struct ranges r;

	find_ranges(s, &r);
	while (r.n > MOST_RANGES)
		fill_smallest_gap(&r);
	if (r.n > FEW && r.v[0].first > 0)   /* read(2) and write(2) */
		fprintf(out, "id>=%d&&", r.v[0].first);
	if (r.n)
		put_ranges(out, r.v, r.n);
	else
		fputs("id>0&&id<0", out);
}

char *callset_filter(const struct callset *s, const char *also)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(also ? "(" : "", out);
	put_set(out, s);
	if (also)
		fprintf(out, ")&&(%s)", also);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
