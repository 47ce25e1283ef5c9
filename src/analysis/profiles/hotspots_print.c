/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the hottest functions.
 *
 * A function includes the functions that the compiler inlined into it; these are its parts, in rows below it. With
 * --inline-rows, an inlined function is a function like others.
 */
#include "analysis/profiles/hotspots_private.h"

#include "base/escape.h"
#include "engine/pyframes.h"
#include "report/json.h"
#include "report/table.h"
#include "report/unnamed.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ------------------------------------------------------------------------ */

/* What makes a row; NULL or 0: not this. */
struct function_key {
	const char *symbol, *dso, *file, *comm, *cgroup;   /* equal texts have equal addresses */
	struct function *whole;      /* the function that it is inlined into; NULL: it is no part */
	uint64_t start;              /* of struct frame */
	uint64_t blocked, line;
	int64_t pid, tid, cpu;
};

struct function {
	struct function_key key;
	uint64_t self, total;
	uint64_t low, high;          /* range of its addresses in stacks; shown if it has no name */
	const char *file;            /* its source file, or NULL; shown if others have its name */
	bool has_namesake;           /* another row has the same key but for the start */
	size_t number;               /* in the order of appearance */
	const struct hotspot *last;  /* the last one counted: recursion counts once */
	uint64_t more[];             /* self counts of other events */
};

struct functions {
	struct groups all;           /* of struct function */
	size_t nmore;                /* as in struct hotspots */
	unsigned int by;             /* SORT_* */
	bool inline_rows;
};

static struct function_key key_of(const struct functions *all, const struct hotspot *spot, const struct frame *frame)
{
	struct function_key key = { .blocked = spot->key.blocked, .pid = spot->key.pid, .tid = spot->key.tid, .cpu = spot->key.cpu,
				    .cgroup = spot->key.cgroup };

	if (all->by & SORT_COMM)
		key.comm = spot->key.comm;
	if (all->by & SORT_SYMBOL)
		key.symbol = frame->symbol;
	/* of a script's function, the dso says also where it begins: rows of files do not */
	if (all->by & SORT_DSO)
		key.dso = frame->script && frame->file && !(all->by & SORT_SYMBOL) ? frame->file : frame->dso;
	if (!all->inline_rows && all->by & SORT_SYMBOL && all->by & SORT_DSO)
		key.start = frame->start;
	if (all->by & SORT_LINE) {
		key.file = frame->file;
		key.line = frame->line;
	}
	return key;
}

static struct function *function_of(struct functions *all, const struct hotspot *spot, const struct frame *frame,
				    struct function *whole)
{
	struct function_key key = key_of(all, spot, frame);
	struct function *fn;

	key.whole = whole;
	fn = groups_get(&all->all, &key, sizeof(key), sizeof(*fn) + all->nmore * sizeof(*fn->more), UINT32_MAX);
	if (fn && !fn->low && !fn->last) {
		fn->low = UINT64_MAX;
		fn->number = all->all.n;
	}
	return fn;
}

static void see(struct function *fn, const struct frame *frame)
{
	fn->low = frame->addr < fn->low ? frame->addr : fn->low;
	fn->high = frame->addr > fn->high ? frame->addr : fn->high;
	if (!fn->file)
		fn->file = frame->file;
}

/* The frame that frame i was inlined into; i if it is not inlined, or with --inline-rows. */
static uint32_t home_of(const struct functions *all, const struct callstack *stack, uint32_t i)
{
	while (!all->inline_rows && stack->frames[i]->inlined && i + 1 < stack->n)
		i++;
	return i;
}

static void credit(struct functions *all, struct function *fn, const struct hotspot *spot, bool self)
{
	if (self)
		fn->self += spot->weight;
	for (size_t k = 0; k < all->nmore && self; k++)
		fn->more[k] += spot->more[k];
	if (fn->last != spot)
		fn->total += spot->weight;
	fn->last = spot;
}

