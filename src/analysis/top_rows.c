/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top_rows.h"

#include "base/room.h"
#include "events/spec.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

/* ---- columns ---------------------------------------------------------------------------- */

static bool name_is_taken(const struct top_plan *plan, const char *name)
{
	if (!strcmp(name, "key") || !strcmp(name, "name"))
		return true;
	for (size_t i = 0; i < plan->ncolumns; i++)
		if (!strcmp(plan->columns[i].name, name))
			return true;
	return false;
}

/* "runtime/1000" -> "runtime_1000"; if that name is taken, "runtime_1000_2". */
static char *name_for_programs(const struct top_plan *plan, const char *title)
{
	size_t room = strlen(title) + 32, len;
	char *name = malloc(room);

	if (!name)
		return NULL;
	table_word(title, name, room);
	len = strlen(name);
	for (unsigned int i = 2; name_is_taken(plan, name); i++)
		snprintf(name + len, room - len, "_%u", i);
	return name;
}

/* The column with that title, which is added if it is new. -1: out of memory. */
static int column_of(struct top_plan *plan, const char *title, bool by, size_t *column)
{
	struct top_column *added;
	size_t i;

	for (i = 0; i < plan->ncolumns; i++)
		if (!strcmp(plan->columns[i].title, title) && plan->columns[i].by == by)
			break;
	*column = i;
	if (i < plan->ncolumns)
		return 0;
	if (!ROOM_FOR_ONE(plan->columns, i))
		return -1;
	added = &plan->columns[i];
	*added = (struct top_column){
		.title = strdup(title), .name = name_for_programs(plan, title), .by = by,
		.is_unsigned = true,
	};
	plan->ncolumns += added->title && added->name;
	if (plan->ncolumns > i)
		return 0;
	free(added->title);
	free(added->name);
	return -1;
}

/* Moves columns of top-by= before the others. */
static int put_in_order(struct top_plan *plan)
{
	size_t n = plan->ncolumns, to = 0, *place = calloc(n + 1, sizeof(*place));
	struct top_column *sorted = calloc(n + 1, sizeof(*sorted));

	for (size_t i = 0; place && sorted && i < 2 * n; i++)
		if (plan->columns[i % n].by == (i < n)) {
			place[i % n] = to;
			sorted[to++] = plan->columns[i % n];
		}
	if (to) {
		memcpy(plan->columns, sorted, n * sizeof(*sorted));
		for (size_t i = 0; i < plan->nparts; i++)
			for (size_t k = 0; k < plan->parts[i].nvalues; k++)
				plan->parts[i].values[k].column = place[plan->parts[i].values[k].column];
	}
	free(sorted);
	free(place);
	return place && sorted ? 0 : -1;
}

/* ---- values ----------------------------------------------------------------------------- */

static int add_value(struct top_plan *plan, struct top_part *part, struct expr *expr, const char *title,
		     bool by)
{
	size_t column;

	if (!ROOM_FOR_ONE(part->values, part->nvalues) || column_of(plan, title, by, &column)) {
		expr_free(expr);
		return -1;
	}
	part->values[part->nvalues++] = (struct top_value){ expr, column };
	if (expr && expr_type(expr) != EXPR_U64)
		plan->columns[column].is_unsigned = false;
	return 0;
}

static bool is_value(const struct spec_attr *attr)
{
	return !strcmp(attr->name, "top-by") || !strcmp(attr->name, "top-add");
}

static size_t count_values(const struct spec_item *item)
{
	size_t n = 0;

	for (size_t i = 0; i < item->nattrs; i++)
		n += is_value(&item->attrs[i]);
	return n;
}

/* A title is the alias if the event has one column, or "alias.expression" if it has several. */
static int add_expression(struct top_plan *plan, struct top_part *part, struct analysis *a,
			  const struct stream_event *event, const struct spec_attr *attr, struct fault *f)
{
	bool by = !strcmp(attr->name, "top-by");
	char option[16], *title = NULL;
	struct expr *expr;
	int n;

	snprintf(option, sizeof(option), "%s=", attr->name);
	if (key_compile(a, &expr, event, attr->value, option, f))
		return -1;
	if (expr_type(expr) == EXPR_TEXT) {
		expr_free(expr);
		return key_fault(f, option, attr->value, event->name, 0, "this is text", "a number to sum");
	}
	if (!event->asked.alias)
		n = asprintf(&title, "%s", attr->value);
	else if (count_values(event->asked.item) == 1)
		n = asprintf(&title, "%s", event->asked.alias);
	else
		n = asprintf(&title, "%s.%s", event->asked.alias, attr->value);
	if (n < 0)
		expr_free(expr);
	n = n < 0 ? n : add_value(plan, part, expr, title, by);
	free(title);
	return n < 0 ? no_memory(f) : 0;
}

