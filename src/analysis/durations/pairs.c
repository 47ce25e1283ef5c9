/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/pairs.h"

#include "base/escape.h"
#include "base/units.h"
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPEN = 1 << 20, MAX_CLOSED = 4096, HISTORY_BYTES = 16 << 20, COLUMNS = 8 };

static int parse_than(const char *text, void *field, struct fault *f)
{
	uint64_t *than = field;

	if (units_duration(text, than) || !*than)
		return fault_usage(f, "--than %s: expected a time above 0, such as 10ms, 500us or 1s; a bare "
				   "number is ns", text);
	return 0;
}

const struct opt pair_opts_rows[] = {
	{ "than", 0, NULL, OPT_CALL, offsetof(struct pair_opts, than), "TIME",
	  "Print each one that took longer, with what happened meanwhile: 10ms, 500us, 1s; a bare "
	  "number is ns.", false, parse_than },
	{ "perins", 0, NULL, OPT_FLAG, offsetof(struct pair_opts, per_instance), NULL,
	  "Print a row for each instance: a thread; with rundelay a thread on a CPU; with latency a key.", false, NULL },
};

const struct opt pair_by_opts[] = {
	{ "by", 0, NULL, OPT_CALL, offsetof(struct pair_opts, by), "task|pid|comm",
	  "Print a row for each thread, for each process, or for all tasks with the same name. Default: task; without a "
	  "target comm (rundelay: task). Without --by, the text changes to comm above 200 tasks, and a line below the "
	  "table says so.", false, grouping_parse },
};

/* ---- open ones ------------------------------------------------------------------------ */

uint64_t pairs_read(const struct analysis *a, uint64_t parts)
{
	return ((const struct pair_opts *)a->config)->than ? STREAM_READS_ALL : parts;
}

