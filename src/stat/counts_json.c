/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as JSON: one document, or a line per interval. */
#include "stat/counts.h"

#include "base/escape.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

static const char *const states[] = {
	[COUNT_GOOD] = "counted", [COUNT_NEVER_RAN] = "not counted",
	[COUNT_NOT_SUPPORTED] = "not supported", [COUNT_NOT_PERMITTED] = "not permitted",
};

/* Takes over value; false if out of memory, so that calls can be chained by &&. */
static bool put(json_object *to, const char *key, json_object *value)
{
	if (value && !json_object_object_add(to, key, value))
		return true;
	json_object_put(value);
	return false;
}

static bool append(json_object *array, json_object *value)
{
	if (value && !json_object_array_add(array, value))
		return true;
	json_object_put(value);
	return false;
}

/* Whole numbers are printed without decimals; json-c would print 5.0. */
static json_object *number(double value)
{
	char text[40];

	if (isinf(value) || isnan(value))
		return NULL;
	if (value == floor(value) && fabs(value) < 9e15)
		return json_object_new_int64((int64_t)value);
	snprintf(text, sizeof(text), "%.12g", value);
	return json_object_new_double_s(value, text);
}

/* Unknown numbers are left out. */
static bool put_number(json_object *to, const char *key, double value)
{
	return isinf(value) || isnan(value) || put(to, key, number(value));
}

/* Names of threads, events and commands are bytes; JSON needs UTF-8. */
static json_object *string(const char *text)
{
	char *safe = escape_whole(text);
	json_object *o = safe ? json_object_new_string(safe) : NULL;

	free(safe);
	return o;
}

static bool put_text(json_object *to, const char *key, const char *text)
{
	return !text || put(to, key, string(text));
}

static bool put_spread(json_object *to, const struct stats *s, double scale)
{
	return s->n < 2 || (put_number(to, "stddev", stats_stddev(s) * scale) &&
			    put_number(to, "standard_error", stats_error(s) * scale) &&
			    put_number(to, "min", s->min * scale) &&
			    put_number(to, "max", s->max * scale));
}

static bool put_metric(json_object *to, const struct count_metric *m)
{
	json_object *o;
	char unit[64];

	if (!m->unit)
		return true;
	o = json_object_new_object();
	snprintf(unit, sizeof(unit), "%.1s%s", &m->prefix, m->unit);
	return put(to, "metric", o) && put_number(o, "value", m->value) && put_text(o, "unit", unit);
}

static bool put_counts(json_object *o, const struct count_row *r)
{
	return put_number(o, "value", r->value * r->scale) && put_text(o, "unit", r->unit) &&
	       put_number(o, "counted", r->counted) &&
	       put(o, "exact", json_object_new_boolean(r->share >= 1)) &&
	       put_number(o, "share", r->share) && put_spread(o, &r->runs, r->scale) &&
	       put_metric(o, &r->metric);
}

static bool append_row(json_object *rows, const struct count_table *t, const struct count_row *r)
{
	json_object *o = json_object_new_object();

	return append(rows, o) && put_text(o, "event", r->event) &&
	       (!r->where || put_text(o, t->where_word, r->where)) &&
	       put_text(o, "state", states[r->state]) && put_text(o, "why", r->why) &&
	       (!count_was_open(r) ||
		(put_number(o, "enabled_ns", (double)r->enabled) &&
		 put_number(o, "running_ns", (double)r->running))) &&
	       (r->state != COUNT_GOOD || put_counts(o, r));
}

static bool put_time(json_object *to, const char *key, const struct stats *s)
{
	json_object *o;

	if (!s->n)
		return true;
	o = json_object_new_object();
	return put(to, key, o) && put_number(o, "mean", s->mean) && put_spread(o, s, 1);
}

static bool put_command(json_object *root, const struct count_table *t)
{
	json_object *words;

	if (!t->command)
		return true;
	words = json_object_new_array();
	if (!put(root, "command", words))
		return false;
	for (const char *const *w = t->command; *w; w++)
		if (!append(words, string(*w)))
			return false;
	return t->exit_status < 0 || put_number(root, "exit_status", t->exit_status);
}

static bool fill(json_object *root, const struct count_table *t)
{
	json_object *rows = json_object_new_array();

	if (t->is_interval ? !put_number(root, "time", t->time)
			   : !(put_text(root, "target", t->title) && put_command(root, t) &&
			       put_number(root, "runs", (double)t->elapsed.n) &&
			       put_time(root, "elapsed_s", &t->elapsed) &&
			       put_time(root, "user_s", &t->user) && put_time(root, "sys_s", &t->sys)))
		return json_object_put(rows), false;
	if (!put(root, "events", rows))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_row(rows, t, &t->rows[i]))
			return false;
	return true;
}

static int print(json_object *root, bool good, bool line, FILE *out)
{
	const int pretty = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	const char *text = good ? json_object_to_json_string_ext(
					  root, JSON_C_TO_STRING_NOSLASHESCAPE | (line ? 0 : pretty))
				: NULL;

	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(root);
	return text ? 0 : -ENOMEM;
}

int counts_json(const struct count_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return print(root, root && fill(root, t), t->is_interval, out);
}

/* ---- two commands ------------------------------------------------------------ */

static bool put_side(json_object *to, const char *key, const struct stats *s, double scale)
{
	json_object *o = json_object_new_object();

	return put(to, key, o) && put_number(o, "mean", s->mean * scale) && put_spread(o, s, scale);
}

static bool append_compared(json_object *rows, const struct compared_row *r)
{
	json_object *o = json_object_new_object();
	double low = (r->difference.mean - r->difference.half) * r->scale;
	double high = (r->difference.mean + r->difference.half) * r->scale;

	return append(rows, o) && put_text(o, "event", r->event) && put_text(o, "unit", r->unit) &&
	       put_side(o, "a", &r->a, r->scale) && put_side(o, "b", &r->b, r->scale) &&
	       put_number(o, "difference", r->difference.mean * r->scale) &&
	       put_number(o, "low", low) && put_number(o, "high", high) &&
	       put_number(o, "share", r->share);
}

static bool fill_compared(json_object *root, const struct compared_table *t)
{
	json_object *rows = json_object_new_array();

	if (!put(root, "events", rows) || !put_text(root, "a", t->a) || !put_text(root, "b", t->b) ||
	    !put_number(root, "runs", t->n ? (double)t->rows[0].a.n : 0) ||
	    !put_number(root, "confidence", t->confidence))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!append_compared(rows, &t->rows[i]))
			return false;
	return true;
}

int compared_json(const struct compared_table *t, FILE *out)
{
	json_object *root = json_object_new_object();

	return print(root, root && fill_compared(root, t), false, out);
}
