/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the hottest functions and stacks.
 *
 * A function includes the functions that the compiler inlined into it; these are its parts, in rows below it. With
 * --inline-rows, an inlined function is a function like others.
 */
#include "analysis/profiles/hotspots_private.h"

#include "base/escape.h"
#include "report/json.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ------------------------------------------------------------------------ */

/* What makes a row; NULL or 0: not this. */
struct function_key {
	const char *symbol, *dso, *file, *comm;   /* equal texts have equal addresses */
	struct function *whole;      /* the function that it is inlined into; NULL: it is no part */
	uint64_t blocked, line;
	int64_t pid, cpu;
};

struct function {
	struct function_key key;
	uint64_t self, total;
	uint64_t low, high;          /* range of its addresses in stacks; shown if it has no name */
	size_t number;               /* in the order of appearance */
	const struct hotspot *last;  /* the last one counted: recursion counts once */
	UT_hash_handle hh;
	uint64_t more[];             /* self counts of other events */
};

struct functions {
	struct function *all;
	size_t nmore;                /* as in struct hotspots */
	unsigned int by;             /* SORT_* */
	bool inline_rows;
};

static struct function_key key_of(const struct functions *all, const struct hotspot *spot, const struct frame *frame)
{
	struct function_key key = { .blocked = spot->key.blocked, .pid = spot->key.pid, .cpu = spot->key.cpu };

	if (all->by & SORT_COMM)
		key.comm = spot->key.comm;
	if (all->by & SORT_SYMBOL)
		key.symbol = frame->symbol;
	if (all->by & SORT_DSO)
		key.dso = frame->dso;
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
	struct function *fn = NULL;

	key.whole = whole;
	HASH_FIND(hh, all->all, &key, sizeof(key), fn);
	if (fn)
		return fn;
	fn = calloc(1, sizeof(*fn) + all->nmore * sizeof(*fn->more));
	if (!fn)
		return NULL;
	fn->key = key;
	fn->low = UINT64_MAX;
	fn->number = HASH_COUNT(all->all);
	HASH_ADD(hh, all->all, key, sizeof(key), fn);
	return fn;
}

static void widen(struct function *fn, uint64_t addr)
{
	fn->low = addr < fn->low ? addr : fn->low;
	fn->high = addr > fn->high ? addr : fn->high;
}

static bool is_of_scheduler(const struct frame *frame)
{
	return frame->symbol && strstr(frame->symbol, "schedule");
}

/* The frame whose self weight this is: the innermost one. Blocked stacks all end in the scheduler: for them, it is
 * the function in user space that called the kernel, or, in kernel threads, the first function outside of the
 * scheduler. */
static uint32_t own_frame(const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);

	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!stack->frames[i]->kernel)
			return i;
	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!is_of_scheduler(stack->frames[i]))
			return i;
	return 0;
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
	uint32_t own = own_frame(spot), owner = stack->n ? home_of(all, stack, own) : 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t home = home_of(all, stack, i);
		struct function *whole = function_of(all, spot, stack->frames[home], NULL), *fn = whole;

		if (whole && home != i)
			fn = function_of(all, spot, stack->frames[i], whole);
		if (!fn)
			continue;
		widen(fn, stack->frames[i]->addr);
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

/* Parts come after their function. */
static int compare(const struct function *a, const struct function *b)
{
	const struct function *whole_a = a->key.whole ? a->key.whole : a, *whole_b = b->key.whole ? b->key.whole : b;

	if (whole_a != whole_b)
		return by_self(whole_a, whole_b);
	return a == whole_a ? -(b != whole_b) : b == whole_b ? 1 : by_self(a, b);
}

