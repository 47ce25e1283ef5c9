/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/culprits.h"

#include "base/room.h"
#include "base/textfile.h"
#include "report/json.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KEPT: the newest runs of a CPU. TOLD: rows in text. TASKS: with more rows, further tasks share one for each name. */
enum { KEPT = 1024, TOLD = 20, TASKS = 4096 };
/* A damaged recording can have any number of CPUs; of those beyond, no run is known. */
enum { MAX_CPUS = 1024 };

struct run {
	uint64_t from, to;           /* perf clock, ns */
	pid_t tid;
	char comm[16];
};

struct cpu_runs {
	struct run *all;             /* KEPT of them, used in turns */
	uint64_t n;                  /* ever added */
	uint64_t since;              /* the last switch, or the end of a loss of events: what ran before is not known */
};

static struct cpu_runs *on_cpu(struct culprits *c, uint32_t cpu)
{
	return cpu < MAX_CPUS && ROOM_AT(c->cpus, c->ncpus, cpu) ? &c->cpus[cpu] : NULL;
}

void culprits_switch(struct culprits *c, const struct analysis_sample *s, pid_t tid, const char comm[16])
{
	struct cpu_runs *cpu = on_cpu(c, s->cpu);
	struct run *run;

	if (!cpu || (!cpu->all && !(cpu->all = calloc(KEPT, sizeof(*cpu->all)))))
		return;
	run = &cpu->all[cpu->n++ % KEPT];
	*run = (struct run){ cpu->since, s->time, tid, "" };
	memcpy(run->comm, tid ? comm : "[idle]\0\0\0\0\0\0\0\0\0", sizeof(run->comm));
	cpu->since = s->time;
}

/* ---- command lines ---------------------------------------------------------------------- */

/* What is too long ends with "...", not within a character. */
static void cut(char *text, size_t size)
{
	size_t n = size - sizeof("...");

	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(text + n, "...", sizeof("..."));
}

/* "python3 /srv/queue.py --all": the words of /proc/TID/cmdline, the first one without its folder. Some programs write a
 * title there: "nginx: master process /usr/sbin/nginx". */
static void put_command(char *text, size_t size, char *words, size_t n)
{
	const char *slash = memrchr(words, '/', strcspn(words, " "));
	size_t from = slash ? (size_t)(slash + 1 - words) : 0;

	while (n > from && !words[n - 1])
		n--;
	for (size_t i = from; i < n; i++)
		words[i] = words[i] ? words[i] : ' ';
	words[n] = '\0';
	if ((size_t)snprintf(text, size, "%s", words + from) >= size)
		cut(text, size);
}

/* The task may have ended, or run another program since. */
static void find_command(char *text, size_t size, pid_t tid, const char *comm)
{
	char path[64], now[64], words[1024];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	if (textfile_read(path, now, sizeof(now)) <= 0 || strcmp(strtok(now, "\n") ? now : "", comm))
		return;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)tid);
	n = textfile_read(path, words, sizeof(words));
	if (n > 0)
		put_command(text, size, words, (size_t)n);
}

/* ---- rows ------------------------------------------------------------------------------- */

static struct distribution *row_of(struct culprits *c, pid_t tid, const char *comm)
{
	/* a task outside of the PID namespace has no id here */
	uint64_t key[DISTRIBUTION_KEYS] = { words_number(&c->words, comm), pidmap_is_outer(tid) ? 0 : (uint64_t)tid };
	struct distribution *d;
	bool fresh;

	if (c->rows.rows.n < TASKS) {
		d = distributions_get(&c->rows, key, &fresh);
		if (d && fresh && key[1] && c->live)
			find_command(d->name, sizeof(d->name), tid, comm);
		return d;
	}
	d = groups_find(&c->rows.rows, key, sizeof(key));
	key[1] = 0;
	return d ? d : distributions_get(&c->rows, key, &fresh);
}

