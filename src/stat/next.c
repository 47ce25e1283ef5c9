/* SPDX-License-Identifier: Apache-2.0 */
/* After a verdict: the commands that show where the difference is, in functions or in waits. */
#include "base/shellwords.h"
#include "report/fiveruns.h"
#include "stat/counts.h"

#include <math.h>

struct way {
	const char *what, *record;       /* record: up to the name of the file */
	const char *suffix, *compare;
};

static const struct way of_functions = { "which functions differ", "record -q -o", "data", "perf-prof diff" };
static const struct way of_waits = { "which waits differ", "profile -q --off-cpu --flame-graph", "folded", "perf-prof diff --total" };

/* B - A in msec, if it is certain; else 0. */
static double certain_msec(const struct compared_row *r)
{
	return r && fabs(r->difference.mean) > r->difference.half ? fabs(r->difference.mean) * r->scale : 0;
}

static void put_input(const struct compared_table *t, FILE *out)
{
	if (!t->input)
		return;
	fputs(" < ", out);
	shellwords_put(t->input, out);
}

static void put_way(const struct compared_table *t, const struct way *w, FILE *out)
{
	const struct five_runs runs = { { "a", "b" }, w->suffix, w->compare };

	fprintf(out, " %s ", w->what);
	five_runs_begin(&runs, out);
	for (int i = 0; i < 2; i++) {
		five_runs_indent(out);
		fprintf(out, "perf-prof %s %s$i.%s -- %s", w->record, runs.names[i], w->suffix, t->sides[i].started);
		put_input(t, out);
		fputs(" > /dev/null\n", out);
	}
	five_runs_end(&runs, out);
}

/* Profiles do not show less than some msec. */
void compared_next(const struct compared_table *t, FILE *out)
{
	static const double least_msec = 10;
	const double cpu = certain_msec(t->cpu), asleep = certain_msec(t->asleep);
	const struct compared_side *a = &t->sides[0], *b = &t->sides[1];

	if (fmax(cpu, asleep) >= least_msec && !a->failed && !b->failed && a->started && b->started && !t->unrepeatable)
		put_way(t, asleep > cpu ? &of_waits : &of_functions, out);
}