/* Fills in the functions, sorted. */
static void find_functions(const struct hotspots *h, struct functions *all)
{
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		count_spot(all, spot);
	HASH_SORT(all->all, compare);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* ---- columns -------------------------------------------------------------------------- */

enum { NAME = 64, PART_PERCENT = 1, MADE_PERCENT = 5 };

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
	       !strcmp(name, "dso") || !strcmp(name, "comm") || !strcmp(name, "pid") || !strcmp(name, "cpu") ||
	       !strcmp(name, "line");
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
	if (by & SORT_COMM)
		c->v[c->n++] = (struct table_column){ "comm", TABLE_TEXT, .title = "task" };
	if (by & SORT_PID)
		c->v[c->n++] = (struct table_column){ "pid", TABLE_INTEGER };
	if (by & SORT_CPU)
		c->v[c->n++] = (struct table_column){ "cpu", TABLE_INTEGER };
	if (by & SORT_SYMBOL) {
		c->v[c->n++] = (struct table_column){ "shown", TABLE_TEXT, .title = "function", .where = TABLE_ONLY_TEXT };
		c->v[c->n++] = (struct table_column){ "function", TABLE_TEXT, .where = TABLE_ONLY_JSON };
		c->v[c->n++] = (struct table_column){ "address", TABLE_TEXT, .where = TABLE_ONLY_JSON };
	}
	if (by & SORT_LINE)
		c->v[c->n++] = (struct table_column){ "line", TABLE_TEXT };
	if (by & SORT_DSO)
		c->v[c->n++] = (struct table_column){ "dso", TABLE_TEXT };
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

/* The range of addresses of a function without a name; "": it has a name, or no address. */
static void address_text(const struct function *fn, char *text, size_t size)
{
	*text = '\0';
	if (fn->key.symbol || !fn->high)
		return;
	snprintf(text, size, fn->low < fn->high ? "%#llx-%#llx" : "%#llx", (unsigned long long)fn->low,
		 (unsigned long long)fn->high);
}

static void put_name(struct table *t, const struct function *fn)
{
	const char *name = fn->key.symbol ? fn->key.symbol : "[unknown]", *blocked = fn->key.blocked ? " (blocked)" : "";
	char address[64];

	address_text(fn, address, sizeof(address));
	table_printf(t, "%s%s%s%s%s%s", fn->key.whole ? "    " : "", name, *address ? " " : "", address,
		     fn->key.whole ? " (inlined)" : "", blocked);
	table_printf(t, "%s%s", name, blocked);
	if (*address)
		table_text(t, address);
	else
		table_none(t);
}

static void put_line(struct table *t, const struct function *fn)
{
	if (fn->key.file)
		table_printf(t, "%s:%u", fn->key.file, (unsigned int)fn->key.line);
	else
		table_text(t, "[unknown]");
}

/* The cells that say what the row is of. */
static void put_key(struct table *t, const struct function *fn, unsigned int by)
{
	if (by & SORT_COMM)
		table_text(t, fn->key.comm);
	if (by & SORT_PID)
		table_integer(t, fn->key.pid);
	if (by & SORT_CPU && fn->key.cpu == UINT32_MAX)
		table_none(t);   /* not recorded */
	else if (by & SORT_CPU)
		table_integer(t, fn->key.cpu);
	if (by & SORT_SYMBOL)
		put_name(t, fn);
	if (by & SORT_LINE)
		put_line(t, fn);
	if (!(by & SORT_DSO))
		return;
	if (fn->key.whole)
		table_part(t, "inlined");
	else
		table_text(t, fn->key.dso);
}

static void put_function(struct table *t, const struct hotspots *h, const struct hotspots_view *view,
			 const struct function *fn, unsigned int by)
{
	table_row(t);
	table_number(t, percent(fn->self, h->weight));
	table_number(t, percent(fn->total, h->weight));
	if (view->timed || view->counted)
		table_unsigned(t, fn->self);
	for (size_t i = 0; i < h->nmore; i++) {
		table_number(t, percent(fn->more[i], view->more_counts[i]));
		table_unsigned(t, fn->more[i]);
	}
	for (size_t i = 0; i < view->nratios; i++)
		put_ratio(t, fn, &view->ratios[i]);
	put_key(t, fn, by);
}

/* Text leaves out parts below PART_PERCENT. */
static bool is_shown(const struct analysis *a, const struct hotspots *h, const struct hotspots_view *view,
		     const struct function *fn)
{
	const struct function *whole = fn->key.whole;

	if (!whole)
		return percent(fn->total, h->weight) >= view->least;
	return is_shown(a, h, view, whole) && (a->opts->json || percent(fn->self, h->weight) >= PART_PERCENT);
}

static void print_table(struct analysis *a, struct table *t, size_t max_rows)
{
	struct table_style style = { .terminal = terminal_of(stdout), .max_rows = max_rows };

	if (a->opts->json ? table_json(t, stdout) : table_print(t, &style, stdout))
		fprintf(stderr, "perf-prof: %s: out of memory for the table\n", t->name);
}

/* ---- the table ------------------------------------------------------------------------ */

static uint64_t more_count(const struct hotspots_view *view, size_t i)
{
	return view->more_counts[i] + view->more_idle[i];
}

static void say_counts(const struct hotspots *h, const struct hotspots_view *view, FILE *out)
{
	fprintf(out, "; counted %llu%s", (unsigned long long)view->count, view->in_ns ? " ns" : "");
	for (size_t i = 0; i < h->nmore; i++)
		fprintf(out, ", %s %llu", view->more[i], (unsigned long long)more_count(view, i));
}

static void say_throttled(struct analysis *a, const struct hotspots_view *view, FILE *out)
{
	const uint64_t times = stream_throttled_times(a->stream, view->event);

	if (times)
		fprintf(out, ", throttled %llu times", (unsigned long long)times);
}

/* The line above the table; NULL: out of memory. */
static char *caption_of(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view,
			const char *when)
{
	struct stream_totals totals;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	stream_totals(a->stream, &totals);
	fprintf(out, "%s %s: %llu samples of %s, %llu lost", when, view->name, (unsigned long long)h->samples,
		view->sampled ? view->sampled : view->what, (unsigned long long)totals.lost);
	say_throttled(a, view, out);
	if (view->timed)
		fprintf(out, "; %.3f ms on CPUs, %.3f ms off", (double)(h->weight - h->blocked) / 1e6,
			(double)h->blocked / 1e6);
	if (view->counted)
		say_counts(h, view, out);
	if (view->idle && !view->timed)
		fprintf(out, "; plus %.1f %% idle%s", percent(view->idle, view->idle + h->weight),
			view->has_outside ? " or in tasks outside of this PID namespace" : "");
	if (view->placeless && h->samples)
		fputs("; they don't say where", out);
	fclose(out);
	return text;
}

static void describe_counts(const struct hotspots *h, const struct hotspots_view *view, struct table *t)
{
	json_object *counts = json_object_new_object();

	json_object_object_add(counts, view->what, json_object_new_uint64(view->count));
	for (size_t i = 0; i < h->nmore; i++)
		json_object_object_add(counts, view->more[i], json_object_new_uint64(more_count(view, i)));
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
		table_extra(t, "unseen", json_object_new_uint64(view->unseen));
	}
	if (h->nmore)
		describe_counts(h, view, t);
	if (view->skid)
		table_extra(t, "skid", json_object_new_uint64(view->skid));
	caption = caption_of(a, h, view, when);
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
	const unsigned int by = a->opts->sort ? (unsigned int)a->opts->sort : SORT_DEFAULT;
	/* parts of a function have rows below it only if rows are functions */
	struct functions all = { .nmore = h->nmore, .by = by, .inline_rows = a->opts->inline_rows || by != SORT_DEFAULT };
	struct columns columns;
	struct table t;
	bool good = make_columns(&columns, h, view, by);

	find_functions(h, &all);
	table_init(&t, view->name, columns.v, good ? columns.n : 0);
	t.lost |= !good;
	for (const struct function *fn = good ? all.all : NULL; fn; fn = fn->hh.next)
		if (is_shown(a, h, view, fn))
			put_function(&t, h, view, fn, by);
	describe(a, h, view, when, &t);
	if (a->opts->json || view->functions)
		print_table(a, &t, rows_of(a, view));
	else
		printf("%s\n", t.caption ? t.caption : view->name);
	table_free(&t);
	free_columns(&columns);
	HASH_FREE(all.all);
}

