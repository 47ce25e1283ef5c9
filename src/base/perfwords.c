/* SPDX-License-Identifier: Apache-2.0 */
#include "base/perfwords.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* commands: with a space behind each; NULL: all. own: the option here; "": none is needed. */
static const struct {
	const char *option, *commands, *own;
} taken[] = {
	{ "-i", "report script ", "--input" },
	{ "-s", "report profile ", "--sort" },
	{ "--percent-limit", "report diff ", "--than" },
	{ "-c", "report ", "--comms" },
	{ "-d", "report ", "--dsos" },
	{ "--max-events", "script ", "--exit-N" },
	{ "--all-user", NULL, "--exclude-kernel" },
	{ "--all-kernel", NULL, "--exclude-user" },
	{ "--stdio", "report diff profile ", "" },       /* tables are text */
	{ "--no-children", "report ", "" },              /* rows are sorted by self */
	{ "-f", "report script diff ", "" },             /* recordings of other users are read */
	{ "--force", "report script diff ", "" },
	{ "-T", "record ", "" },                         /* samples have their time, and their period */
	{ "--timestamp", "record ", "" },
	{ "-P", "record ", "" },
	{ "-R", "record ", "" },                         /* samples of tracepoints have raw data */
	{ "--group", "report ", "" },                    /* groups are shown */
	{ "--exclude-perf", "record ", "" },             /* perf-prof leaves itself out */
	{ "--per-thread", "record ", "" },
	{ "--buildid-mmap", "record ", "" },             /* build ids are in the records of mappings */
};

#define TRACE_THAN "here it is part of the source: -e 'syscalls/--than 10ms/'; `perf-prof syscalls --than 10ms` prints slow calls, too"
#define TRACE_ERRORS "here it is part of the source: -e syscalls/--errors/; `perf-prof syscalls --errors` counts calls that fail"

/* The first row that fits is used. */
static const struct {
	const char *option, *commands, *here;
} options[] = {
	{ "--tui", "report profile ", "there is none here: tables are text, and --flame-graph FILE draws a picture" },
	{ "--gtk", "report ", "there is none here: tables are text, and --flame-graph FILE draws a picture" },
	{ "--children", "report ", "it is not needed: total% is the share with callees" },
	{ "--call-graph", "report ", "it is not needed: call chains of the recording are shown; --flame-graph FILE draws all" },
	{ "-g", "report ", "it is not needed: call chains of the recording are shown; --tree shows a call tree, --callers FUNCTION who calls a function, --callees FUNCTION what it calls" },
	{ "-G", "report ", "here it is --tree" },
	{ "-G", "script ", "it is not needed: call chains of the recording are shown" },
	{ "-s", "top ", "here it is part of the event: -e 'EVENT//key=comm/'" },
	{ "--sort", "top ", "here it is part of the event: -e 'EVENT//key=comm/'" },
	{ "-s", "script ", "here it is `perf-prof python -I FILE SCRIPT`" },
	{ "--script", "script ", "here it is `perf-prof python -I FILE SCRIPT`" },
	{ "-S", "report ", "here it is --callers FUNCTION, --callees FUNCTION or --annotate FUNCTION" },
	{ "--symbols", "report ", "here it is --callers FUNCTION, --callees FUNCTION or --annotate FUNCTION" },
	{ "--comm", "script ", "there is none here: `perf-prof script -e 'EVENT/_comm==\"NAME\"/'` selects events, and --sort comm makes rows" },
	{ "--comms", "script ", "there is none here: `perf-prof script -e 'EVENT/_comm==\"NAME\"/'` selects events, and --sort comm makes rows" },
	{ "-n", "report ", "there is none here: --json has the count of each row" },
	{ "--show-nr-samples", "report ", "there is none here: --json has the count of each row" },
	{ "-T", "report ", "here it is --sort tid" },
	{ "--threads", "report ", "here it is --sort tid" },
	{ "--tasks", "report ", "here it is --sort comm,pid" },
	{ "--stats", "report ", "`perf report --stats` itself reads recordings of perf-prof" },
	{ "--header", "report script ", "`perf report --header-only` itself reads recordings of perf-prof" },
	{ "--header-only", "report script ", "`perf report --header-only` itself reads recordings of perf-prof" },
	{ "-F", "report ", "there is none here: --sort selects what makes a row, and --json has all columns" },
	{ "--fields", "report ", "there is none here: --sort selects what makes a row, and --json has all columns" },
	{ "-D", "script report ", "there is none here: `perf script -D` prints the raw records, also of recordings of perf-prof" },
	{ "--symfs", NULL, "there is none here: `perf buildid-cache --add FILE` keeps files for recordings of other machines" },
	{ "-k", "report script ", "it is not needed: perf's cache has symbols of other kernels (perf buildid-cache)" },
	{ "--vmlinux", NULL, "it is not needed: perf's cache has symbols of other kernels (perf buildid-cache)" },
	{ "--kallsyms", NULL, "it is not needed: perf's cache has symbols of other kernels (perf buildid-cache)" },
	{ "--all-user", NULL, "here it is :u behind the event's name" },
	{ "--all-kernel", NULL, "here it is :k behind the event's name" },
	{ "--group", "record ", "here groups are written -e '{A,B}:S'" },
	{ "--filter", "rundelay task-state waits migrations page-faults ",
	  "there is none here: -p, -t and --cgroups select tasks, and `perf-prof trace -e 'EVENT/FILTER/'` filters events" },
	{ "--filter", NULL, "here a filter is part of the event: -e 'sched:sched_switch/prev_pid==1/'" },
	{ "-D", "record stat ", "there is none here: start perf-prof later" },
	{ "--delay", "record stat ", "there is none here: start perf-prof later" },
	{ "--control", "record stat ", "there is none here: start perf-prof later" },
	{ "-u", "record stat top trace profile ", "there is none here: -p takes the ids of the user's processes" },
	{ "--uid", "record stat top trace profile ", "there is none here: -p takes the ids of the user's processes" },
	{ "-k", "record ", "here it is --monotonic" },
	{ "--clockid", "record ", "here it is --monotonic" },
	{ "-b", "record ", "here it is part of the event: -e 'cycles//sample=branch_stack/'" },
	{ "-j", "record ", "here it is part of the event: -e 'cycles//sample=branch_stack/'" },
	{ "-d", "record ", "here it is part of the event: -e 'EVENT//sample=addr/'" },
	{ "-n", "record ", "there is none here: `perf-prof stat` counts without samples" },
	{ "-c", "script ", "there is none here: `perf-prof script -e 'EVENT/_comm==\"NAME\"/'` selects events" },
	{ "-c", "diff ", "there is none here: diff compares shares" },
	{ "--compute", "diff ", "there is none here: diff compares shares" },
	{ "--off-cpu", "record ", "here it is `perf-prof profile --off-cpu`" },
	{ "--than", "trace ", TRACE_THAN },
	{ "--duration", "trace ", TRACE_THAN },
	{ "--errors", "trace ", TRACE_ERRORS },
	{ "--failure", "trace ", TRACE_ERRORS },
	{ "-s", "trace ", "here it is `perf-prof syscalls`" },
	{ "--summary", "trace ", "here it is `perf-prof syscalls`" },
};

