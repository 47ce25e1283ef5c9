/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/part.h"

#include "columns/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_is(const struct texts *t, uint32_t i, const char *name)
{
	size_t len = (size_t)(t->offsets[i + 1] - t->offsets[i]);

	return len == strlen(name) && !memcmp(t->bytes + t->offsets[i], name, len);
}

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

/* As texts, names are in UTF-8. */
bool part_is_name(const struct row_plan *plan, const char *name)
{
	struct dictionary d = { 0 };
	struct texts *t = NULL;
	bool is = false;

	if (!strcmp(plan->name, name) || is_ascii(plan->name))
		return !strcmp(plan->name, name);
	if (!dictionary_number(&d, plan->name, strlen(plan->name)) && (t = dictionary_take(&d)))
		is = text_is(t, 0, name);
	texts_release(t);
	dictionary_end(&d);
	return is;
}

/* ---- columns ----------------------------------------------------------------------- */

static bool reads(const struct row_plan *plan, size_t column)
{
	for (size_t i = 0; i < plan->nreaders; i++)
		if (plan->readers[i].column == column)
			return true;
	return false;
}

/* EVENT.NAME as NAME, unless there is one. */
static const char *own_name(const struct part *p, const struct plans *plans, size_t column, const struct row_plan *one)
{
	const char *name = plans->columns->v[column].name;
	size_t len = one ? strlen(one->name) : 0;

	if (!len || strncmp(name, one->name, len) || name[len] != '.' || columns_find(p->columns, name + len + 1) >= 0)
		return name;
	return name + len + 1;
}

static int add_column(struct part *p, const struct plans *plans, size_t column, const struct row_plan *one)
{
	struct columns *c = p->columns;
	const char *full = plans->columns->v[column].name, *name = own_name(p, plans, column, one);

	c->v[c->n] = (struct column){ strdup(name), plans->columns->v[column].type };
	p->from[c->n] = (uint32_t)column;
	if (!c->v[c->n].name)
		return -ENOMEM;
	c->n++;
	p->whole &= !strcmp(name, full);
	return 0;
}

/* Which plans the part has, as a byte for each. 0 or -ENOENT. */
static int find_plans(struct part *p, const struct plans *plans, uint8_t *has)
{
	for (size_t k = 0; p->names[k]; k++) {
		bool found = false;

		for (size_t e = 0; e < plans->n; e++)
			if (plans->v[e].nreaders && part_is_name(&plans->v[e], p->names[k]))
				has[e] = found = true;
		if (!found)
			return -ENOENT;
	}
	return 0;
}

static int add_columns(struct part *p, const struct plans *plans, const uint8_t *has)
{
	const struct row_plan *one = NULL;
	int rc = 0;

	for (size_t e = 0; e < plans->n && !p->names[1] && !one; e++)
		one = has[e] ? &plans->v[e] : NULL;
	for (size_t i = 0; !rc && i < plans->columns->n; i++) {
		bool is = (ssize_t)i == plans->lost;

		for (size_t e = 0; e < plans->n && !is; e++)
			is = has[e] && reads(&plans->v[e], i);
		if (is)
			rc = add_column(p, plans, i, one);
	}
	p->whole &= p->columns->n == plans->columns->n;
	return rc;
}

static int copy_names(struct part *p, const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	p->names = calloc(n + 1, sizeof(*p->names));
	for (size_t i = 0; p->names && i < n; i++)
		if (!(p->names[i] = strdup(names[i])))
			return -ENOMEM;
	return p->names ? 0 : -ENOMEM;
}

int part_begin(struct part *p, const struct plans *plans, const char *const *names, bool losses)
{
	uint8_t *has = calloc(plans->n + 1, sizeof(*has));
	int rc;

	*p = (struct part){ .event = (size_t)plans->event, .lost = (size_t)plans->lost, .whole = true, .losses = losses };
	p->columns = calloc(1, sizeof(*p->columns));
	p->from = calloc(plans->columns->n + 1, sizeof(*p->from));
	if (p->columns) {
		p->columns->refs = 1;
		p->columns->v = calloc(plans->columns->n + 1, sizeof(*p->columns->v));
	}
	rc = has && p->columns && p->columns->v && p->from ? copy_names(p, names) : -ENOMEM;
	if (!rc)
		rc = find_plans(p, plans, has);
	if (!rc)
		rc = add_columns(p, plans, has);
	free(has);
	return rc;
}

void part_end(struct part *p)
{
	for (size_t i = 0; p->names && p->names[i]; i++)
		free(p->names[i]);
	free(p->names);
	columns_release(p->columns);
	texts_release(p->seen);
	free(p->from);
	free(p->takes);
	free(p->rows);
	*p = (struct part){ 0 };
}

/* ---- rows -------------------------------------------------------------------------- */

static bool has_name(const struct part *p, const struct texts *t, uint32_t i)
{
	for (size_t k = 0; p->names[k]; k++)
		if (text_is(t, i, p->names[k]))
			return true;
	return false;
}

/* Names of losses come first among the texts of _event. */
static int look_at(struct part *p, struct texts *texts)
{
	if (p->seen == texts)
		return 0;
	free(p->takes);
	texts_release(p->seen);
	p->seen = NULL;
	p->takes = calloc(texts->n + 1, sizeof(*p->takes));
	if (!p->takes)
		return -ENOMEM;
	for (uint32_t i = 0; i < texts->n; i++)
		p->takes[i] = (i < LOSS_NAMES && p->losses) || has_name(p, texts, i);
	p->seen = texts_keep(texts);
	return 0;
}

static int make_room(struct part *p, size_t rows)
{
	if (rows <= p->rows_room)
		return 0;
	free(p->rows);
	p->rows = malloc(rows * sizeof(*p->rows));
	p->rows_room = p->rows ? rows : 0;
	return p->rows ? 0 : -ENOMEM;
}

static size_t count_losses(const struct part *p, const struct batch *whole, size_t n)
{
	size_t losses = 0;

	for (size_t i = 0; i < n && whole->v[p->lost].nulls < whole->rows; i++)
		losses += !batch_is_null(whole, p->lost, p->rows[i]);
	return losses;
}

/* The same as part_take() counts, where there is no memory for what it counts with. */
static size_t count_events(const struct part *p, const struct batch *whole, size_t from, size_t n)
{
	const int32_t *names = whole->v[p->event].values;
	size_t events = 0;

	for (size_t row = from; row < from + n; row++)
		events += batch_is_null(whole, p->lost, row) && has_name(p, whole->v[p->event].texts, (uint32_t)names[row]);
	return events;
}

int part_take(struct part *p, struct batch *whole, size_t from, size_t n, struct batch **out, size_t *events)
{
	const int32_t *names = whole->v[p->event].values;
	size_t found = 0;

	*out = NULL;
	*events = 0;
	if (look_at(p, whole->v[p->event].texts) || make_room(p, n)) {
		*events = count_events(p, whole, from, n);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		p->rows[found] = (uint32_t)(from + i);
		found += p->takes[names[from + i]];
	}
	*events = found - count_losses(p, whole, found);
	if (!found)
		return 0;
	*out = found == whole->rows && p->whole ? batch_keep(whole) : batch_select(whole, p->rows, found, p->columns, p->from);
	return *out ? 0 : -ENOMEM;
}
