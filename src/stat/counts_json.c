/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as JSON: one document, or a line per interval. */
#include "stat/counts.h"

#include "report/json.h"

#include <math.h>
#include <string.h>

static bool put_spread(json_object *to, const struct stats *s, double scale)
{
	return s->n < 2 || (json_put_number(to, "stddev", stats_stddev(s) * scale) &&
			    json_put_number(to, "standard_error", stats_error(s) * scale) &&
			    json_put_number(to, "min", s->min * scale) &&
			    json_put_number(to, "max", s->max * scale));
}

static bool put_metric(json_object *to, const struct count_metric *m)
{
	json_object *o;
	char unit[64];

	if (!m->unit)
		return true;
	o = json_object_new_object();
	snprintf(unit, sizeof(unit), "%.1s%s", &m->prefix, m->unit);
	return json_put(to, "metric", o) && json_put_number(o, "value", m->value) && json_put_text(o, "unit", unit);
}

static bool put_counts(json_object *o, const struct count_row *r)
{
	return json_put_number(o, "value", r->value * r->scale) && json_put_text(o, "unit", r->unit) &&
	       json_put_number(o, "counted", r->counted) &&
	       json_put_bool(o, "exact", r->share >= 1 && !r->partial) &&
	       json_put_number(o, "share", r->share) && put_spread(o, &r->runs, r->scale) &&
	       put_metric(o, &r->metric);
}

static bool append_row(json_object *rows, const struct count_table *t, const struct count_row *r)
{
	json_object *o = json_object_new_object();

	return json_append(rows, o) && json_put_text(o, "event", r->event) &&
	       (!r->where || json_put_text(o, t->where_word, r->where)) &&
	       json_put_text(o, "state", count_states[r->state]) && json_put_text(o, "why", count_why(r)) &&
	       (!count_was_open(r) ||
		(json_put_number(o, "enabled_ns", (double)r->enabled) &&
		 json_put_number(o, "running_ns", (double)r->running))) &&
	       (r->state != COUNT_GOOD || put_counts(o, r));
}

static bool put_time(json_object *to, const char *key, const struct stats *s)
{
	json_object *o;

	if (!s->n)
		return true;
	o = json_object_new_object();
	return json_put(to, key, o) && json_put_number(o, "mean", s->mean) && put_spread(o, s, 1);
}

static bool put_command(json_object *root, const struct count_table *t)
{
	json_object *words;

	if (!t->command)
		return true;
	words = json_object_new_array();
	if (!json_put(root, "command", words))
		return false;
	for (const char *const *w = t->command; *w; w++)
		if (!json_append(words, json_text(*w, strlen(*w))))
			return false;
	return t->exit_status < 0 || (json_put_number(root, "exit_status", t->exit_status) &&
				      json_put_unsigned(root, "failed", t->failed));
}

static bool fill(json_object *root, const struct count_table *t)
{
	json_object *rows = json_object_new_array();

	if (t->is_interval ? !json_put_number(root, "time", t->time)
			   : !(json_put_text(root, "target", t->title) && put_command(root, t) &&
			       json_put_number(root, "runs", (double)t->elapsed.n) &&
			       put_time(root, "elapsed_s", &t->elapsed) &&
			       put_time(root, "user_s", &t->user) && put_time(root, "sys_s", &t->sys)))
		return json_object_put(rows), false;
	if (!json_put(root, "events", rows))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_row(rows, t, &t->rows[i]))
			return false;
	return true;
}

int counts_json(const struct count_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return (t->is_interval ? json_line : json_document)(root, root && fill(root, t), out);
}

/* ---- two commands ------------------------------------------------------------ */

static bool put_side(json_object *to, const char *key, const struct stats *s, double scale)
{
	json_object *o = json_object_new_object();

	return json_put(to, key, o) && json_put_number(o, "mean", s->mean * scale) && put_spread(o, s, scale);
}

static bool append_compared(json_object *rows, const struct compared_table *t, const struct compared_row *r)
{
	json_object *o = json_object_new_object();
	double low = (r->difference.mean - r->difference.half) * r->scale;
	double high = (r->difference.mean + r->difference.half) * r->scale;

	return json_append(rows, o) && json_put_text(o, "event", r->event) &&
	       json_put_text(o, "metric", r->metric) && json_put_text(o, "unit", r->unit) &&
	       put_side(o, "a", &r->a, r->scale) && put_side(o, "b", &r->b, r->scale) &&
	       json_put_number(o, "difference", r->difference.mean * r->scale) &&
	       json_put_number(o, "low", low) && json_put_number(o, "high", high) &&
	       json_put_number(o, "share", r->share) && json_put_text(o, "verdict", compared_verdict(t, r));
}

/* b / a. Without `low` and `high`, too few or too different runs leave it open. */
static bool put_ratio(json_object *root, const char *key, const struct compared_table *t, const struct compared_row *row)
{
	struct stats_ratio r;
	json_object *o;

	if (!compared_ratio(t, row, &r))
		return true;
	o = json_object_new_object();
	return json_put(root, key, o) && json_put_number(o, "ratio", r.ratio) &&
	       (isinf(r.high) || (json_put_number(o, "low", r.low) && json_put_number(o, "high", r.high))) &&
	       json_put_text(o, "verdict", compared_verdict(t, row));
}

static bool put_sides(json_object *root, const struct compared_side *a, const struct compared_side *b)
{
	return json_put_text(root, "a", a->command) && json_put_text(root, "b", b->command) &&
	       json_put_unsigned(root, "runs", a->runs) &&
	       json_put_unsigned(root, "a_failed", a->failed) && json_put_unsigned(root, "b_failed", b->failed) &&
	       json_put_number(root, "a_exit_status", a->status) && json_put_number(root, "b_exit_status", b->status);
}

static bool fill_compared(json_object *root, const struct compared_table *t)
{
	json_object *rows = json_object_new_array();

	if (!json_put(root, "events", rows) || !put_sides(root, &t->sides[0], &t->sides[1]) ||
	    !json_put_number(root, "confidence", t->confidence) || !put_ratio(root, "elapsed_ratio", t, t->elapsed) ||
	    !put_ratio(root, "cpu_ratio", t, t->cpu))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_compared(rows, t, &t->rows[i]))
			return false;
	return true;
}

int compared_json(const struct compared_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_document(root, root && fill_compared(root, t), out);
}