static const struct {
	const char *command, *here;
} commands[] = {
	{ "annotate", "here it is `perf-prof report --annotate FUNCTION`" },
	{ "sched", "here it is `perf-prof rundelay` (latency), `perf-prof task-state` (timehist), `perf-prof migrations`" },
	{ "probe", "here probes are events, as in `perf-prof trace -e uprobe:FUNCTION@FILE`; `perf-prof list FILE` lists them" },
	{ "lock", "here it is `perf-prof waits --on`" },
	{ "mem", "use perf mem itself" },
	{ "c2c", "use perf c2c itself" },
	{ "kmem", "use perf kmem itself" },
	{ "bench", "use perf bench itself" },
	{ "archive", "use perf archive itself: it reads recordings of perf-prof" },
	{ "inject", "use perf inject itself, on recordings of perf record: perf-prof reads its output" },
	{ "config", "there are no settings: only options" },
	{ "kwork", "here it is `perf-prof latency` with the events of the work" },
	{ "evlist", "`perf-prof report FILE` has a section for each event" },
	{ "buildid-list", "`perf buildid-list` itself reads recordings of perf-prof" },
	{ "buildid-cache", "use `perf buildid-cache`: perf-prof uses the same cache, ~/.debug" },
	{ "timechart", "here it is `perf-prof convert --to perfetto`" },
	{ "kvm", "here it is `perf-prof kvm-exit`" },
	{ "ftrace", "here it is `perf-prof trace`" },
	{ "data", "here it is `perf-prof convert`" },
};

static bool has_word(const char *words, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && at[len] == ' ')
			return true;
	return false;
}

const char *perfwords_own(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(taken[i].option, option) && (!taken[i].commands || has_word(taken[i].commands, command)))
			return taken[i].own;
	return NULL;
}

const char *perfwords_option(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].option, option) && (!options[i].commands || has_word(options[i].commands, command)))
			return options[i].here;
	return NULL;
}

const char *perfwords_command(const char *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].command, command))
			return commands[i].here;
	return NULL;
}
