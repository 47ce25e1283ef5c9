/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hotspots.h"

#include "base/escape.h"
#include "base/hash.h"
#include "report/json.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HOTSPOTS = 1 << 21, MAX_FRAMES = 1024 };

struct task_name {
	UT_hash_handle hh;
	char text[];
};

struct hotspot_key {
	const char *comm;            /* a task_name's text */
	struct callstack *stack;
	uint64_t blocked;
};

struct hotspot {
	struct hotspot_key key;
	uint64_t weight, samples;
	UT_hash_handle hh;
};

void hotspots_free(struct hotspots *h)
{
	struct hotspot *spot, *next_spot;
	struct task_name *name, *next_name;

	HASH_ITER(hh, h->all, spot, next_spot) {
		HASH_DEL(h->all, spot);
		free(spot);
	}
	HASH_ITER(hh, h->names, name, next_name) {
		HASH_DEL(h->names, name);
		free(name);
	}
	*h = (struct hotspots){ 0 };
}

static const char *keep(struct hotspots *h, const char *comm)
{
	size_t len = strlen(comm);
	struct task_name *name;

	if (h->recent && !strcmp(h->recent->text, comm))
		return h->recent->text;
	HASH_FIND(hh, h->names, comm, len, name);
	if (name)
		return (h->recent = name)->text;
	name = calloc(1, sizeof(*name) + len + 1);
	if (!name)
		return "";
	memcpy(name->text, comm, len);
	HASH_ADD(hh, h->names, text, len, name);
	if (!HASH_LOST(name))
		return name->text;
	free(name);
	return "";
}

void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked)
{
	struct hotspot_key key = { keep(h, comm), stack, blocked };
	struct hotspot *spot = NULL;

	h->weight += weight;
	h->samples++;
	if (stack)
		HASH_FIND(hh, h->all, &key, sizeof(key), spot);
	if (!spot && stack && HASH_COUNT(h->all) < MAX_HOTSPOTS) {
		spot = calloc(1, sizeof(*spot));
		if (spot) {
			spot->key = key;
			HASH_ADD(hh, h->all, key, sizeof(key), spot);
		}
	}
	if (!spot) {
		h->refused += weight;
		return;
	}
	spot->weight += weight;
	spot->samples++;
}

/* ---- functions ------------------------------------------------------------------------ */

struct function_key {
	const char *symbol, *dso;    /* each text exists once */
	uint64_t blocked;
};

struct function {
	struct function_key key;
	uint64_t self, total;
	const struct hotspot *last;  /* whose stack was counted last: recursion counts once */
	UT_hash_handle hh;
};

static struct function *function_of(struct function **all, const struct frame *frame, bool blocked)
{
	struct function_key key = { frame->symbol, frame->dso, blocked };
	struct function *fn = NULL;

	HASH_FIND(hh, *all, &key, sizeof(key), fn);
	if (fn)
		return fn;
	fn = calloc(1, sizeof(*fn));
	if (!fn)
		return NULL;
	fn->key = key;
	HASH_ADD(hh, *all, key, sizeof(key), fn);
	return fn;
}

static bool is_of_scheduler(const struct frame *frame)
{
	return frame->symbol && strstr(frame->symbol, "schedule");
}

/* Whose own the weight is: the innermost frame's. All that block end in the scheduler, which says
 * nothing: theirs is the function of the user that called the kernel, or, where the kernel is all
 * there is, the first one that isn't the scheduler's. */
static uint32_t own_frame(const struct hotspot *spot)
{
	const struct callstack *stack = spot->key.stack;

	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!stack->frames[i]->kernel)
			return i;
	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!is_of_scheduler(stack->frames[i]))
			return i;
	return 0;
}

static void count_spot(struct function **all, const struct hotspot *spot)
{
	uint32_t own = own_frame(spot);

	for (uint32_t i = 0; i < spot->key.stack->n; i++) {
		struct function *fn = function_of(all, spot->key.stack->frames[i], spot->key.blocked);

		if (!fn)
			continue;
		if (i == own)
			fn->self += spot->weight;
		if (fn->last != spot)
			fn->total += spot->weight;
		fn->last = spot;
	}
}

static int by_self(const void *a_, const void *b_)
{
	const struct function *a = *(struct function *const *)a_, *b = *(struct function *const *)b_;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return a->total < b->total ? 1 : a->total > b->total ? -1 : 0;
}

/* Sorted; NULL without memory. */
static struct function **functions_of(const struct hotspots *h, struct function **all)
{
	struct function **v, *fn;
	size_t n = 0;

	*all = NULL;
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		count_spot(all, spot);
	v = calloc(HASH_COUNT(*all) + 1, sizeof(struct function *));
	for (fn = *all; v && fn; fn = fn->hh.next)
		v[n++] = fn;
	if (v)
		qsort(v, n, sizeof(*v), by_self);
	return v;
}

