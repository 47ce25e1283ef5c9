/* SPDX-License-Identifier: Apache-2.0 */
#include "python/sql_options.h"

#include "python/become.h"

#include <unistd.h>

static const struct opt ring_opts[] = {
	{ "interval", 'i', NULL, OPT_U64, offsetof(struct sql_config, stream.interval_ms), "MS",
	  "Run the query every MS milliseconds (or with a unit: 2s), over the events of that time. Default: once, at the end.",
	  .most = STREAM_MAX_INTERVAL_MS, .expected = "milliseconds, such as 1000: from 0 (never) to " STREAM_MAX_INTERVAL_TEXT },
};

static const struct opt all_opts[] = {
	{ "all-cpus", 'a', NULL, OPT_FLAG, offsetof(struct sql_config, everybody), NULL,
	  "Watch the whole machine, even with a command. This is the default without a command.", false, NULL },
};

static const struct opt output_opts[] = {
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct sql_config, json), NULL,
	  "Print JSON: a line with a list of objects, one for each row, whenever the query runs.", false, NULL },
	{ "csv", 0, NULL, OPT_FLAG, offsetof(struct sql_config, csv), NULL,
	  "Print CSV: one line with the names, then the rows.", false, NULL },
	{ "venv", 0, NULL, OPT_STRING, offsetof(struct sql_config, venv), "DIR",
	  "Use DuckDB of this virtual environment. Default: $VIRTUAL_ENV, which root ignores; a perf-prof that pip installed uses its "
	  "own environment.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, offsetof(struct sql_config, stream) },
	{ "Sampling", stream_rate_opts, STREAM_RATE_NOPTS, offsetof(struct sql_config, stream) },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, offsetof(struct sql_config, stream) },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, offsetof(struct sql_config, stream) },
	{ "Whole machine", all_opts, 1, 0 },
	{ "Query", ring_opts, 1, 0 },
	{ "Reading events", stream_ring_opts + 1, STREAM_RING_NOPTS - 1, offsetof(struct sql_config, stream) },
	{ "Output", output_opts, sizeof(output_opts) / sizeof(*output_opts), 0 },
	{ "Messages", stream_output_opts + 3, 2, offsetof(struct sql_config, stream) },
};

/* The operand behind --; noperands: there is none. */
static int job_at(const struct opt_parser *args)
{
	return args->after_dashes > 0 ? args->after_dashes : args->noperands;
}

char *const *sql_job(const struct opt_parser *args)
{
	return job_at(args) < args->noperands ? args->operands + job_at(args) : NULL;
}

static int more_operands(const char *word, struct fault *f)
{
	if (!access(word, F_OK))
		return fault_usage(f, "sql: %s: expected one query, in quotes; a recording is read with -I %s; put a command to watch "
				   "after --", word, word);
	return fault_usage(f, "sql: %s: expected one query, in quotes; -I FILE reads a recording; put a command to watch after "
			   "--", word);
}

int sql_check(const struct sql_config *config, const struct opt_parser *args, struct fault *f)
{
	const struct stream_opts *o = &config->stream;

	if (!args->noperands)
		return fault_usage(f, "sql: no query: expected perf-prof sql -e EVENT [options] 'select ...'");
	if (job_at(args) > 1 || !args->after_dashes)
		return more_operands(args->operands[1] ? args->operands[1] : args->operands[0], f);
	if (o->input && sql_job(args))
		return fault_usage(f, "--input FILE reads a recording and runs no command: leave one of them out");
	if (o->input && o->interval_ms)
		return fault_usage(f, "-i %llu: a recording is asked once, over all its events: leave out -i, or choose a part with --time",
				   (unsigned long long)o->interval_ms);
	if (o->time.from + o->time.to && !o->input)
		return fault_usage(f, "--time is for recordings: add --input FILE");
	if (stream_check_everybody("sql", config->everybody, o, f))
		return -1;
	return config->json && config->csv ? fault_usage(f, "--json and --csv: expected one of them") : 0;
}

static void defaults(void *config)
{
	stream_opts_defaults(&((struct sql_config *)config)->stream);
	((struct sql_config *)config)->stream.order = true;
}

static void release(void *config)
{
	stream_opts_free(&((struct sql_config *)config)->stream);
}

const struct command sql_command = {
	.name = "sql",
	.usual = "event input interval seconds pids json csv venv",
	.summary = "ask events and recordings in SQL",
	.usage = "{-e EVENT[,EVENT...] | -I FILE} [options] 'QUERY' [-- COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"Runs a query of SQL over kernel events, live or from a recording, and prints its result. DuckDB does it: its SQL, its "
		"functions. It has to be installed for the Python that is used (`perf-prof version --build-options`): pip install "
		"duckdb.",
		"Each event of -e is a table with its name, in double quotes where it has a colon (\"sched:sched_switch\"), or the part "
		"behind the colon (sched_switch) if no other event has that. Analyses that -e takes are tables, too (rundelay). The "
		"table `events` has all events with all columns; `lost` has a row for each gap: _time, _cpu, _event (why: lost:ring, for "
		"example) and _lost (how many).",
		"Columns are the event's fields, and _time (ns of the perf clock), _cpu, _pid, _tid, _comm (of the task that was running) "
		"and _event (the name).",
		"Only the tables and columns that the query names are opened and decoded. `select *` needs all. So name tables instead of "
		"filtering `events` by _event, and filter in -e what the kernel can filter: sched:sched_switch/prev_pid>0/.",
		"Without -i the query runs once, when the events have ended (Ctrl-C, -N, the end of COMMAND or of the recording). With -i "
		"it runs at each interval, over the events that came in it; these are kept in memory until then. Without -i, events are "
		"kept only if the query reads a table twice, or more than one table.",
		"DuckDB runs with your rights: never before root's rights are dropped. So with sudo, record as root and ask as yourself: "
		"sudo perf-prof record -e EVENT -o - | perf-prof sql -I - 'QUERY'.",
		"SIGINT or SIGTERM ends a live run: the query runs over what has come, and the exit code is 0. A second one ends perf-prof "
		"with 130, as does the first while a recording is read. Lost events are reported on stderr."),
	OPT_GROUPS(groups),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof sql -e sched:sched_switch -i 1000 'select prev_comm, count(*) as n from sched_switch group by all "
		  "order by n desc limit 10'", "the tasks that are switched most often, each second" },
		{ "perf-prof sql -I perf.data 'select _event, count(*) as n from events group by all'", "count the events of a recording" },
		{ "perf-prof sql -e rundelay 'select comm, quantile_cont(duration, 0.99) as ns from rundelay group by all' -- make",
		  "how long the tasks of a command waited for a CPU" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct sql_config),
	.defaults = defaults,
	.sources_at = offsetof(struct sql_config, stream.sources),
	.release = release,
	.run = sql_run,
};

/* perf-prof sql as it is started: the query needs DuckDB, which is a package of Python. */

int sql_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	static const char remedy[] =
		"DuckDB must not run with more rights than its user has. Record as root and ask as yourself: sudo perf-prof record -e EVENT "
		"-o - | perf-prof sql -I - 'QUERY'";
	struct sql_config *config = config_;
	char python[4096], packages[4096];

	if (sql_check(config, args, f) || become_check_rights("sql", NULL, remedy, f) ||
	    become_find(config->venv, python, sizeof(python), packages, sizeof(packages), f))
		return -1;
	return become_python(python, packages, "sql", args, f);
}