/* The tracepoint's name; with its system if another event has the same name. */
static const char *count_title(const struct stream_event *event, const struct stream_event *events, size_t n)
{
	if (event->asked.alias || !event->tracepoint || event->asked.probe)
		return analysis_counted(event);
	for (size_t i = 0; i < n; i++)
		if (events[i].tracepoint && !strcmp(events[i].tracepoint, event->tracepoint) &&
		    strcmp(events[i].sys, event->sys))
			return event->name;
	return event->tracepoint;
}

static int add_values(struct top_plan *plan, struct top_part *part, struct analysis *a,
		      const struct stream_event *event, struct fault *f)
{
	const struct spec_item *item = event->asked.item;
	const struct stream_event *events;
	size_t n;

	for (size_t i = 0; i < item->nattrs; i++)
		if (is_value(&item->attrs[i]) && add_expression(plan, part, a, event, &item->attrs[i], f))
			return -1;
	if (part->nvalues)
		return 0;
	events = stream_events(a->stream, &n);
	return add_value(plan, part, NULL, count_title(event, events, n), false) ? no_memory(f) : 0;
}

/* ---- keys and names --------------------------------------------------------------------- */

static const char *key_text(const struct stream_event *event, const char *common)
{
	const char *own = spec_attr(event->asked.item, "key");

	return own ? own : common ? common : "_tid";
}

static int compile_key(struct top_part *part, struct analysis *a, const struct stream_event *event,
		       const char *common, struct fault *f)
{
	const char *own = spec_attr(event->asked.item, "key"), *text = key_text(event, common);

	if (key_compile(a, &part->key, event, text, own ? "key=" : "-k", f))
		return -1;
	part->key_is_task = expr_type(part->key) != EXPR_TEXT && key_is_task(text);
	part->key_is_thread = key_is_thread(text);
	part->key_is_sampled = part->key_is_thread || !strcmp(text, "_pid");
	part->key_is_outer = part->key_is_task && text[0] != '_';
	return 0;
}

/* An expression over the key only. */
static int compile_printkey(struct top_part *part, struct analysis *a, const struct stream_event *event,
			    struct fault *f)
{
	const char *text = spec_attr(event->asked.item, "printkey");
	enum expr_type type = expr_type(part->key);
	const struct expr_field field = {
		"key", type == EXPR_TEXT ? EXPR_FIELD_CHARS : type == EXPR_U64 ? EXPR_FIELD_UINT : EXPR_FIELD_SINT,
		.size = type == EXPR_TEXT ? TOP_TEXT : 8,
	};
	const struct expr_schema schema = { &field, 1, analysis_functions, FUNCTIONS };

	if (!text)
		return 0;
	a->names.kernel |= functions_need_kernel(text);
	return key_compile_over(&part->printkey, &schema, event->name, text, "printkey=", f);
}

static int make_part(struct top_plan *plan, struct top_part *part, struct analysis *a,
		     const struct stream_event *event, const char *key, struct fault *f)
{
	const char *comm = spec_attr(event->asked.item, "comm");

	if (compile_key(part, a, event, key, f) || compile_printkey(part, a, event, f) ||
	    (comm && key_compile(a, &part->comm, event, comm, "comm=", f)))
		return -1;
	plan->text_keys |= part->printkey || expr_type(part->key) == EXPR_TEXT;
	plan->named |= part->comm || part->key_is_task;
	return add_values(plan, part, a, event, f);
}

uint64_t top_plan_reads(struct analysis *a, const struct stream_event *event, const char *key)
{
	const struct spec_item *item = event->asked.item;
	uint64_t parts = key_reads(a, event, key_text(event, key)) | key_reads(a, event, spec_attr(item, "comm"));

	for (size_t i = 0; i < item->nattrs; i++)
		if (is_value(&item->attrs[i]))
			parts |= key_reads(a, event, item->attrs[i].value);
	return parts | (count_values(item) ? 0 : analysis_weight_part(event));
}

int top_plan_make(struct top_plan *plan, struct analysis *a, const char *key, struct fault *f)
{
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	*plan = (struct top_plan){ .parts = calloc(n + 1, sizeof(*plan->parts)) };
	if (!plan->parts)
		return no_memory(f);
	for (plan->nparts = 0; plan->nparts < n;) {
		struct stream_event *event = &events[plan->nparts];
		struct top_part *part = &plan->parts[plan->nparts++];

		event->consumer = part;
		if (make_part(plan, part, a, event, key, f))
			return -1;
	}
	return put_in_order(plan) ? no_memory(f) : 0;
}

