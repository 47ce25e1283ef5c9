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
	{ "--max-events", "script trace ", "--exit-N" },
	{ "--pid", NULL, "--pids" },
	{ "--tid", NULL, "--tids" },
	{ "--cpu", NULL, "--cpus" },
	{ "--all-user", NULL, "--exclude-kernel" },
	{ "--all-kernel", NULL, "--exclude-user" },
	{ "--stdio", "report diff profile ", "" },       /* tables are text */
	{ "--no-children", "report ", "" },              /* rows are sorted by self */
	{ "-f", "report script diff record ", "" },      /* recordings of other users are read, and older ones renamed */
	{ "--force", "report script diff record ", "" },
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

#define SUMMARY "here it is `perf-prof syscalls`"
#define CALL_FILTER "here it is part of the events: -e 'raw_syscalls:sys_enter/id==257/,raw_syscalls:sys_exit/id==257/' (257: openat)"
#define PRINTED_CALLS "here it is `perf-prof trace -e syscalls`, which prints each call with its time"
#define FAILED_CALLS "here it is --errors"
#define CALL_STACKS "here it is -g, with --than TIME, --errors or --paths"
#define CALL_PATHS "there is none here: --paths shows the paths and addresses that calls are given"
#define CALL_SUMMARY "it is not needed: the summary is the default"
#define CHILDREN "it is not needed: processes that it starts are watched, too"
#define FLAME_FORMAT "here the name of the file says it: --flame-graph out.svg, out.html, out.speedscope.json or out.folded"
#define NATIVE "here it is `perf-prof profile -g -- python3 -X perf SCRIPT` (CPython 3.12 or later); `perf-prof dump --native PID` shows " \
	       "both kinds of functions at one moment"
#define NO_LOCALS "there is none here: functions are shown, not the values of their variables"
#define PLACES "there is none here: --per-core prints a line for each core, -A for each CPU"
#define ENDED_BY "here it is --seconds N; a command is ended by `timeout`: -- timeout 5 COMMAND"
#define PERF_STAT "use perf stat itself"
#define CGROUP "here it is --cgroup PATH"
#define OF_FUNCTIONS(option) "the hottest functions are shown by `perf-prof profile " option "`"
#define RELATIVE "there is none here: times are those of the recording's clock"
#define NO_CHAINS "here it is -F comm,tid,cpu,time,event: without ip, there are no call chains"
#define TEMPLATE "here it is `perf-prof python -I FILE help`, which prints a script"