static void count_spot(struct functions *all, const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);
	uint32_t own = hotspot_own_frame(spot), owner = stack->n ? home_of(all, stack, own) : 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t home = home_of(all, stack, i);
		struct function *whole = function_of(all, spot, stack->frames[home], NULL), *fn = whole;

		if (spot->key.blocked && home == owner && home != i)
			continue;   /* a wait is its function's: the C library's read() has its system call in an inlined one */
		if (whole && home != i)
			fn = function_of(all, spot, stack->frames[i], whole);
		if (!fn)
			continue;
		see(fn, stack->frames[i]);
		credit(all, fn, spot, i == own || i == owner);
	}
}

static int by_self(const struct function *a, const struct function *b)
{
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int by_total(const struct function *a, const struct function *b)
{
	return a->total != b->total ? a->total < b->total ? 1 : -1 : by_self(a, b);
}

typedef int order_fn(const struct function *a, const struct function *b);

/* Parts come after their function. */
static int compare_by(order_fn *order, const struct function *a, const struct function *b)
{
	const struct function *whole_a = a->key.whole ? a->key.whole : a, *whole_b = b->key.whole ? b->key.whole : b;

	if (whole_a != whole_b)
		return order(whole_a, whole_b);
	return a == whole_a ? -(b != whole_b) : b == whole_b ? 1 : order(a, b);
}

static int compare(const void *a, const void *b)
{
	return compare_by(by_self, a, b);
}

static int compare_totals(const void *a, const void *b)
{
	return compare_by(by_total, a, b);
}

/* A row whose key has no start: the first one of its name. */
struct namesake {
	struct function_key key;
	struct function *first;
};

/* Without memory, rows may look the same. */
static void mark_namesakes(struct functions *all)
{
	struct groups names = { 0 };

	for (struct function *fn = groups_first(&all->all); fn; fn = groups_next(fn)) {
		struct function_key key = fn->key;
		struct namesake *name;

		if (!key.start)
			continue;
		key.start = 0;
		name = groups_get(&names, &key, sizeof(key), sizeof(*name), UINT32_MAX);
		if (name && name->first)
			fn->has_namesake = name->first->has_namesake = true;
		else if (name)
			name->first = fn;
	}
	groups_free(&names);
}

/* Fills in the functions, sorted. */
static void find_functions(const struct hotspots *h, struct functions *all, bool totals)
{
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		count_spot(all, spot);
	mark_namesakes(all);
	groups_sort(&all->all, totals ? compare_totals : compare);
}

/* ---- columns -------------------------------------------------------------------------- */

enum { NAME = 64, PART_PERCENT = 1, MADE_PERCENT = 5, UNNAMED_PERCENT = 10, INTERPRETER_PERCENT = 50 };

/* Columns: self, total, time, count; two for each other event; ratios; function (in text with its addresses, in
 * JSON with another column for these), dso. */
struct columns {
	struct table_column *v;
	char (*names)[NAME];         /* names for programs, for other events and ratios */
	char (*titles)[NAME];
	size_t n;
};

static bool is_taken(const struct columns *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return true;
	return !strcmp(name, "function") || !strcmp(name, "shown") || !strcmp(name, "address") ||
	       !strcmp(name, "dso") || !strcmp(name, "comm") || !strcmp(name, "pid") || !strcmp(name, "tid") || !strcmp(name, "cpu") ||
	       !strcmp(name, "line") || !strcmp(name, "state") || !strcmp(name, "cgroup");
}

/* Adds a column; if its name is taken, with a number at the end. */
static struct table_column *add_column(struct columns *c, const char *title, const char *end, enum table_kind kind)
{
	char *name = c->names[c->n], word[NAME - 8];

	table_word(title, word, sizeof(word));
	snprintf(name, NAME, "%s%s", word, end);
	for (unsigned int i = 2; is_taken(c, name); i++)
		snprintf(name, NAME, "%.*s%s_%u", NAME - 24, word, end, i);
	c->v[c->n] = (struct table_column){ name, kind };
	return &c->v[c->n++];
}

static void add_others(struct columns *c, const struct hotspots *h, const struct hotspots_view *view)
{
	for (size_t i = 0; i < h->nmore; i++) {
		char *title = c->titles[c->n];

		snprintf(title, NAME, "%.*s%%", NAME - 2, view->more[i]);
		add_column(c, view->more[i], "", TABLE_PERCENT)->title = title;
		add_column(c, view->more[i], "_count", TABLE_INTEGER)->where = TABLE_ONLY_JSON;
	}
	for (size_t i = 0; i < view->nratios; i++) {
		struct table_column *ratio = add_column(c, view->ratios[i].unit, "", TABLE_NUMBER);

		ratio->title = view->ratios[i].unit;
		ratio->digits = 2;
	}
}

/* False: out of memory. To be freed in any case. */
static bool make_columns(struct columns *c, const struct hotspots *h, const struct hotspots_view *view, unsigned int by)
{
	size_t room = 12 + 2 * h->nmore + view->nratios;

	*c = (struct columns){ calloc(room, sizeof(*c->v)), calloc(room, NAME), calloc(room, NAME), 0 };
	if (!c->v || !c->names || !c->titles)
		return false;
	c->v[c->n++] = (struct table_column){ "self", TABLE_PERCENT, .title = "self%" };
	c->v[c->n++] = (struct table_column){ "total", TABLE_PERCENT, .title = "total%" };
	if (view->timed)
		c->v[c->n++] = (struct table_column){ "time", TABLE_DURATION, .title = "self", .unit = "ms" };
	if (view->counted)
		c->v[c->n++] = (struct table_column){ "count", TABLE_INTEGER, .where = TABLE_ONLY_JSON };
	add_others(c, h, view);
	if (by & (SORT_COMM | SORT_PID))
		c->v[c->n++] = (struct table_column){ "comm", TABLE_TEXT, .title = by & SORT_COMM ? "task" : "process" };
	if (by & SORT_PID)
		c->v[c->n++] = (struct table_column){ "pid", TABLE_INTEGER };
	if (by & SORT_TID)
		c->v[c->n++] = (struct table_column){ "tid", TABLE_INTEGER };
	if (by & SORT_CPU)
		c->v[c->n++] = (struct table_column){ "cpu", TABLE_INTEGER };
	if (by & SORT_CGROUP)
		c->v[c->n++] = (struct table_column){ "cgroup", TABLE_TEXT, .fit = FIT_PATH };
	if (by & SORT_SYMBOL) {
		c->v[c->n++] = (struct table_column){ "shown", TABLE_TEXT, .title = "function", .where = TABLE_ONLY_TEXT,
						    .fit = FIT_NAME };
		c->v[c->n++] = (struct table_column){ "function", TABLE_TEXT, .where = TABLE_ONLY_JSON };
		c->v[c->n++] = (struct table_column){ "address", TABLE_TEXT, .where = TABLE_ONLY_JSON };
	}
	if (view->timed && !(by & SORT_SYMBOL))   /* names of functions say it */
		c->v[c->n++] = (struct table_column){ "state", TABLE_TEXT };
	if (by & SORT_LINE)
		c->v[c->n++] = (struct table_column){ "line", TABLE_TEXT, .fit = FIT_PATH };
	if (by & SORT_DSO)
		c->v[c->n++] = (struct table_column){ "dso", TABLE_TEXT, .fit = FIT_PATH };
	return true;
}

static void free_columns(struct columns *c)
{
	free(c->v);
	free(c->names);
	free(c->titles);
}

static double count_of(const struct function *fn, size_t event)
{
	return (double)(event ? fn->more[event - 1] : fn->self);
}

static void put_ratio(struct table *t, const struct function *fn, const struct hotspots_ratio *r)
{
	double by = count_of(fn, r->by);

	if (by > 0)
		table_number(t, r->factor * count_of(fn, r->of) / by);
	else
		table_none(t);
}

/* The range of addresses of a function without a name; the start of one whose name others have; "": neither. */
static void address_text(const struct function *fn, char *text, size_t size)
{
	*text = '\0';
	if (fn->has_namesake)
		snprintf(text, size, "%#llx", (unsigned long long)fn->key.start);
	if (fn->key.symbol || !fn->high)
		return;
	snprintf(text, size, fn->low < fn->high ? "%#llx-%#llx" : "%#llx", (unsigned long long)fn->low,
		 (unsigned long long)fn->high);
}

/* What is shown behind the name: " (job.c, 0x1129)" if others have that name, else the address, if any. */
static void place_text(const struct function *fn, const char *address, char *text, size_t size)
{
	const char *slash = fn->file ? strrchr(fn->file, '/') : NULL, *file = slash ? slash + 1 : fn->file;

	if (fn->has_namesake)
		snprintf(text, size, " (%s%s%s)", file ? file : "", file ? ", " : "", address);
	else
		snprintf(text, size, "%s%s", *address ? " " : "", address);
}

static void put_name(struct table *t, const struct function *fn)
{
	const char *name = fn->key.symbol ? fn->key.symbol : "[unknown]", *blocked = fn->key.blocked ? " (blocked)" : "";
	char address[64], place[384];

	address_text(fn, address, sizeof(address));
	place_text(fn, address, place, sizeof(place));
	table_printf(t, "%s%s%s%s%s", fn->key.whole ? "    " : "", name, place, fn->key.whole ? " (inlined)" : "", blocked);
	table_printf(t, "%s%s", name, blocked);
	if (*address)
		table_text(t, address);
	else
		table_none(t);
}

static void put_line(struct table *t, const struct function *fn)
{
	if (fn->key.file && fn->key.line)
		table_printf(t, "%s:%u", fn->key.file, (unsigned int)fn->key.line);
	else
		table_text(t, "[unknown]");
}

/* The cells that say what the row is of. */
static void put_key(struct table *t, const struct hotspots *h, const struct hotspots_view *view, const struct function *fn,
		    unsigned int by)
{
	if (by & (SORT_COMM | SORT_PID))
		table_text(t, by & SORT_COMM ? fn->key.comm : hotspots_process(h, fn->key.pid));
	if (by & SORT_PID)
		table_task(t, (pid_t)fn->key.pid);
	if (by & SORT_TID)
		table_task(t, (pid_t)fn->key.tid);
	if (by & SORT_CPU && fn->key.cpu == UINT32_MAX)
		table_none(t);   /* not recorded */
	else if (by & SORT_CPU)
		table_integer(t, fn->key.cpu);
	if (by & SORT_CGROUP)
		table_text(t, fn->key.cgroup);
	if (by & SORT_SYMBOL)
		put_name(t, fn);
	if (view->timed && !(by & SORT_SYMBOL))
		table_text(t, fn->key.blocked ? "blocked" : "on CPU");
	if (by & SORT_LINE)
		put_line(t, fn);
	if (by & SORT_DSO && fn->key.whole)
		table_none(t);
	else if (by & SORT_DSO)
		table_text(t, fn->key.dso);
	if (fn->key.whole)
		table_part(t, "inlined");
}

static void put_function(struct table *t, const struct hotspots *h, const struct hotspots_view *view,
			 const struct function *fn, unsigned int by)
{
	table_row(t);
	table_number(t, hotspots_percent(fn->self, h->weight));
	table_number(t, hotspots_percent(fn->total, h->weight));
	if (view->timed || view->counted)
		table_unsigned(t, fn->self);
	for (size_t i = 0; i < h->nmore; i++) {
		table_number(t, hotspots_percent(fn->more[i], view->more_counts[i]));
		table_unsigned(t, fn->more[i]);
	}
	for (size_t i = 0; i < view->nratios; i++)
		put_ratio(t, fn, &view->ratios[i]);
	put_key(t, h, view, fn, by);
}

/* Text leaves out parts below PART_PERCENT. */
static bool is_shown(const struct analysis *a, const struct hotspots *h, const struct function *fn)
{
	const struct function *whole = fn->key.whole;

	if (!whole && fn->key.dso && !hotspots_selects_dso(a->opts, fn->key.dso))
		return false;
	if (!whole)
		return hotspots_percent(fn->total, h->weight) >= a->opts->least;
	return is_shown(a, h, whole) && (a->opts->json || hotspots_percent(fn->self, h->weight) >= PART_PERCENT);
}

static void print_table(struct analysis *a, struct table *t, size_t max_rows, bool fits)
{
	struct table_style style = { .terminal = analysis_terminal(a->opts), .max_rows = max_rows,
				     .all_by = fits ? NULL : "--rows 0" };

	analysis_put_table(a, t, &style);
}

/* ---- the table ------------------------------------------------------------------------ */

static void describe_counts(const struct hotspots *h, const struct hotspots_view *view, struct table *t)
{
	json_object *counts = json_object_new_object();

	json_object_object_add(counts, view->what, json_object_new_uint64(view->count));
	for (size_t i = 0; i < h->nmore; i++)
		json_object_object_add(counts, view->more[i], json_object_new_uint64(hotspots_more(view, i)));
	table_extra(t, "counts", counts);
}

static void describe(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view,
		     const char *when, struct table *t)
{
	const struct stream_sampling *sampling = view->event ? view->event->sampling : NULL;
	const struct perf_event_attr *attr = sampling ? &sampling->attr.attr : NULL;
	char *caption;

	table_extra(t, "idle", json_object_new_int64((int64_t)view->idle));
	table_extra(t, "time", json_object_new_string(when));
	table_extra(t, "event", json_object_new_string(view->what));
	if (attr && attr->sample_freq)
		table_extra(t, attr->freq ? "freq" : "period", json_object_new_uint64(attr->sample_freq));
	table_extra(t, "samples", json_object_new_int64((int64_t)h->samples));
	table_extra(t, "weight", json_object_new_int64((int64_t)h->weight));
	analysis_put_losses(a, t);
	if (view->timed) {
		table_extra(t, "on_cpu", json_object_new_uint64(h->weight - h->blocked));
		table_extra(t, "off_cpu", json_object_new_uint64(h->blocked));
		table_extra(t, "preempted", json_object_new_uint64(view->preempted));
		table_extra(t, "own", json_object_new_uint64(h->own));
		table_extra(t, "unseen", json_object_new_uint64(view->unseen));
	}
	if (h->nmore)
		describe_counts(h, view, t);
	if (a->opts->comms.n || a->opts->dsos.n)
		table_extra(t, "left_out", json_object_new_uint64(h->left_out));
	if (view->torn)
		table_extra(t, "inconsistent", json_object_new_uint64(view->torn));
	if (view->late)
		table_extra(t, "skipped", json_object_new_uint64(view->late));
	if (view->without_kernel)
		table_extra(t, "without_kernel", json_object_new_boolean(true));
	if (stream_has_unwatched(a->stream))
		table_extra(t, "unwatched", json_object_new_boolean(true));
	if (view->counted_all)
		table_extra(t, "counted", json_object_new_uint64(view->counted_all));
	if (view->faults)
		table_extra(t, "faults", json_object_new_uint64(view->faults));
	if (view->cpu_time)
		table_extra(t, "cpu_time", json_object_new_uint64(view->cpu_time));
	if (view->skid)
		table_extra(t, "skid", json_object_new_uint64(view->skid));
	caption = hotspots_caption(a, h, view, when);
	table_caption(t, "%s", caption ? caption : view->name);
	free(caption);
}

static size_t rows_of(const struct analysis *a, const struct hotspots_view *view)
{
	const size_t rows = a->opts->rows ? a->opts->rows : view->functions;

	return view->fits && rows > view->fits ? view->fits : rows;
}

static void print_functions(struct analysis *a, const struct hotspots *h,
			    const struct hotspots_view *view, const char *when)
{
	/* JSON has the same columns whatever ran */
	const bool tasks = !a->opts->sort && !a->opts->json && hotspots_have_programs(h);
	const unsigned int by = a->opts->sort ? (unsigned int)a->opts->sort : SORT_DEFAULT | (tasks ? SORT_COMM : 0);
	/* parts of a function have rows below it only if rows are functions */
	struct functions all = { .nmore = h->nmore, .by = by,
				 .inline_rows = a->opts->inline_rows || !(by & SORT_SYMBOL) || by & SORT_LINE };
	struct columns columns;
	struct table t;
	bool good = make_columns(&columns, h, view, by);

	find_functions(h, &all, a->opts->by_total);
	table_init(&t, view->name, columns.v, good ? columns.n : 0);
	t.lost |= !good;
	for (const struct function *fn = groups_first(&all.all); fn && good; fn = groups_next(fn))
		if (is_shown(a, h, fn))
			put_function(&t, h, view, fn, by);
	describe(a, h, view, when, &t);
	if (a->opts->json || view->functions)
		print_table(a, &t, rows_of(a, view), view->fits);
	else
		printf("%s\n", t.caption ? t.caption : view->name);
	table_free(&t);
	free_columns(&columns);
	groups_free(&all.all);
}

/* ---- remarks --------------------------------------------------------------------------- */

/* Whether the samples in a function are part of what a remark is about. frame: where they are. */
typedef bool remarked_fn(const struct frame *frame);

static bool is_made(const struct frame *frame)
{
	return !frame->symbol && !strcmp(frame->dso, "//anon");
}

/* A file that was read, in which the function is not known, or only by its address. */
static bool is_nameless(const struct frame *frame)
{
	struct timespec written;
	uid_t owner;

	if (frame->symbol)
		return !frame->kernel && is_unnamed(frame->symbol, frame->dso);
	return frame->object && dso_file(frame->object, &owner, &written);
}

static bool is_lineless(const struct frame *frame)
{
	return frame->object && frame->symbol && !frame->file;
}

static bool is_nameless_kernel(const struct frame *frame)
{
	return frame->kernel && !frame->guest && !frame->symbol;
}

static bool is_of_user(const struct frame *frame)
{
	return frame->object && !frame->kernel;
}

static bool is_without_inlines(const struct frame *frame)
{
	return frame->object && dso_lacks_inlines(frame->object);
}

/* The percentage of the samples in such functions. most: the one with the most, if there is any; or NULL. */
static double remarked(const struct hotspots *h, remarked_fn *is, const struct frame **most)
{
	uint64_t sum = 0, most_weight = 0;

	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot)) {
		const struct callstack *stack = hotspot_stack(spot);

		if (!stack->n || !is(stack->frames[0]))
			continue;
		sum += spot->weight;
		if (most && spot->weight > most_weight) {
			most_weight = spot->weight;
			*most = stack->frames[0];
		}
	}
	return hotspots_percent(sum, h->weight);
}

