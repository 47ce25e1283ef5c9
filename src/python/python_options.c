/* SPDX-License-Identifier: Apache-2.0 */
#include "python/python_options.h"

#include "base/descriptors.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_DEFAULT = 4096, BATCH_MOST = 65536 };

static const struct opt script_opts[] = {
	{ "batch", 0, NULL, OPT_U64, offsetof(struct python_config, batch), "N",
	  "Call functions that take batches (__batch__(), sys__name__batch()) when N events are there, or 50 ms after the first. "
	  "Default: 4096, at most 65536.", .least = 1, .most = BATCH_MOST,
	  .expected = "a number of events from 1 to 65536" },
	{ "workload", 0, NULL, OPT_STRING, offsetof(struct python_config, workload), "COMMAND",
	  "Run this command line with sh, and watch it, as -- COMMAND after the script does; for scripts "
	  "whose first line ends with --.", false, NULL },
	{ "venv", 0, NULL, OPT_STRING, offsetof(struct python_config, venv), "DIR",
	  "Use this virtual environment. Default: $VIRTUAL_ENV, which root ignores; a perf-prof that pip installed "
	  "uses its own.", false, NULL },
	{ "user", 0, NULL, OPT_STRING, offsetof(struct python_config, user), "NAME",
	  "As root: open the events, then switch to this user for the rest of the run, with an environment as that of sudo -u NAME. Default: "
	  "the user who ran sudo; without sudo, the script runs as root.", false, NULL },
};

static const struct opt all_opts[] = {
	{ "all-cpus", 'a', NULL, OPT_FLAG, offsetof(struct python_config, everybody), NULL,
	  "Watch the whole machine, even with a command. This is the default without a command.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, offsetof(struct python_config, stream) },
	{ "Sampling", stream_rate_opts, STREAM_RATE_NOPTS, offsetof(struct python_config, stream) },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, offsetof(struct python_config, stream) },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, offsetof(struct python_config, stream) },
	{ "Whole machine", all_opts, 1, 0 },
	{ "Reading events", stream_ring_opts, STREAM_RING_NOPTS, offsetof(struct python_config, stream) },
	{ "Call chains", stream_callchain_opts, STREAM_CALLCHAIN_NOPTS,
	  offsetof(struct python_config, stream) },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, offsetof(struct python_config, stream) },
	{ "Script", script_opts, sizeof(script_opts) / sizeof(*script_opts), 0 },
};