void top_plan_free(struct top_plan *plan)
{
	for (size_t i = 0; i < plan->nparts; i++) {
		struct top_part *part = &plan->parts[i];

		for (size_t k = 0; k < part->nvalues; k++)
			expr_free(part->values[k].expr);
		free(part->values);
		expr_free(part->key);
		expr_free(part->comm);
		expr_free(part->printkey);
	}
	for (size_t i = 0; i < plan->ncolumns; i++) {
		free(plan->columns[i].title);
		free(plan->columns[i].name);
	}
	free(plan->parts);
	free(plan->columns);
	*plan = (struct top_plan){ 0 };
}

/* ---- printing keys ---------------------------------------------------------------------- */

const char *top_plan_print(const struct top_part *part, struct key_run *run,
			   const struct expr_value *key, size_t *len)
{
	struct expr_value v;
	int n;

	if (!part->printkey)
		return NULL;
	run->run.area[0].bytes = key->type == EXPR_TEXT ? key->text : (const void *)&key->u;
	run->run.area[0].size = key->type == EXPR_TEXT ? TOP_TEXT : sizeof(key->u);
	if (key_eval(part->printkey, run, &v))
		return NULL;
	*len = v.len;
	if (v.type == EXPR_TEXT)
		return v.text;
	n = snprintf(run->text, sizeof(run->text), v.type == EXPR_U64 ? "%llu" : "%lld", (unsigned long long)v.u);
	*len = (size_t)n;
	return run->text;
}

/* The bytes that are hashed: the type of the key, then the number or the text. */
struct top_key {
	char bytes[1 + TOP_TEXT];
	unsigned int len;
};

static void key_bytes(const struct expr_value *key, struct top_key *k)
{
	const void *from = key->type == EXPR_TEXT ? key->text : (const void *)&key->u;
	uint32_t len = key->type == EXPR_TEXT ? key->len : sizeof(key->u);

	len = len < TOP_TEXT ? len : TOP_TEXT - 1;
	k->bytes[0] = key->type == EXPR_TEXT ? 't' : 'n';
	memcpy(k->bytes + 1, from, len);
	k->len = 1 + len;
}

/* Sums and key stand behind the row. */
static struct top_row *new_row(struct top_rows *all, const struct expr_value *key, const struct top_key *k)
{
	const size_t text = sizeof(struct top_row) + all->ncolumns * sizeof(int64_t);
	struct top_row *row = groups_add(&all->rows, k->bytes, k->len, text, text + 1 + TOP_TEXT);

	if (!row)
		return NULL;
	row->sums = (int64_t *)(row + 1);
	row->key = *key;
	if (key->type == EXPR_TEXT) {
		row->key.text = (char *)row + text + 1;
		row->key.len = k->len - 1;
	}
	row->task = -1;
	return row;
}

struct top_row *top_rows_get(struct top_rows *all, const struct top_part *part, const struct expr_value *key)
{
	struct top_row *row;
	struct top_key k;

	key_bytes(key, &k);
	row = groups_find(&all->rows, k.bytes, k.len);
	if (!row && all->rows.n < TOP_MAX_ROWS)
		row = new_row(all, key, &k);
	if (!row) {
		all->refused++;
		return NULL;
	}
	if (!row->events)
		row->part = part;
	return row;
}

void top_row_name(struct top_row *row, const char *text, size_t len)
{
	if (!ROOM_FOR(row->name, row->name_room, 0, len + 1))
		return;
	memcpy(row->name, text, len);
	row->name[len] = '\0';
}

static int64_t as_signed(const struct expr_value *value)
{
	return value->type == EXPR_U64 && value->s < 0 ? INT64_MAX : value->s;
}

void top_row_add(struct top_row *row, size_t column, const struct expr_value *value, bool is_unsigned)
{
	int64_t *sum = &row->sums[column], more = as_signed(value);
	uint64_t u;

	if (is_unsigned) {
		if (__builtin_add_overflow((uint64_t)*sum, value->u, &u))
			u = UINT64_MAX;
		*sum = (int64_t)u;
	} else if (__builtin_add_overflow(*sum, more, sum)) {
		*sum = more < 0 ? INT64_MIN : INT64_MAX;
	}
}

void top_rows_next(struct top_rows *all)
{
	for (struct top_row *row = groups_first(&all->rows); row; row = groups_next(row)) {
		if (!row->events) {
			free(row->name);
			groups_drop(&all->rows, row);
			continue;
		}
		row->events = 0;
		memset(row->sums, 0, all->ncolumns * sizeof(*row->sums));
	}
}

void top_rows_free(struct top_rows *all)
{
	for (struct top_row *row = groups_first(&all->rows); row; row = groups_next(row))
		free(row->name);
	groups_free(&all->rows);
}