static void tell_unnamed(const struct hotspots *h)
{
	const struct frame *most = NULL;
	double percent = remarked(h, is_nameless, &most);
	char name[256] = "[unknown]", dso[512];

	if (percent < UNNAMED_PERCENT)
		return;
	if (most->symbol)
		escape_terminal(most->symbol, strlen(most->symbol), name, sizeof(name));
	escape_terminal(most->dso, strlen(most->dso), dso, sizeof(dso));
	printf("%.0f %% of the samples are in functions without a name, such as %s: %s has no symbols for them; names come from its "
	       "debug file, in /usr/lib/debug or beside it (.gnu_debuglink), or from a copy with symbols in perf's cache "
	       "(perf buildid-cache --add FILE)\n", percent, name, dso);
}

static void tell_no_inlines(const struct hotspots *h)
{
	const struct frame *most = NULL;
	double percent = remarked(h, is_without_inlines, &most);
	char dso[512], where[1024];

	if (percent < UNNAMED_PERCENT)
		return;
	escape_terminal(most->dso, strlen(most->dso), dso, sizeof(dso));
	escape_terminal(dso_lacks_inlines(most->object), strlen(dso_lacks_inlines(most->object)), where, sizeof(where));
	printf("%.0f %% of the samples are in files whose inlined functions are not all known, such as %s: they are described in %s\n",
	       percent, dso, where);
}