/* ---- stacks --------------------------------------------------------------------------- */

/* The hotspot after `last` in descending order of weight. */
static const struct hotspot *next_heaviest(const struct hotspots *h, const struct hotspot *last)
{
	const struct hotspot *best = NULL;
	bool behind = !last;

	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next) {
		bool later = !last || spot->weight < last->weight || (spot->weight == last->weight && behind);

		if (spot == last)
			behind = true;
		else if (later && (!best || spot->weight > best->weight))
			best = spot;
	}
	return best;
}

static void print_stacks(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view)
{
	const struct hotspot *spot = NULL;
	char comm[64];

	for (unsigned int n = 0; n < view->stacks && (spot = next_heaviest(h, spot));) {
		if (percent(spot->weight, h->weight) < view->least)
			break;
		if (hotspot_stack(spot)->n < 2)
			continue;
		escape_terminal(spot->key.comm, strlen(spot->key.comm), comm, sizeof(comm));
		printf("%s%6.2f%%  %s%s", n++ ? "" : "\nhottest stacks\n", percent(spot->weight, h->weight),
		       comm, spot->key.blocked ? ", blocked" : "");
		if (a->opts->sort & SORT_PID)
			printf(", process %d", (int)spot->key.pid);
		if (a->opts->sort & SORT_CPU && spot->key.cpu != UINT32_MAX)
			printf(", CPU %d", (int)spot->key.cpu);
		putchar('\n');
		analysis_print_stack(a, spot->key.stack);
	}
}