int pairs_begin(struct pairs *p, struct analysis *a, const struct pair_ops *ops, struct fault *f)
{
	const struct pair_opts *o = a->config;

	*p = (struct pairs){ .a = a, .ops = ops };
	if (!ops->view)
		return 0;   /* pairs alone: the command's config is another */
	if (heatmap_check(&o->heatmap, a->opts->stream.verbose, f))
		return -1;
	if (o->heatmap.path && !(p->heatmap = heatmap_new()))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (!ops->history || !o->than)
		return 0;
	p->history = history_new(HISTORY_BYTES);
	return p->history ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

void pairs_group(struct pairs *p, enum group_by usual)
{
	const struct pair_opts *o = p->a->config;

	p->grouping.by = o->by ? o->by : o->per_instance ? BY_TASK : usual;
	p->grouping.automatic = !o->by && !o->per_instance && usual == BY_TASK && !p->a->opts->json;
	p->grouping.processes.recorded = p->a->opts->stream.input;
}

void pairs_task(struct pairs *p, const struct pev_record *rec)
{
	if (p->grouping.by == BY_PID)
		processes_take(&p->grouping.processes, rec);
}

void pairs_free(struct pairs *p)
{
	struct open_pair *o, *next;

	HASH_FREE(p->all);
	for (o = p->spare; o; o = next) {
		next = o->hh.next;
		free(o);
	}
	p->spare = NULL;
	distributions_clear(&p->rows);
	grouping_free(&p->grouping);
	history_free(p->history);
	heatmap_free(p->heatmap);
}

void pairs_see(struct pairs *p, const struct analysis_sample *s)
{
	if (!p->from)
		p->from = s->time;
	if (s->time > p->last)
		p->last = s->time;
	grouping_see(&p->grouping, s);
	if (p->history)
		history_add(p->history, s, NULL);
}

static struct open_pair *find(struct pairs *p, uint64_t key)
{
	struct open_pair *o;

	HASH_FIND(hh, p->all, &key, sizeof(key), o);
	return o;
}

struct open_pair *pairs_find(struct pairs *p, uint64_t key)
{
	struct open_pair *o = find(p, key);

	return o && o->is_open ? o : NULL;
}

static void spare(struct pairs *p, struct open_pair *o)
{
	o->hh.next = p->spare;
	p->spare = o;
}

static struct open_pair *add(struct pairs *p, uint64_t key)
{
	struct open_pair *o = p->spare;

	if (p->nopen >= MAX_OPEN)
		return NULL;
	if (o)
		p->spare = o->hh.next;
	else
		o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->key = key;
	o->is_open = false;
	HASH_ADD(hh, p->all, key, sizeof(o->key), o);
	if (!HASH_LOST(o))
		return o;
	spare(p, o);
	return NULL;
}

void pairs_start(struct pairs *p, const struct analysis_sample *s, uint64_t key, uint64_t value)
{
	struct open_pair *o = find(p, key);

	if (!o)
		o = add(p, key);
	if (!o) {
		p->refused++;
		return;
	}
	p->restarted += o->is_open;
	p->nopen += !o->is_open;
	o->is_open = true;
	o->start = s->time;
	o->value = value;
}

void pairs_cancel(struct pairs *p, struct open_pair *o)
{
	o->is_open = false;
	p->nopen--;
	if (HASH_COUNT(p->all) - p->nopen <= MAX_CLOSED)
		return;
	HASH_DEL(p->all, o);
	spare(p, o);
}

static void end_of(const struct open_pair *o, const struct analysis_sample *s, struct pair_end *end)
{
	*end = (struct pair_end){
		.start = o->start, .value = o->value,
		.duration = s->time > o->start ? s->time - o->start : 0,
	};
}

void pairs_turn(struct open_pair *o, const struct analysis_sample *s, uint64_t value,
		struct pair_end *end)
{
	end_of(o, s, end);
	o->start = s->time;
	o->value = value;
}

void pairs_close(struct pairs *p, struct open_pair *o, const struct analysis_sample *s,
		 struct pair_end *end)
{
	end_of(o, s, end);
	pairs_cancel(p, o);
}

bool pairs_end(struct pairs *p, const struct analysis_sample *s, uint64_t key, struct pair_end *end)
{
	struct open_pair *o = pairs_find(p, key);

	if (o)
		pairs_close(p, o, s, end);
	else
		p->unbegun++;
	return o;
}

/* ---- what has ended ------------------------------------------------------------------- */

struct story {
	struct pairs *p;
	uint64_t key;
	uint32_t cpu;
};

static void tell_sample(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx)
{
	const struct story *story = ctx;

	if (!story->p->ops->between || story->p->ops->between(a, s, story->key, story->cpu))
		analysis_print(a, s);
}

static void tell_json(struct analysis *a, const struct distribution *d, const char *title,
		      const struct pair_end *end)
{
	json_object *root = json_object_new_object();
	char when[64];

	json_line(root, json_put_text(root, "slow", a->ops->name) && json_put_text(root, "what", title) &&
		  json_put_text(root, "time", analysis_time_text(a, end->start, when, sizeof(when))) &&
		  json_put_unsigned(root, "start", end->start) &&
		  json_put_unsigned(root, "duration", end->duration), stdout);
}

static void tell(struct pairs *p, const struct analysis_sample *s, const struct distribution *d,
		 const struct pair_end *end, uint64_t key)
{
	struct story story = { p, key, s->cpu };
	char title[256], safe[4 * sizeof(title)], when[64];

	p->told++;
	p->ops->title(p->a, d, key, title, sizeof(title));
	if (p->a->opts->json) {
		tell_json(p->a, d, title, end);
		return;
	}
	escape_terminal(title, strlen(title), safe, sizeof(safe));   /* a task's name may be anything */
	printf("%s %s took %.3f us\n", analysis_time_text(p->a, end->start, when, sizeof(when)), safe,
	       (double)end->duration / 1000);
	if (p->history && !history_each(p->history, p->a, end->start, s->time, tell_sample, &story))
		printf("    (what happened first is not kept any more)\n");
}

/* NULL: the table is full. */
static struct distribution *add_duration(struct pairs *p, const char *name, const uint64_t row[2], uint64_t duration, bool *fresh)
{
	struct distribution *d = distributions_get(&p->rows, row[0], row[1], fresh);

	if (!d)
		return NULL;
	if (strcmp(d->name, name))
		snprintf(d->name, sizeof(d->name), "%s", name);
	histogram_add(&d->durations, duration);
	return d;
}

static struct distribution *add_to_row(struct pairs *p, const struct analysis_sample *s, const struct pair_end *end,
				       const char *name, uint64_t key, const uint64_t row[2], bool *fresh)
{
	const struct pair_opts *o = p->a->config;
	struct distribution *d = add_duration(p, name, row, end->duration, fresh);

	if (!d)
		return NULL;
	if (p->heatmap)
		heatmap_add(p->heatmap, s->time, end->duration);
	if (o->than && end->duration > o->than)
		tell(p, s, d, end, key);
	return d;
}

struct distribution *pairs_add(struct pairs *p, const struct analysis_sample *s,
			       const struct pair_end *end, const char *name, uint64_t key,
			       uint64_t row0, uint64_t row1)
{
	const uint64_t row[] = { row0, row1 };
	bool fresh;

	return add_to_row(p, s, end, name, key, row, &fresh);
}

struct distribution *pairs_add_task(struct pairs *p, const struct analysis_sample *s, const struct pair_end *end,
				    const char *comm, pid_t tid, uint64_t row1)
{
	const uint64_t row[] = { grouping_key(&p->grouping, p->a, tid, s->time, &comm), row1 };
	bool fresh;
	struct distribution *d = add_to_row(p, s, end, comm, (uint64_t)tid, row, &fresh);
	uint64_t by_name = fresh ? analysis_hash(d->name) : 0;   /* d goes when rows are put together */

	if (fresh && grouping_count(&p->grouping, &p->rows, tid))
		return distributions_get(&p->rows, by_name, row1, &fresh);
	return d;
}

void pairs_add_asleep(struct pairs *p, const char *comm, pid_t tid, uint64_t row1)
{
	uint64_t now = analysis_end(p->a, p->last);
	const uint64_t row[] = { grouping_key(&p->grouping, p->a, tid, now, &comm), row1 };
	bool fresh;

	if (p->from && now > p->from && add_duration(p, comm, row, now - p->from, &fresh) && fresh)
		grouping_count(&p->grouping, &p->rows, tid);
}

static struct json_object *counts(const struct pairs *p)
{
	json_object *root = json_object_new_object();

	if (json_put_unsigned(root, "open", p->nopen) &&
	    json_put_unsigned(root, "restarted", p->restarted) &&
	    json_put_unsigned(root, "unbegun", p->unbegun) && json_put_unsigned(root, "told", p->told))
		return root;
	json_object_put(root);
	return NULL;
}

static void print_counts(const struct pairs *p)
{
	const uint64_t unknown = p->restarted + p->unbegun;

	if (p->grouping.news)
		printf("more than %d tasks: those with the same name share a row; --by task shows each\n", GROUPING_TASKS);
	if (p->ops->states && unknown)
		printf("not counted: %llu stretch%s whose beginning or end the kernel did not report\n",
		       (unsigned long long)unknown, unknown == 1 ? "" : "es");
	if (!p->ops->states && (p->restarted || p->unbegun || p->nopen))
		printf("not paired: %llu begun and not ended, %llu begun again, %llu ended that began before\n",
		       (unsigned long long)p->nopen, (unsigned long long)p->restarted,
		       (unsigned long long)p->unbegun);
	if (p->refused)
		fprintf(stderr, "perf-prof: %s: left out %llu: at most %d may be open at once\n", p->a->ops->name,
			(unsigned long long)p->refused, MAX_OPEN);
}

/* Where rows are tasks: text has the columns of what a row is, JSON has all. */
static void fit_column(const struct pairs *p, struct table_column *column)
{
	const struct pair_opts *o = p->a->config;
	bool of_task = !strcmp(column->name, "tid"), of_cpu = !strcmp(column->name, "cpu");

	if (of_task)
		column->name = grouping_id(&p->grouping);
	if ((of_task && p->grouping.by == BY_COMM) || (of_cpu && !o->per_instance))
		column->where = TABLE_ONLY_JSON;
}

static void print_rows(struct pairs *p, uint64_t now)
{
	struct distribution_view view = *p->ops->view;
	struct table_column columns[COLUMNS];
	size_t n = view.ncolumns < COLUMNS ? view.ncolumns : COLUMNS;

	memcpy(columns, view.columns, n * sizeof(*columns));
	for (size_t i = 0; i < n && p->grouping.by; i++)
		fit_column(p, &columns[i]);
	view.columns = columns;
	distributions_print(p->a, &p->rows, &view, p->from, now, p->a->opts->json ? counts(p) : NULL);
}

void pairs_print(struct pairs *p)
{
	uint64_t now = analysis_end(p->a, p->last);

	if (!p->from)
		p->from = now;
	print_rows(p, now);
	if (!p->a->opts->json)
		print_counts(p);
	distributions_clear(&p->rows);
	grouping_next(&p->grouping);
	p->restarted = p->unbegun = p->refused = p->told = 0;
	p->from = now;
}

int pairs_picture(struct pairs *p, struct fault *f)
{
	const struct pair_opts *o = p->a->config;
	char text[64];
	const struct heatmap_title title = { text, "ns" };

	if (!p->heatmap)
		return 0;
	if (analysis_may_draw(p->a, o->heatmap.path, f))
		return -1;
	snprintf(text, sizeof(text), "perf-prof %s", p->a->ops->name);
	return heatmap_write(&o->heatmap, p->heatmap, &title, f);
}