static void free_functions(struct function *all, struct function **v)
{
	struct function *fn, *next;

	HASH_ITER(hh, all, fn, next) {
		HASH_DEL(all, fn);
		free(fn);
	}
	free(v);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static const struct table_column function_columns[] = {
	{ "self", TABLE_PERCENT, .title = "self%" }, { "total", TABLE_PERCENT, .title = "total%" },
	{ "function", TABLE_TEXT }, { "dso", TABLE_TEXT },
};
static const struct table_column timed_columns[] = {
	{ "self", TABLE_PERCENT, .title = "self%" }, { "total", TABLE_PERCENT, .title = "total%" },
	{ "time", TABLE_DURATION, .title = "self", .unit = "ms" },
	{ "function", TABLE_TEXT }, { "dso", TABLE_TEXT },
};

static void put_function(struct table *t, const struct function *fn, uint64_t all, bool timed)
{
	table_row(t);
	table_number(t, percent(fn->self, all));
	table_number(t, percent(fn->total, all));
	if (timed)
		table_unsigned(t, fn->self);
	table_printf(t, "%s%s", fn->key.symbol ? fn->key.symbol : "[unknown]",
		     fn->key.blocked ? " (blocked)" : "");
	table_text(t, fn->key.dso);
}

static void print_table(struct analysis *a, struct table *t, size_t max_rows)
{
	struct table_style style = { .terminal = terminal_of(stdout), .max_rows = max_rows };

	if (a->opts->json ? table_json(t, stdout) : table_print(t, &style, stdout))
		fprintf(stderr, "perf-prof: %s: out of memory for the table\n", t->name);
}

static const char *idle_text(const struct hotspots *h, const struct hotspots_view *view, char *buf,
			     size_t size)
{
	buf[0] = '\0';
	if (view->idle)
		snprintf(buf, size, "; besides, %.1f %% idle",
			 percent(view->idle, view->idle + h->weight));
	return buf;
}

static void print_functions(struct analysis *a, const struct hotspots *h,
			    const struct hotspots_view *view, const char *when)
{
	struct function *all, **v = functions_of(h, &all);
	struct stream_totals totals;
	char idle[64];
	struct table t;

	if (view->timed)
		table_init(&t, view->name, timed_columns, sizeof(timed_columns) / sizeof(*timed_columns));
	else
		table_init(&t, view->name, function_columns, sizeof(function_columns) / sizeof(*function_columns));
	for (size_t i = 0; v && v[i]; i++)
		if (percent(v[i]->total, h->weight) >= view->least)
			put_function(&t, v[i], h->weight, view->timed);
	stream_totals(a->stream, &totals);
	if (a->opts->json) {
		table_extra(&t, "idle", json_object_new_int64((int64_t)view->idle));
		table_extra(&t, "time", json_object_new_string(when));
		table_extra(&t, "event", json_object_new_string(view->what));
		table_extra(&t, "samples", json_object_new_int64((int64_t)h->samples));
		table_extra(&t, "weight", json_object_new_int64((int64_t)h->weight));
		table_extra(&t, "lost", json_object_new_int64((int64_t)totals.lost));
	} else {
		table_caption(&t, "%s %s: %llu samples of %s, %llu lost%s", when, view->name,
			      (unsigned long long)h->samples, view->what, (unsigned long long)totals.lost,
			      idle_text(h, view, idle, sizeof(idle)));
	}
	print_table(a, &t, view->functions);
	table_free(&t);
	free_functions(all, v);
}

/* ---- stacks --------------------------------------------------------------------------- */

/* The heaviest one that comes behind `last` in order of weight. */
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

	for (unsigned int n = 0; n < view->stacks && (spot = next_heaviest(h, spot)); n++) {
		if (percent(spot->weight, h->weight) < view->least || spot->key.stack->n < 2)
			break;
		escape_terminal(spot->key.comm, strlen(spot->key.comm), comm, sizeof(comm));
		printf("%s%6.2f%%  %s%s\n", n ? "" : "\nhottest stacks\n", percent(spot->weight, h->weight),
		       comm, spot->key.blocked ? ", blocked" : "");
		analysis_print_stack(a, spot->key.stack);
	}
}

static void expand(struct analysis *a, struct hotspots *h)
{
	for (struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		callstacks_expand(a->stacks, spot->key.stack);
}

void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to)
{
	char when[64];

	expand(a, h);
	print_functions(a, h, view, analysis_time_text(a, to, when, sizeof(when)));
	if (!a->opts->json)
		print_stacks(a, h, view);
	if (h->refused)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the samples are in no table: too many different "
			"stacks\n", view->name, percent(h->refused, h->weight));
}

/* ---- pictures ------------------------------------------------------------------------- */

static enum folded_kind kind_of(const struct frame *frame)
{
	if (!frame->symbol)
		return FOLDED_UNKNOWN;
	return frame->kernel ? FOLDED_KERNEL : frame->inlined ? FOLDED_INLINED : FOLDED_USER;
}

static void fold(const struct hotspot *spot, struct folded *f)
{
	uint32_t frames[MAX_FRAMES + 2];
	size_t n = 0;

	if (spot->key.blocked)
		frames[n++] = folded_frame(f, "[blocked]", FOLDED_BLOCKED);
	for (uint32_t i = 0; i < spot->key.stack->n && i < MAX_FRAMES; i++) {
		const struct frame *frame = spot->key.stack->frames[i];

		frames[n++] = folded_frame(f, frame->symbol, kind_of(frame));
	}
	frames[n++] = folded_frame(f, spot->key.comm, FOLDED_TASK);
	folded_add(f, frames, n, FOLDED_LEAF_FIRST, spot->weight);
}

void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f)
{
	expand(a, h);
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		fold(spot, f);
}

void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx)
{
	expand(a, h);
	for (struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		fn(ctx, spot->key.stack, spot->weight);
}