/* Who asks for callers wants all of them. */
static void tell_frame_pointers(const struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	if ((a->opts->callers || a->opts->callees ? a->opts->called : a->opts->tree) && view->stacks && view->event && !view->event->opened.stack_format &&
	    remarked(h, is_of_user, NULL) >= UNNAMED_PERCENT)
		printf("these callers are from frame pointers, which leave out the caller of a function that sets up no frame; %s"
		       "--call-graph dwarf finds it\n", a->opts->stream.input ? "record " : "");
}

static void print_remarks(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	struct stream_totals totals;
	char cut[1024];

	stream_totals(a->stream, &totals);
	if (names_say_cut(&a->names, cut, sizeof(cut)))
		printf("%s\n", cut);
	tell_frame_pointers(a, h, view);
	if (!h->samples && stream_has_unwatched(a->stream))
		printf("no samples: the kernel removed the events when the program was executed (stderr has the reason)\n");
	else if (view->if_none && !h->samples && !totals.lost && !view->torn)
		printf("%s\n", view->if_none);
	if (view->unseen)
		printf("%llu periods on a CPU are left out: the kernel reported no switch at their beginning\n",
		       (unsigned long long)view->unseen);
	if (view->skid)
		printf("%llu of %llu samples are in the kernel, though %s counts user space only: the CPU is a little "
		       "late to stop, and the kernel may run by then (skid)\n", (unsigned long long)view->skid,
		       (unsigned long long)h->samples, view->what);
	if (remarked(h, is_made, NULL) >= MADE_PERCENT)
		printf("%.0f %% of the samples are in code that was generated at run time and has no names (//anon); "
		       "to get names, use node --perf-basic-prof, python3 -X perf, or jcmd PID Compiler.perfmap\n",
		       remarked(h, is_made, NULL));
	if (*a->names.no_kernel && !a->names.said_no_kernel && remarked(h, is_nameless_kernel, NULL) >= PART_PERCENT)   /* else a hint says it */
		printf("%s\n", a->names.no_kernel);
	tell_unnamed(h);
	tell_no_inlines(h);
	if (a->opts->sort & SORT_LINE && remarked(h, is_lineless, NULL) >= UNNAMED_PERCENT)
		printf("%.0f %% of the samples are in programs without source lines: build them with -g, or install their debug files\n",
		       remarked(h, is_lineless, NULL));
	if (view->may_read_python && remarked(h, pyframes_is_interpreter, NULL) >= INTERPRETER_PERCENT)
		printf("%.0f %% of the samples are in the Python interpreter: --python shows the program's functions instead\n",
		       remarked(h, pyframes_is_interpreter, NULL));
}

