/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof stat --vs: runs two commands alternately, so that a machine that gets slower or
 * warmer affects both, and computes the difference of their means with its confidence interval.
 *
 * Both are started in the same way: if the second needs a shell, the first gets one, too, so that
 * the shell's cost is not taken for a difference.
 */
#include "stat/stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RUNS = 10 };
static const double default_confidence = 0.95;

/* Rows below those of the events: times of the whole command. */
enum { ELAPSED, USER, SYS, NTIMES };
static const char *const times_of_command[] = { [ELAPSED] = "elapsed", [USER] = "user", [SYS] = "sys" };

struct compared {
	struct stats count, ratio;
};

struct side {
	char *const *argv;
	struct compared *values;         /* one per event, then the times */
	int status;                      /* the last one that is not 0 */
	uint64_t failures;
};

/* Runs whose divisor was 0 have no ratio, or another one; only those with the first run's are compared. */
static void add_run(const struct count_row *r, struct compared *sum, struct compared_row *row)
{
	if (r->state == COUNT_GOOD)
		stats_add(&sum->count, r->value);
	if (r->share < row->share)
		row->share = r->share;
	if (!r->metric.is_ratio || (row->metric && row->metric != r->metric.unit))
		return;
	row->metric = r->metric.unit;
	stats_add(&sum->ratio, r->metric.value);
}

static int run_side(struct counting *s, struct side *side, struct compared_row *rows,
		    bool *interrupted, struct fault *f)
{
	struct stat_run_times times = { 0 };
	int status = stat_run_once(s, side->argv, &times, interrupted, f);

	if (status < 0)
		return -1;
	side->status = status ? status : side->status;
	if (*interrupted)   /* an incomplete run does not count */
		return 0;
	side->failures += status != 0;
	for (size_t i = 0; i < s->nevents; i++)
		add_run(&s->rows[i], &side->values[i], &rows[i]);
	stats_add(&side->values[s->nevents + ELAPSED].count, times.elapsed);
	stats_add(&side->values[s->nevents + USER].count, times.user);
	stats_add(&side->values[s->nevents + SYS].count, times.sys);
	return 0;
}

static int run_in_turns(struct counting *s, struct side *sides, struct compared_row *rows,
			struct fault *f)
{
	uint64_t runs = s->config->runs ? s->config->runs : DEFAULT_RUNS;
	bool interrupted = false;

	for (size_t i = 0; i < s->nevents + NTIMES; i++)
		rows[i].share = 1;
	/* A B, B A, A B ...: so that neither is always second */
	for (uint64_t i = 0; i < 2 * runs && !interrupted; i++)
		if (run_side(s, &sides[(i + 1) / 2 % 2], rows, &interrupted, f))
			return -1;
	return 0;
}

static void add_row(struct compared_table *t, struct compared_row row, const struct stats *a, const struct stats *b)
{
	if (!a->n || !b->n)
		return;
	row.a = *a;
	row.b = *b;
	row.difference = stats_compare(a, b, t->confidence);
	t->rows[t->n++] = row;
}

/* seen: what the runs found of each event, and the times. */
static void fill(const struct counting *s, const struct side *sides, const struct compared_row *seen,
		 struct compared_table *t)
{
	for (size_t i = 0; i < s->nevents + NTIMES; i++) {
		const struct compared *a = &sides[0].values[i], *b = &sides[1].values[i];
		struct compared_row row = { .unit = "msec", .scale = 1000, .share = seen[i].share };

		if (i < s->nevents) {
			row.event = s->events[i].label;
			row.unit = s->events[i].unit;
			row.scale = s->events[i].scale;
		} else {
			row.event = times_of_command[i - s->nevents];
		}
		if (i == s->nevents + ELAPSED && a->count.n && b->count.n)
			t->elapsed = &t->rows[t->n];
		add_row(t, row, &a->count, &b->count);
		row.metric = seen[i].metric;
		row.unit = NULL;
		row.scale = 1;
		add_row(t, row, &a->ratio, &b->ratio);
	}
}

