/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof stat --vs: runs two commands alternately, so that a machine that gets slower or
 * warmer affects both, and computes the difference of their means with its confidence interval.
 *
 * Both are started in the same way: if one needs a shell, the other gets one, too, so that the shell's cost is not taken for
 * a difference. Runs that fail are left out, as they have not done the same work.
 */
#include "stat/stat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words of a command as a shell reads them. */

/* ---- shellwords ------------------------------------------------------------------------- */

/* Whether a shell does not change the word. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	return *word && !word[strspn(word, plain)];
}

static void put_quoted(const char *word, FILE *out)
{
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

/* A word, in quotes if a shell would change it. */
static void shellwords_put(const char *word, FILE *out)
{
	if (is_plain(word))
		fputs(word, out);
	else
		put_quoted(word, out);
}

/* All words of a list that ends with NULL, to be freed; NULL: out of memory. */
static char *shellwords(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', out);
		shellwords_put(argv[i], out);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

enum { DEFAULT_RUNS = 10 };
static const double default_confidence = 0.95;

/* Rows below those of the events: times of the whole command. */
enum { ELAPSED, USER, SYS, ASLEEP, DELAYED, WAITING, NTIMES };   /* WAITING: if the two before it are not known */
static const char *const times_of_command[] = {
	[ELAPSED] = "elapsed", [USER] = "user", [SYS] = "sys", [ASLEEP] = "asleep", [DELAYED] = "waiting for CPU", [WAITING] = "waiting",
};

/* An event, or a time, in the runs of a command. */
struct compared {
	struct stats count, ratio;
	double missed;                   /* share of the time in which it was not counted, at most */
};

/* A command that fails has not done its work: its runs are kept apart. */
enum { SUCCEEDED, FAILED, NOUTCOMES };

struct outcome {
	struct compared *values;         /* one per event, then the times */
	struct stats cpu;                /* user + sys: together exact, unlike each */
	struct stats undelayed;          /* elapsed time without that of waiting for a CPU */
	struct slowest_run slowest;
};

struct side {
	char *const *argv;
	struct outcome outcomes[NOUTCOMES];
	struct compared_side seen;
	int code;                        /* exit code of the last run with one that is not 0, also of an incomplete one */
};

static void add_elapsed(struct slowest_run *s, double elapsed, size_t run)
{
	if (elapsed <= s->elapsed) {
		s->next = elapsed > s->next ? elapsed : s->next;
		return;
	}
	s->next = s->elapsed;
	s->elapsed = elapsed;
	s->run = run;
}

/* Runs whose divisor was 0 have no ratio, or another one; only those with the first run's are compared. */
static void add_run(const struct count_row *r, struct compared *sum, struct compared_row *row)
{
	if (r->state == COUNT_GOOD)
		stats_add(&sum->count, r->value);
	if (1 - r->share > sum->missed)
		sum->missed = 1 - r->share;
	if (!r->metric.is_ratio || (row->metric && row->metric != r->metric.unit))
		return;
	row->metric = r->metric.unit;
	stats_add(&sum->ratio, r->metric.value);
}

static struct outcome *add_status(struct side *side, int status, int signal)
{
	struct compared_side *c = &side->seen;

	c->runs++;
	if (!status)
		return &side->outcomes[SUCCEEDED];
	c->mixed |= c->failed && (c->status != status || c->signal != signal);
	c->failed++;
	c->status = status;
	c->signal = signal;
	return &side->outcomes[FAILED];
}

static int run_side(struct counting *s, struct side *side, struct compared_row *rows,
		    bool *interrupted, struct fault *f)
{
	struct stat_run_times times = { 0 };
	int status = stat_run_once(s, side->argv, &times, interrupted, f);
	/* CPU time also has the time before the program begins, and threads use several CPUs at a time */
	const double waiting = fmax(0, times.elapsed - times.user - times.sys);
	struct outcome *o;

	if (status < 0)
		return -1;
	side->code = status ? status : side->code;
	if (*interrupted)   /* an incomplete run does not count */
		return 0;
	o = add_status(side, status, times.signal);
	for (size_t i = 0; i < s->nevents; i++)
		add_run(&s->rows[i], &o->values[i], &rows[i]);
	stats_add(&o->values[s->nevents + ELAPSED].count, times.elapsed);
	stats_add(&o->values[s->nevents + USER].count, times.user);
	stats_add(&o->values[s->nevents + SYS].count, times.sys);
	stats_add(&o->values[s->nevents + WAITING].count, waiting);
	if (times.delayed >= 0) {
		stats_add(&o->values[s->nevents + ASLEEP].count, fmax(0, waiting - times.delayed));
		stats_add(&o->values[s->nevents + DELAYED].count, times.delayed);
		stats_add(&o->undelayed, fmax(0, times.elapsed - times.delayed));
	}
	stats_add(&o->cpu, times.user + times.sys);
	add_elapsed(&o->slowest, times.elapsed, side->seen.runs);
	return 0;
}

static int warm_up(struct counting *s, const struct side *sides, bool *interrupted, struct fault *f)
{
	struct stat_run_times times;

	for (uint64_t i = 0; i < 2 * s->config->warmup && !*interrupted; i++)
		if (stat_run_once(s, sides[i % 2].argv, &times, interrupted, f) < 0)
			return -1;
	return *interrupted ? stat_no_runs(f) : 0;
}

static int run_in_turns(struct counting *s, struct side *sides, struct compared_row *rows,
			struct fault *f)
{
	uint64_t runs = s->config->runs ? s->config->runs : DEFAULT_RUNS;
	bool interrupted = false;

	if (warm_up(s, sides, &interrupted, f))
		return -1;
	/* A B, B A, A B ...: so that neither is always second */
	for (uint64_t i = 0; i < 2 * runs && !interrupted; i++)
		if (run_side(s, &sides[(i + 1) / 2 % 2], rows, &interrupted, f))
			return -1;
	return 0;
}

static bool is_cpu_time(const struct counting *s, size_t event)
{
	const struct perf_event_attr *attr = &s->events[event].buf.attr;

	/* on a CPU, it counts the time of all tasks, and of none */
	return s->on_command && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_TASK_CLOCK;
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

/* Failed runs are used if there are no others. */
static const struct outcome *outcome_of(const struct side *side)
{
	return &side->outcomes[side->seen.failed == side->seen.runs ? FAILED : SUCCEEDED];
}

/* Behind the rows, and none of them. spare: how many places behind them are taken already. NULL: not known */
static const struct compared_row *fill_behind(struct compared_table *t, size_t spare, const struct stats *a, const struct stats *b)
{
	const size_t n = t->n;
	const struct compared_row *row = NULL;

	t->n += spare;
	add_row(t, (struct compared_row){ .event = "", .unit = "msec", .scale = 1000, .share = 1 }, a, b);
	if (t->n > n + spare)
		row = &t->rows[n + spare];
	t->n = n;
	return row;
}

static bool is_delay_known(const struct outcome *o, size_t nevents)
{
	return o->values[nevents + DELAYED].count.n == o->values[nevents + WAITING].count.n;
}

/* Time on no CPU is in two rows if all runs have both, else in one. */
static bool is_other_form(size_t time, bool split)
{
	return split ? time == WAITING : time == ASLEEP || time == DELAYED;
}

/* seen: what the runs found of each event, and the times. */
static void fill(const struct counting *s, const struct side *sides, const struct compared_row *seen,
		 struct compared_table *t)
{
	const struct outcome *of_a = outcome_of(&sides[0]), *of_b = outcome_of(&sides[1]);
	const bool split = is_delay_known(of_a, s->nevents) && is_delay_known(of_b, s->nevents);

	for (size_t i = 0; i < s->nevents + NTIMES; i++) {
		const struct compared *a = &of_a->values[i], *b = &of_b->values[i];
		struct compared_row row = { .unit = "msec", .scale = 1000, .share = 1 - (a->missed > b->missed ? a->missed : b->missed) };

		if (i >= s->nevents && is_other_form(i - s->nevents, split))
			continue;
		if (i < s->nevents) {
			row.event = s->events[i].label;
			row.unit = s->events[i].unit;
			row.scale = s->events[i].scale;
			row.from_glob = s->events[i].from_glob;
			row.costly = s->events[i].buf.attr.type == PERF_TYPE_TRACEPOINT || s->events[i].buf.attr.type >= PERF_TYPE_MAX;
		} else {
			row.event = times_of_command[i - s->nevents];
		}
		if (i == s->nevents + ELAPSED && a->count.n && b->count.n)
			t->elapsed = &t->rows[t->n];
		if (i < s->nevents && is_cpu_time(s, i) && a->count.n && b->count.n)
			t->cpu = &t->rows[t->n];
		add_row(t, row, &a->count, &b->count);
		row.metric = seen[i].metric;
		row.unit = NULL;
		row.scale = 1;
		add_row(t, row, &a->ratio, &b->ratio);
	}
	if (split)
		t->undelayed = fill_behind(t, 0, &of_a->undelayed, &of_b->undelayed);
	if (!t->cpu)   /* user + sys */
		t->cpu = fill_behind(t, 1, &of_a->cpu, &of_b->cpu);
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

/* On stderr, if the table is elsewhere or is none: a table says it itself. */
static void tell_failures(const struct counting *s, const struct compared_table *t, const FILE *out)
{
	char line[512];

	if (out == stderr && !s->config->json && !s->config->csv)
		return;
	for (int i = 0; i < 2; i++)
		if (compared_failure(t, i, line, sizeof(line)))
			fprintf(stderr, "perf-prof: %s\n", line);
}

/* rows: room for those of the table, behind what the runs find. */
static int compare(struct counting *s, struct side *sides, struct compared_row *rows, FILE *out, struct fault *f)
{
	struct compared_table t = { .rows = rows + s->nevents + NTIMES };
	int rc;

	t.confidence = s->config->confidence > 0 ? s->config->confidence / 100 : default_confidence;
	if (run_in_turns(s, sides, rows, f))
		return -1;
	for (int i = 0; i < 2; i++) {
		t.sides[i] = sides[i].seen;
		t.sides[i].slowest = outcome_of(&sides[i])->slowest;
	}
	fill(s, sides, rows, &t);
	rc = print(s, &t, out, f);
	tell_failures(s, &t, out);
	return rc;
}

/* Opens the file first, so that an error is reported before all the runs. */
static int compare_into_file(struct counting *s, struct side *sides, struct compared_row *rows, struct fault *f)
{
	struct stat_output to;
	int rc;

	if (stat_output_open(&to, s, true, f))
		return -1;
	rc = compare(s, sides, rows, to.out, f);
	return stat_output_close(&to, !rc, f) ? -1 : rc;
}

/* ---- the two commands ------------------------------------------------------------ */

/* A command as typed: words, or a line that is written as for a shell. */
struct typed {
	char *const *words;              /* NULL: it is a line */
	const char *line;
};

/* As in make: without any of these characters a shell would only split the words. */
static bool needs_shell(const char *text)
{
	return strpbrk(text, "\"'`$&|;<>()[]{}*?!#~=%\\\n");
}

/* A single word that is no program's name, but could be a line. */
static bool is_line(char *const *argv)
{
	return !argv[1] && (strpbrk(argv[0], " \t") || needs_shell(argv[0])) && argv[0][strspn(argv[0], " \t\n")] &&
	       access(argv[0], F_OK);
}

/* A of two --vs is the first of them; of one --vs, the command of the operands. */
static void find_commands(const struct opt_strings *vs, char *const *argv, struct typed *commands)
{
	commands[1] = (struct typed){ .line = vs->v[vs->n - 1] };
	if (vs->n > 1)
		commands[0] = (struct typed){ .line = vs->v[0] };
	else if (is_line(argv))
		commands[0] = (struct typed){ .line = argv[0] };
	else
		commands[0] = (struct typed){ .words = argv };
}

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

static size_t nwords(char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* Both lists of words in one, to be freed; NULL: out of memory. */
static char **joined(char *const *words, char *const *more)
{
	const size_t n = nwords(words), m = nwords(more);
	char **argv = calloc(n + m + 1, sizeof(*argv));

	if (!argv)
		return NULL;
	memcpy(argv, words, n * sizeof(*words));
	memcpy(argv + n, more, m * sizeof(*more));
	return argv;
}

/* The words with which a command is started, to be freed; NULL: out of memory. line: a copy of its line, or NULL. */
static char **started_as(const struct typed *c, char *line, bool shell)
{
	static char sh[] = "/bin/sh", option[] = "-c", run_words[] = "exec \"$0\" \"$@\"";
	char *const none[] = { NULL }, *const in_shell[] = { sh, option, c->words ? run_words : line, NULL };

	if (c->words)
		return joined(shell ? in_shell : none, c->words);
	if (!line)
		return NULL;
	return shell ? joined(in_shell, none) : split(line);
}

/* The values of all outcomes of both sides, in one piece, to be freed. */
static struct compared *make_values(struct side *sides, size_t n)
{
	struct compared *values = calloc((size_t)2 * NOUTCOMES * n, sizeof(*values));

	for (size_t i = 0; values && i < (size_t)2 * NOUTCOMES; i++)
		sides[i / NOUTCOMES].outcomes[i % NOUTCOMES].values = values + i * n;
	return values;
}

static int compare_sides(struct counting *s, struct side *sides, struct fault *f)
{
	size_t n = s->nevents + NTIMES;
	struct compared_row *rows = calloc(3 * n, sizeof(*rows));
	struct compared *values = make_values(sides, n);
	int rc = -1;

	if (!rows || !values)
		fault_set(f, EXIT_FAILED, "stat: out of memory");
	else
		rc = compare_into_file(s, sides, rows, f);
	free(rows);
	free(values);
	if (rc)
		return f->exit_code;
	if (sides[0].code || sides[1].code)
		return sides[0].code ? sides[0].code : sides[1].code;
	return stat_any_open(s) ? 0 : EXIT_FAILED;
}

int stat_compare(struct counting *s, char **argv, struct fault *f)
{
	char **as[2], *lines[2], *shown[2];
	struct typed commands[2];
	struct side sides[2] = { 0 };
	bool shell = false, good = true;
	int code;

	find_commands(&s->config->vs, argv, commands);
	for (int i = 0; i < 2; i++)
		shell |= commands[i].line && needs_shell(commands[i].line);
	for (int i = 0; i < 2; i++) {
		lines[i] = commands[i].line ? strdup(commands[i].line) : NULL;
		shown[i] = commands[i].line ? strdup(commands[i].line) : shellwords(commands[i].words);
		as[i] = started_as(&commands[i], lines[i], shell);
		sides[i].argv = as[i];
		sides[i].seen.command = shown[i];
		good &= as[i] && shown[i];
	}
	code = good ? compare_sides(s, sides, f) : fault_set(f, EXIT_FAILED, "stat: out of memory");
	for (int i = 0; i < 2; i++) {
		free(as[i]);
		free(lines[i]);
		free(shown[i]);
	}
	return good ? code : EXIT_FAILED;
}