void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to)
{
	char when[64];

	hotspots_prepare(a, h);
	print_functions(a, h, view, analysis_time_text(a, to, when, sizeof(when)));
	if (!a->opts->json)
		hotspots_print_stacks(a, h, view);
	if (a->opts->annotate.n && !view->fits)
		hotspots_annotate(a, h, view);
	if (!a->opts->json)
		print_remarks(a, h, view);
	if (h->refused && view->chainless)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the time is missing from the tables: %s was sampled without call "
			"chains; record with -g\n", view->name, hotspots_percent(h->refused, h->weight), view->chainless);
	else if (h->refused)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the samples are missing from the tables: too many different "
			"stacks\n", view->name, hotspots_percent(h->refused, h->weight));
}

enum { OTHER_LINES = 4, LEAST_ROWS = 3 };   /* OTHER_LINES: title, heading, "... more", cursor */

void hotspots_refresh(struct analysis *a, struct hotspots *h, struct hotspots_view view, uint64_t to)
{
	const unsigned int rows = terminal_of(stdout).rows;

	if (rows)
		view.fits = rows > OTHER_LINES + LEAST_ROWS ? rows - OTHER_LINES : LEAST_ROWS;
	view.stacks = 0;
	terminal_clear();
	hotspots_print(a, h, &view, to);
}