static void add(void *ctx, pid_t tid, const char *comm, uint64_t ns)
{
	struct distribution *d = ns ? row_of(ctx, tid, comm) : NULL;

	if (d)
		histogram_add(&d->durations, ns);
}

void culprits_each(struct culprits *c, const struct analysis_sample *s, uint64_t start, culprits_fn *fn, void *ctx)
{
	const struct cpu_runs *cpu = on_cpu(c, s->cpu);
	const uint64_t kept = !cpu || !cpu->all ? 0 : cpu->n < KEPT ? cpu->n : KEPT;
	uint64_t until = s->time;

	for (uint64_t i = 0; i < kept && until > start; i++) {
		const struct run *run = &cpu->all[(cpu->n - 1 - i) % KEPT];
		const uint64_t from = run->from > start ? run->from : start;

		if (run->to < until)       /* a loss of events */
			break;
		if (from >= until)         /* an event that came late */
			continue;
		fn(ctx, run->tid, run->comm, until - from);
		until = from;
	}
	if (until > start)
		fn(ctx, 0, "[not known]", until - start);
}

void culprits_waited(struct culprits *c, const struct analysis_sample *s, uint64_t start)
{
	culprits_each(c, s, start, add, c);
}

void culprits_lost(struct culprits *c, const struct stream_loss *loss)
{
	for (size_t i = 0; i < c->ncpus; i++)
		if (loss->count && (loss->cpu < 0 || (size_t)loss->cpu == i) && loss->end > c->cpus[i].since)
			c->cpus[i].since = loss->end;
}

static void put(void *ctx, const struct distribution *d, struct table *t)
{
	const struct words *words = ctx;

	table_text(t, words_text(words, d->key[0]));
	if (d->key[1])
		table_task(t, (pid_t)d->key[1]);
	else
		table_none(t);
}

static void put_last(void *ctx, const struct distribution *d, struct table *t)
{
	if (*d->name)
		table_text(t, d->name);
	else
		table_none(t);
}

static bool put_json(const struct culprits *c, const struct distribution *d, struct json_object *all)
{
	const int64_t tid = (int64_t)d->key[1];
	struct json_object *row = json_object_new_object();

	return json_append(all, row) && json_put_text(row, "comm", words_text(&c->words, d->key[0])) &&
	       (!tid || json_put_integer(row, "tid", tid)) && json_put_unsigned(row, "runs", d->durations.count) &&
	       json_put_unsigned(row, "total", d->durations.sum) && json_put_unsigned(row, "max", d->durations.max) &&
	       (!*d->name || json_put_text(row, "command", d->name));
}

struct json_object *culprits_json(struct culprits *c)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	distributions_sort(&c->rows);
	for (const struct distribution *d = groups_first(&c->rows.rows); d && good; d = groups_next(d))
		good = put_json(c, d, all);
	return json_whole(all, good);
}

void culprits_print(struct culprits *c, struct analysis *a, uint64_t from, uint64_t to)
{
	static const struct table_column columns[] = { { "comm", TABLE_TEXT, .title = "ran meanwhile" }, { "tid", TABLE_INTEGER } };
	static const enum shown shown[] = { SHOW_CALLS, SHOW_TOTAL, SHOW_MAX };
	static const struct table_column command = { "command", TABLE_TEXT };
	const struct distribution_view view = {
		"ran", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown), &c->words, .put = put,
		.calls_title = "runs", .max_rows = TOLD, .last = &command, .nlast = c->live, .put_last = put_last, .cuts_last = true,
	};

	if (c->rows.rows.n && !a->opts->json)
		distributions_print(a, &c->rows, &view, from, to, NULL);
	distributions_clear(&c->rows);
	words_free(&c->words);
}

void culprits_free(struct culprits *c)
{
	for (size_t i = 0; i < c->ncpus; i++)
		free(c->cpus[i].all);
	free(c->cpus);
	distributions_clear(&c->rows);
	words_free(&c->words);
	*c = (struct culprits){ 0 };
}