static const char *const description[] = {
	"Calls the functions of a Python script for kernel events, live or from a recording. Each "
	"event is a PerfEvent object; a field is decoded only when the script reads it.",
	"The script is a file, a package (a folder with __init__.py), an extension module (of Cython "
	"or any other), or a name, which is looked up in the current directory and then on sys.path. "
	"The folder of the script is on the import path, after the standard library; the rest of the "
	"current directory is not. A script can have the name of a standard module: io.py is loaded "
	"as script_io. A name that fits two files is an error.",
	"The first line of stdout is `Loaded module: PATH`. It is printed once the script's top-level code "
	"has run; a script that raises or exits is not loaded. Until then, output to sys.stdout is "
	"held back, and then follows that line. If it is more than 1 MiB, the line is printed "
	"early and output is no longer held back. Output that is written to file descriptor 1 "
	"directly, or by a child process, is not held back. The names perf_prof and PerfEvent need no "
	"import.",
	"As root, PYTHONPATH, PYTHONHOME and VIRTUAL_ENV are ignored: use --venv DIR, --user NAME, or "
	"sys.path.append() in the script. The same holds if the perf-prof file has capabilities; the "
	"script gets none of them.",
	"The script can define: __init__(), called before events are delivered; an exception in it "
	"ends the run with exit code 1. __exit__(), called at the end; an exception in it makes the exit code 1. __interval__(), every -i "
	"milliseconds. __print_stat__(indent), on SIGUSR2. __lost__(start, end), when events were "
	"lost; with a third parameter it also gets a dict of count, cpu and cause. The cause "
	"\"throttled\" means that the kernel stopped an event from start to end, because its samples "
	"came too fast: event is its name, count is 0 (not known). sys__name(event), "
	"for the event sys:name (-, . and : become _). sys__alias(event), for an event with alias=. "
	"__sample__(event), for all events without a handler of their own.",
	"Instead of single events, a function can take batches: sys__name__batch(batch) the events sys:name, __batch__(batch) "
	"all events without a handler of their own. It is called for --batch N events, or after 50 ms with fewer, and with the "
	"rest before __interval__() and __exit__(); for a recording, without these 50 ms. len(batch) is the number of rows, "
	"batch[\"NAME\"] a column, which NumPy, Polars and pyarrow read without copying; docs/sessions.md describes batches. "
	"A loss is a row in the batches of each function: _event is its cause, such as lost:ring, and _lost the number of events. "
	"The columns are _time, _cpu, _pid, _tid, _comm, _event, _lost, and all fields of the function's events. "
	"__batch_fields__ = [\"_time\", \"NAME\"] in the script names the fields instead; if it names some of the first five "
	"columns, the others of them are left out. Fewer columns take less time; _comm and other text take the most.",
	"An event has _pid, _tid and _comm (of the task that was running: its name then), _time (ns of the perf clock; for "
	"latencies), _cpu, _period, common_type, common_flags, common_preempt_count, common_pid, "
	"_realtime (ns since the epoch; for display), _callchain (if call chains are sampled: a list "
	"of dicts with addr, symbol, offset, kernel, dso), _event (its name), and the fields of its "
	"tracepoint: int, str, or bytes for arrays. A pointer into user space, such as openat's "
	"filename, is a number.",
	"event.field, event[\"field\"], event.get(field, default), field in event, len(event), keys(), "
	"values(), items(), iteration, to_dict(), print(timestamp=True, callchain=True), str(), "
	"repr() and hash() work. You can keep an event after the handler returns. Events compare, "
	"copy and pickle by content; a pickle can be read where the same event is traced with the "
	"same fields. `perf-prof python -e EVENT help` writes a script to start from, with the fields "
	"of each event.",
	"A frame of _callchain has addr (the sampled address), symbol (the function, or \"Unknown\"), "
	"offset (in the function), kernel (True or False) and dso ([kernel.kallsyms], [module], "
	"[vdso], or the path of the program or library). Frames are shared and read-only; "
	"frame.copy() makes a dict that can be changed. -g samples the kernel part of the chain. "
	"--user-callchain adds the user part, for programs that were compiled with frame pointers. "
	"--call-graph dwarf adds it for all programs and libraries that have unwind tables: each "
	"sample then carries registers and a copy of the stack. Addresses are looked up in what was "
	"mapped at the time of the event, so processes that have exited keep their names; a file that "
	"was replaced or deleted before it was read has none.",
	"Besides tracepoints, -e takes probes, sources, PMU events and perf events; a name is looked "
	"up in this order (sw:page-faults is always the perf event). Their handlers are named after the "
	"alias, or else after the event, with _ for characters that a function name cannot have: "
	"profile(event), cycles_u(event), uprobe_malloc(event).",
	"Sources are commands, with their options in place of the filter. profile (cycles or the CPU "
	"clock; -F HZ or -F max, default 997) and page-faults take samples. Their options are -g "
	"(here: the kernel and the user part), --user-callchain, --kernel-callchain, "
	"--exclude-user, --exclude-kernel, --exclude-guest, -G, -N (which ends only the source) and -m; profile also takes -C. "
	"Their events, and perf events, have _pid, _tid, _time, _cpu, _realtime, _event and the parts "
	"of their samples: ip, addr, period, callchain, regs_intr and so on. sample=PART+PART adds "
	"parts that are not sampled by default, such as sample=read. Perf events also take period=N "
	"and freq=N (or max).",
	"Probes are kprobe:FUNCTION, kretprobe:FUNCTION, uprobe:FUNCTION@FILE, "
	"uretprobe:FUNCTION@FILE and usdt:PROVIDER:NAME@FILE; `perf-prof list FILE` lists them. args=\"NAME=WHAT:TYPE ...\" adds "
	"arguments as fields: WHAT is the name of a parameter in a program with debug information (* for "
	"all), or the kernel's syntax for fetch arguments; $arg1 to $arg6 are the arguments of a function. See "
	"docs/events.md for details.",
	"A tracepoint belongs to the task that runs when it is hit: a wake-up belongs to the waker. "
	"So -p and -C select who wakes, not who is woken. To select who is woken, filter by a field: "
	"sched:sched_wakeup/pid==PID/.",
	"A filter is a C-like expression over the event's fields and _cpu, _pid, _tid, _comm, "
	"_time, _period: comm==\"x\", comm~\"x*\" (a glob), and numbers with all operators of C. The kernel "
	"evaluates what its filters support, which costs almost nothing; perf-prof evaluates the rest "
	"for each event, and says so with -v. Events for which the filter has no value (a "
	"division by zero) are dropped and reported.",
	"If a handler raises an exception, its traceback is printed and the run continues: the first "
	"ones in full, then a count per kind at most once a second, and the total at the end. The exit code stays 0, but is 1 if "
	"all calls of functions for events raised one. "
	"sys.exit(n) ends the run with exit code n after __exit__(); in __init__() or in top-level "
	"code it ends the run without __exit__(). Threads of the script run while perf-prof "
	"waits; at the end it waits for threads that are not daemons. A forked child ends when its "
	"function returns to perf-prof.",
	"A handler that cannot work (too many or too few parameters, async, a generator, not a "
	"function) is an error before anything is traced. It is also an error if a script has no handler "
	"for any of the events, or a warning if it has other callbacks, such as __interval__().",
	"-I FILE reads a recording instead of tracing; perf record, perf-prof record and --record "
	"make them. It runs the same script with the same -e, filters (all evaluated by perf-prof), "
	"-C, -p, -t and -N, in order of time; without -e it reads all events of the recording. -i "
	"runs on the recording's clock. No privilege is needed. Fields are those of the kernel that "
	"recorded, tasks have the names they had then, and functions are looked up in files with the "
	"same build id; kernel functions only if the same kernel runs now. _cpu is -1 if "
	"the CPU was not recorded. -I - reads the output of perf record -o - as it arrives. A damaged "
	"or incomplete recording is read as far as possible; what could not be read is reported, and "
	"the exit code is 1.",
	"Options can be before or after the script. After the script, words that are not options of "
	"perf-prof are passed to the script. With -- and a command after the script, perf-prof starts "
	"the command and watches it, with its threads and children, unless -a, -p, -t, -C or --cgroups give "
	"another target. The run ends when the command ends, with the exit code of the command if that "
	"of the script is 0. The command keeps the rights with which perf-prof was started, also with --user. If the first word after that -- begins with -, all words after it are passed "
	"to the script. After a -- before the script, all words are the script and its arguments; use "
	"--workload to start a command.",
	"SIGINT or SIGTERM ends the run: events in the rings are delivered for at most 500 ms, the "
	"rest is counted as lost, __exit__() runs, and the exit code is 0 (or that of a command that the "
	"signal ended, too). A second one, or the first after the run has ended otherwise, ends "
	"perf-prof at once with 130, also while __exit__() or a thread of the script runs.",
	"When all CPUs are watched, the events of perf-prof itself are left out (except sched_switch), "
	"because printing them would cause more of them.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof python -e sched:sched_wakeup -i 1000 counter.py", "count wake-ups per second" },
	{ "perf-prof python -e sched:sched_wakeup,sched:sched_switch -i 1000 latency.py",
	  "handle two events in one script" },
	{ "perf-prof python -e sched:sched_switch script.py -- ./job",
	  "start a command, and handle only its events and those of its threads and children" },
	{ "perf-prof python -e 'sched:sched_wakeup/pid>1000/' -C 0 filter_events.py",
	  "filter in the kernel, on the first CPU" },
	{ "perf-prof python -e sched:sched_wakeup,'profile/-F 997 -g/' -i 1000 combined.py",
	  "handle wake-ups, and samples of what the CPUs execute" },
	{ "perf-prof python -e 'uprobe:main@/bin/ls//args=\"n=$arg1:s32\"/' -N 1 ls.py",
	  "handle a probe in a program, with an argument" },
	{ "perf record -e 'sched:*' -a -- sleep 5; perf-prof python -I perf.data latency.py",
	  "run a script on a recording" },
	{ "perf-prof python -e sched:sched_wakeup -- analyzer.py --threshold 100",
	  "pass arguments to the script" },
	{ NULL, NULL },
};