/* The first row that fits is used. */
static const struct {
	const char *option, *commands, *here;
} options[] = {
	/* strace */
	{ "-f", "syscalls trace ", CHILDREN },
	{ "-ff", "syscalls trace ", CHILDREN },
	{ "--follow-forks", "syscalls trace ", CHILDREN },
	{ "-c", "syscalls ", CALL_SUMMARY },
	{ "--summary-only", "syscalls ", CALL_SUMMARY },
	{ "--summary", "syscalls ", CALL_SUMMARY },
	{ "-w", "syscalls ", "it is not needed: times are elapsed times" },
	{ "-n", "syscalls ", "it is not needed: the table has the numbers of calls" },
	{ "-y", "syscalls ", CALL_PATHS },
	{ "-yy", "syscalls ", CALL_PATHS },
	{ "--decode-fds", "syscalls ", CALL_PATHS },
	{ "-s", "syscalls ", "it is not needed: paths have up to 1023 bytes, and the summary (perf trace -s) is the default" },
	{ "-k", "syscalls ", CALL_STACKS },
	{ "--stack-trace", "syscalls ", CALL_STACKS },
	{ "--stack-traces", "syscalls ", CALL_STACKS },
	{ "-Z", "syscalls ", FAILED_CALLS },
	{ "--hist", "syscalls ", "here it is `perf-prof latency --hist -e syscalls:sys_enter_NAME -e syscalls:sys_exit_NAME`" },
	{ "--failed-only", "syscalls ", FAILED_CALLS },
	{ "--failure", "syscalls ", FAILED_CALLS },
	{ "-z", "syscalls ", "there is none here: --errors shows only calls that fail" },
	{ "--successful-only", "syscalls ", "there is none here: --errors shows only calls that fail" },
	{ "-T", "syscalls ", "it is not needed: the table has the times of calls; --than TIME also prints each call that takes longer" },
	{ "-tt", "syscalls ", PRINTED_CALLS },
	{ "-ttt", "syscalls ", PRINTED_CALLS },
	{ "-r", "syscalls ", PRINTED_CALLS },
	{ "-P", "syscalls ", "here it is --match GLOB, such as --match '/etc/*'" },
	{ "--trace-path", "syscalls ", "here it is --match GLOB, such as --match '/etc/*'" },
	{ "-A", "syscalls ", "there is none here: -o FILE writes a new file" },
	{ "-E", "syscalls ", "here it is part of the command: -- env NAME=VALUE COMMAND" },
	{ "-S", "syscalls ", "there is none here: --csv and --json have all rows, for a program that sorts them" },
	{ "-u", "syscalls ", "here it is part of the command: -- setpriv --reuid=USER COMMAND" },
	{ "--trace", "syscalls ", CALL_FILTER },
	{ "--filter", "syscalls ", CALL_FILTER },
	{ "--duration", "syscalls ", "here it is --than TIME, such as --than 10ms" },
	{ "-T", "trace ", "it is not needed: lines begin with the time; those of -e syscalls end with the time that the call took" },
	{ "-tt", "trace ", "it is not needed: lines begin with the time" },
	{ "-ttt", "trace ", "it is not needed: lines begin with the time" },
	{ "-l", "list ", "it is not needed: events are the default" },
	/* py-spy */
	{ "-d", "profile ", "here it is --seconds N" },
	{ "--duration", "profile ", "here it is --seconds N" },
	{ "-r", "profile ", "here it is -F HZ" },
	{ "--rate", "profile record ", "here it is -F HZ" },
	{ "--frequency", "top ", OF_FUNCTIONS("-F HZ") },
	{ "--native", "profile ", NATIVE },
	{ "-n", "profile ", NATIVE },
	{ "--subprocesses", "profile ", CHILDREN },
	{ "--subprocesses", "dump ", "there is none here: name the other processes, too, as in `perf-prof dump PID PID`" },
	{ "--nonblocking", "profile ", "it is not needed: the program is never stopped" },
	{ "--nonblocking", "dump ", "it is not needed: a Python program is stopped only with --native" },
	{ "--threads", "profile ", "here it is --sort tid" },
	{ "-f", "profile ", FLAME_FORMAT },
	{ "--format", "profile ", FLAME_FORMAT },
	{ "-l", "dump ", NO_LOCALS },
	{ "--locals", "dump ", NO_LOCALS },
	/* perf */
	{ "--tui", "report profile ", "there is none here: tables are text, and --flame-graph FILE draws a picture" },
	{ "--gtk", "report ", "there is none here: tables are text, and --flame-graph FILE draws a picture" },
	{ "--children", "report ", "it is not needed: total% is the share with callees" },
	{ "--call-graph", "report ", "it is not needed: call chains of the recording are shown; --flame-graph FILE draws all" },
	{ "-g", "report ", "it is not needed: call chains of the recording are shown; --tree shows a call tree, --callers FUNCTION who calls a function, --callees FUNCTION what it calls" },
	{ "-G", "report ", "here it is --tree" },
	{ "-G", "script ", NO_CHAINS },
	{ "--hide-call-graph", "script ", NO_CHAINS },
	{ "-G", "stat trace top python ", CGROUP },
	{ "--for-each-cgroup", "stat ", CGROUP "; it can be repeated, and each has counts of its own" },
	{ "--reltime", "script ", RELATIVE },
	{ "--deltatime", "script ", RELATIVE },
	{ "-g", "script ", TEMPLATE },
	{ "--gen-script", "script ", TEMPLATE },
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
	{ "--filter", "stat ", "there is none here: `perf-prof top -e 'sched:sched_switch/prev_pid==1/'` counts events with a filter" },
	{ "--filter", NULL, "here a filter is part of the event: -e 'sched:sched_switch/prev_pid==1/'" },
	{ "-D", "record stat trace ", "there is none here: start perf-prof later" },
	{ "--delay", "top ", "here it is -i MS, such as -i 2000" },
	{ "--delay", "record stat trace ", "there is none here: start perf-prof later" },
	{ "--control", "record stat ", "there is none here: start perf-prof later" },
	{ "-u", "record stat top trace profile ", "there is none here: -p takes the ids of the user's processes" },
	{ "--uid", "record stat top trace profile ", "there is none here: -p takes the ids of the user's processes" },
	{ "--interval-count", "stat ", "here it is --seconds N, as in `perf-prof stat -i 1000 --seconds 5`" },
	{ "--timeout", "stat ", ENDED_BY },
	{ "-M", "stat ", PERF_STAT },
	{ "--metrics", "stat ", PERF_STAT },
	{ "--metric-only", "stat ", PERF_STAT },
	{ "--topdown", "stat ", PERF_STAT },
	{ "--transaction", "stat ", PERF_STAT },
	{ "--smi-cost", "stat ", PERF_STAT },
	{ "--per-socket", "stat ", PLACES },
	{ "--per-die", "stat ", PLACES },
	{ "--per-node", "stat ", PLACES },
	{ "--append", "stat ", "there is none here: leave out -o, and let the shell append, by 2>>FILE (without a command: >>FILE)" },
	{ "--append", "record ", "there is none here: each run writes a file, and renames an older one to FILE.old" },
	{ "--compression-level", "record ", "here it is -z" },
	{ "--no-syscalls", "trace ", "it is not needed: only the events of -e are printed" },
	{ "--syscalls", "trace ", "here it is -e syscalls" },
	{ "-F", "trace ", "here it is -e page-faults" },
	{ "--pf", "trace ", "here it is -e page-faults" },
	{ "--filter-pids", "trace ", "there is none here: `perf-prof trace -e 'EVENT/_pid!=123/'` leaves out a process" },
	{ "--max-stack", "trace record ", "here it is part of the event: -e 'EVENT//max-stack=8/', with -g" },
	{ "-F", "top ", OF_FUNCTIONS("-F HZ") },
	{ "--freq", "top ", OF_FUNCTIONS("-F HZ") },
	{ "-g", "top ", OF_FUNCTIONS("-g") },
	{ "--call-graph", "top ", OF_FUNCTIONS("-g") },
	{ "-U", "top ", OF_FUNCTIONS("--exclude-user") },
	{ "--hide_user_symbols", "top ", OF_FUNCTIONS("--exclude-user") },
	{ "-K", "top ", OF_FUNCTIONS("--exclude-kernel") },
	{ "--hide_kernel_symbols", "top ", OF_FUNCTIONS("--exclude-kernel") },
	{ "-d", "top ", "here it is -i MS, such as -i 2000" },
	{ "-z", "top ", "it is not needed: each interval (-i) has its own counts" },
	{ "--zero", "top ", "it is not needed: each interval (-i) has its own counts" },
	{ "-E", "top ", "here it is --rows N" },
	{ "--entries", "top ", "here it is --rows N" },
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
	{ "--duration", "record stat top python sql waits rundelay task-state page-faults migrations kvm-exit latency ",
	  "here it is --seconds N" },
	{ "--errors", "trace ", TRACE_ERRORS },
	{ "--failure", "trace ", TRACE_ERRORS },
	{ "-s", "trace ", SUMMARY },
	{ "--summary", "trace ", SUMMARY },
	{ "-S", "trace ", SUMMARY },
	{ "--with-summary", "trace ", SUMMARY },
	{ "--errno-summary", "trace ", SUMMARY },
	{ "-c", "trace ", SUMMARY },
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
	{ "ftrace", "here it is `perf-prof trace`, and `perf-prof latency --hist` for the latency of a function" },
	{ "data", "here it is `perf-prof convert`" },
};

#define RECORD "`perf-prof record -- COMMAND` records, and `perf-prof report` shows the recording"
#define REPORT "`perf-prof report` shows a recording"

static const struct {
	const char *word, *commands, *here;
} operands[] = {
	{ "record", "stat trace top syscalls profile waits latency ", RECORD },
	{ "report", "stat trace top syscalls profile waits latency ", REPORT },
	{ "record", "script ", RECORD ", or `perf-prof python -I FILE SCRIPT` calls a script for its events" },
	{ "report", "script ", REPORT ", and `perf-prof python -I FILE SCRIPT` calls a script for its events" },
	{ "flamegraph", "script report ", "here it is `perf-prof report --flame-graph out.svg`" },
	{ "flamegraph", "profile ", "here it is `perf-prof profile --flame-graph out.svg`" },
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

const char *perfwords_operand(const char *command, const char *word)
{
	for (size_t i = 0; i < sizeof(operands) / sizeof(*operands); i++)
		if (!strcmp(operands[i].word, word) && has_word(operands[i].commands, command))
			return operands[i].here;
	return NULL;
}
