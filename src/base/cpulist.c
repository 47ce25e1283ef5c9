/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of small numbers. The numbers of all ranges are collected, then sorted and deduplicated
 * once.
 */
#include "base/cpulist.h"

#include "base/room.h"
#include "base/search.h"
#include "base/textfile.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit for a list: more than there can be CPUs or pids (2^22). */
#define LIST_MAX (1U << 23)
/* More than CONFIG_NR_CPUS of any architecture. */
#define CPU_MAX 65535

static int append_range(struct numlist *list, size_t *room, int from, int to)
{
	size_t need = list->n + (size_t)to - (size_t)from + 1;

	if (need > LIST_MAX)
		return -ERANGE;
	if (!ROOM_FOR(list->v, *room, list->n, need - list->n))
		return -ENOMEM;
	for (size_t i = 0; list->n < need; i++)   /* from + i: an int would overflow at INT_MAX */
		list->v[list->n++] = (int)((size_t)from + i);
	return 0;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void sort_unique(struct numlist *list)
{
	size_t n = 0;

	qsort(list->v, list->n, sizeof(*list->v), compare);
	for (size_t i = 0; i < list->n; i++)
		if (!n || list->v[n - 1] != list->v[i])
			list->v[n++] = list->v[i];
	list->n = n;
}

static const char *skip_space(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* On failure *p stays at the number. */
static int parse_number(const char **p, int max, int *out)
{
	const char *s = *p;
	uint64_t v;
	int err = units_take(&s, &v);

	if (!err && v > (uint64_t)max)
		err = -ERANGE;
	if (err)
		return err;
	*out = (int)v;
	*p = skip_space(s);
	return 0;
}

/* "3" or "0-3"; on failure *p stays at the error. */
static int parse_range(const char **p, int max, int *from, int *to)
{
	const char *last;
	int err = parse_number(p, max, from);

	*to = *from;
	if (err || **p != '-')
		return err;
	*p = last = skip_space(*p + 1);
	err = parse_number(p, max, to);
	if (!err && *to < *from) {
		*p = last;
		err = -EINVAL;
	}
	return err;
}

static int parse_list(struct numlist *list, const char **p, int max)
{
	size_t room = 0;

	for (;;) {
		int from = 0, to, err;

		*p = skip_space(*p);
		err = parse_range(p, max, &from, &to);
		if (!err)
			err = append_range(list, &room, from, to);
		if (err || !**p)
			return err;
		if (**p != ',')
			return -EINVAL;
		++*p;
	}
}

int numlist_parse(struct numlist *list, const char *text, int max, const char **bad)
{
	int err;

	*list = (struct numlist){ 0 };
	err = parse_list(list, &text, max);
	if (err) {
		if (bad)
			*bad = text;
		numlist_free(list);
		return err;
	}
	sort_unique(list);
	return 0;
}

void numlist_free(struct numlist *list)
{
	free(list->v);
	*list = (struct numlist){ 0 };
}

/* Index of the first number >= v. */
static size_t lower_bound(const struct numlist *list, int v)
{
	return FIRST_NOT(i, 0, list->n, list->v[i] < v);
}

int numlist_has(const struct numlist *list, int v)
{
	size_t i = lower_bound(list, v);

	return i < list->n && list->v[i] == v;
}

int numlist_add(struct numlist *list, int v)
{
	size_t i = lower_bound(list, v);
	int *grown;

	if (i < list->n && list->v[i] == v)
		return 0;
	grown = realloc(list->v, (list->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->v = grown;
	memmove(grown + i + 1, grown + i, (list->n - i) * sizeof(*grown));
	grown[i] = v;
	list->n++;
	return 0;
}

void numlist_remove(struct numlist *list, int v)
{
	size_t i = lower_bound(list, v);

	if (i < list->n && list->v[i] == v)
		memmove(list->v + i, list->v + i + 1, (--list->n - i) * sizeof(*list->v));
}

/* Index of the last number in the run of consecutive ones that begins at i. */
static size_t run_end(const struct numlist *list, size_t i)
{
	while (i + 1 < list->n && list->v[i + 1] == list->v[i] + 1)
		i++;
	return i;
}

size_t numlist_text(const struct numlist *list, char *buf, size_t size)
{
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		size_t end = run_end(list, i);
		char *at = len < size ? buf + len : NULL;
		size_t left = at ? size - len : 0;
		const char *comma = i ? "," : "";

		if (end == i)
			len += (size_t)snprintf(at, left, "%s%d", comma, list->v[i]);
		else
			len += (size_t)snprintf(at, left, "%s%d-%d", comma, list->v[i], list->v[end]);
		i = end;
	}
	return len;
}

int cpulist_online(struct numlist *list)
{
	char text[4096];
	ssize_t n = textfile_read("/sys/devices/system/cpu/online", text, sizeof(text));

	*list = (struct numlist){ 0 };
	if (n < 0)
		return (int)n;
	return numlist_parse(list, text, CPU_MAX, NULL);
}