/* Descriptors that the interpreter and the event list need at once, generously; and the fewest with which
 * the interpreter can load a module. */
enum { OWN_FILES = 32, LEAST_FILES = 4 };

static int check_files(struct fault *f)
{
	char remedy[256];

	if (descriptors_reserve(OWN_FILES) || descriptors_reserve(LEAST_FILES))
		return 0;
	return fault_set(f, EXIT_FAILED, "Python needs %d more open files, but %s", LEAST_FILES,
			 descriptors_remedy(OWN_FILES, remedy, sizeof(remedy)));
}

static int check_venv(const char *venv, struct fault *f)
{
	char python[4096];

	if (!venv)
		return 0;
	snprintf(python, sizeof(python), "%s/bin/python3", venv);
	if (access(python, X_OK))
		return fault_usage(f, "--venv %s: %s: %s; expected a virtual environment, as `python3 -m "
				   "venv %s` makes", venv, python, strerror(errno), venv);
	return 0;
}

int python_check_start(const struct python_config *config, const struct opt_parser *args, struct fault *f)
{
	if (!args->noperands)
		return fault_usage(f, "python: no script: expected perf-prof python -e EVENT "
				   "[options] script.py [args...]");
	return stream_check_everybody("python", config->everybody, &config->stream, f) || check_files(f) || check_venv(config->venv, f) ? -1 : 0;
}

static void defaults(void *config)
{
	struct python_config *c = config;

	stream_opts_defaults(&c->stream);
	c->stream.attrs = STREAM_ATTR_STACK;
	c->stream.passes = STREAM_ATTR_KEY;
	c->batch = BATCH_DEFAULT;
}

static void release(void *config)
{
	stream_opts_free(&((struct python_config *)config)->stream);
}

const struct command python_command = {
	.name = "python",
	.usual = "event pids all-cpus interval exit-N order call-graph input record user",
	.summary = "call functions of a Python script for events",
	.usage = "{-e EVENT[,EVENT...] | -I FILE} [options] [--] script.py [args...] [-- COMMAND [ARGUMENT...]]",
	.description = description,
	OPT_GROUPS(groups),
	.examples = examples,
	.mode = OPT_MODE_SCRIPT,
	.config_size = sizeof(struct python_config),
	.defaults = defaults,
	.sources_at = offsetof(struct python_config, stream.sources),
	.release = release,
	.run = python_run,
};