char *stat_words(char *const *argv)
{
	size_t size = 1;
	char *text;

	for (size_t i = 0; argv[i]; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	for (size_t i = 0; text && argv[i]; i++)
		strcat(strcat(text, i ? " " : ""), argv[i]);
	return text;
}

static int print(const struct counting *s, const struct compared_table *t, FILE *out, struct fault *f)
{
	int rc = 0;

	if (s->config->json)
		rc = compared_json(t, out);
	else if (s->config->csv)
		compared_csv(t, (struct csv_form){ s->config->separator[0], s->config->csv_safe }, out);
	else
		compared_text(t, out);
	return rc == -ENOMEM ? fault_set(f, EXIT_FAILED, "stat: out of memory") : 0;
}

/* rows: room for those of the table, behind what the runs find. */
static int compare(struct counting *s, struct side *sides, struct compared_row *rows, char *const *argv,
		   FILE *out, struct fault *f)
{
	struct compared_table t = { .b = s->config->vs, .rows = rows + s->nevents + NTIMES };
	char *a;
	int rc;

	t.confidence = s->config->confidence > 0 ? s->config->confidence / 100 : default_confidence;
	if (run_in_turns(s, sides, rows, f))
		return -1;
	a = stat_words(argv);
	t.a = a ? a : "";
	fill(s, sides, rows, &t);
	rc = print(s, &t, out, f);
	free(a);
	return rc;
}

/* Opens the file first, so that an error is reported before all the runs. */
static int compare_into_file(struct counting *s, struct side *sides, struct compared_row *rows,
			     char *const *argv, struct fault *f)
{
	struct stat_output to;
	int rc;

	if (stat_output_open(&to, s, true, f))
		return -1;
	rc = compare(s, sides, rows, argv, to.out, f);
	return stat_output_close(&to, !rc, f) ? -1 : rc;
}

/* ---- the second command ---------------------------------------------------------- */

/* Splits text at blanks, in place; NULL: out of memory. */
static char **split(char *text)
{
	char **argv = calloc(strlen(text) / 2 + 2, sizeof(*argv)), *save = NULL;
	size_t n = 0;

	for (char *word = argv ? strtok_r(text, " \t", &save) : NULL; word;
	     word = strtok_r(NULL, " \t", &save))
		argv[n++] = word;
	return argv;
}

/* sh -c SCRIPT, with the words as its $0, $1, ...; NULL: out of memory. */
static char **in_shell(char *script, char *const *words)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	size_t n = 0;
	char **argv;

	while (words[n])
		n++;
	argv = calloc(n + 4, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = shell;
	argv[1] = option;
	argv[2] = script;
	memcpy(argv + 3, words, n * sizeof(*words));
	return argv;
}

/* As in make: without any of these characters a shell would only split the words. */
static bool needs_shell(const char *text)
{
	return strpbrk(text, "\"'`$&|;<>()[]{}*?!#~=%\\\n") || !text[strspn(text, " \t")];
}

static void tell_failures(const struct side *side, char name)
{
	if (side->failures)
		fprintf(stderr, "perf-prof: %c failed in %" PRIu64 " run%s, with exit code %d: is the comparison what was meant?\n", name,
			side->failures, side->failures == 1 ? "" : "s", side->status);
}

/* argv: the first command as typed. */
static int compare_argvs(struct counting *s, char *const *a, char *const *b, char *const *argv,
			 struct fault *f)
{
	size_t n = s->nevents + NTIMES;
	struct compared_row *rows = calloc(3 * n, sizeof(*rows));
	struct side sides[2] = {
		{ .argv = a, .values = calloc(n, sizeof(struct compared)) },
		{ .argv = b, .values = calloc(n, sizeof(struct compared)) },
	};
	int rc = -1;

	if (!a || !b || !rows || !sides[0].values || !sides[1].values)
		fault_set(f, EXIT_FAILED, "stat: out of memory");
	else
		rc = compare_into_file(s, sides, rows, argv, f);
	free(rows);
	free(sides[0].values);
	free(sides[1].values);
	if (rc)
		return f->exit_code;
	tell_failures(&sides[0], 'A');
	tell_failures(&sides[1], 'B');
	if (sides[0].status || sides[1].status)
		return sides[0].status ? sides[0].status : sides[1].status;
	return stat_any_open(s) ? 0 : EXIT_FAILED;
}

int stat_compare(struct counting *s, char **argv, struct fault *f)
{
	static char run_words[] = "exec \"$0\" \"$@\"";
	bool shell = needs_shell(s->config->vs);
	char *vs = strdup(s->config->vs);
	char **a = shell ? in_shell(run_words, argv) : argv;
	char **b = !vs ? NULL : shell ? in_shell(vs, (char *[]){ NULL }) : split(vs);
	int code = compare_argvs(s, a, b, argv, f);

	if (shell)
		free(a);
	free(b);
	free(vs);
	return code;
}