/* The weight in code without names that was generated at run time. */
static uint64_t made_weight(const struct hotspots *h)
{
	uint64_t sum = 0;

	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next) {
		const struct callstack *stack = hotspot_stack(spot);

		if (stack->n && !stack->frames[0]->symbol && !strcmp(stack->frames[0]->dso, "//anon"))
			sum += spot->weight;
	}
	return sum;
}

static void print_remarks(const struct hotspots *h, const struct hotspots_view *view)
{
	if (view->unseen)
		printf("%llu periods on a CPU are left out: the kernel reported no switch at their beginning\n",
		       (unsigned long long)view->unseen);
	if (view->skid)
		printf("%llu of %llu samples are in the kernel, though %s counts user space only: the CPU is a little "
		       "late to stop, and the kernel may run by then (skid)\n", (unsigned long long)view->skid,
		       (unsigned long long)h->samples, view->what);
	if (percent(made_weight(h), h->weight) >= MADE_PERCENT)
		printf("%.0f %% of the samples are in code that was generated at run time and has no names (//anon); "
		       "to get names, use node --perf-basic-prof, python3 -X perf, or jcmd PID Compiler.perfmap\n",
		       percent(made_weight(h), h->weight));
}

void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to)
{
	char when[64];

	hotspots_expand(a, h);
	print_functions(a, h, view, analysis_time_text(a, to, when, sizeof(when)));
	if (!a->opts->json)
		print_stacks(a, h, view);
	if (!a->opts->json)
		print_remarks(h, view);
	if (h->refused && view->chainless)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the time is missing from the tables: %s was sampled without call "
			"chains; record with -g\n", view->name, percent(h->refused, h->weight), view->chainless);
	else if (h->refused)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the samples are missing from the tables: too many different "
			"stacks\n", view->name, percent(h->refused, h->weight));
}

