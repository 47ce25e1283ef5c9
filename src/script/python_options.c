/* SPDX-License-Identifier: Apache-2.0 */
#include "script/python_options.h"

#include "script/python_command.h"

#include "analysis/sources.h"

static const struct opt script_opts[] = {
	{ "venv", 0, NULL, OPT_STRING, offsetof(struct python_config, venv), "DIR",
	  "Use this virtual environment. Default: $VIRTUAL_ENV, which root ignores.", false, NULL },
	{ "user", 0, NULL, OPT_STRING, offsetof(struct python_config, user), "NAME",
	  "As root: open the events, then become this user for good, and run the script as that "
	  "user. Default: who called sudo; without sudo, root stays root.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, offsetof(struct python_config, stream) },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, offsetof(struct python_config, stream) },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, offsetof(struct python_config, stream) },
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, offsetof(struct python_config, stream) },
	{ "Call chains", stream_callchain_opts, STREAM_CALLCHAIN_NOPTS,
	  offsetof(struct python_config, stream) },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, offsetof(struct python_config, stream) },
	{ "Script", script_opts, 2, 0 },
};

static const char *const description[] = {
	"Hands kernel events, live or out of a recording, to the functions of a Python script. Each event is a PerfEvent "
	"object, whose fields are read when they are asked for.",
	"The script is a file, a package (a folder with __init__.py), an extension module (Cython's, or "
	"any other), or a name that is looked up in the current directory and then on sys.path. The "
	"folder where it is found is importable after the standard library; nothing else of the current "
	"directory is. A script may be called like a standard module: io.py is loaded as script_io. A "
	"name that could be two files is an error.",
	"Functions that the script may define: __init__(), before events are delivered; an exception "
	"in it ends the run with exit code 1. __exit__(), at the end. __interval__(), every -i "
	"milliseconds. __print_stat__(indent), on SIGUSR2. __lost__(start, end), when events were "
	"lost; it gets a dict of count, cpu and cause, too, if it takes three arguments. sys__name(event), for the event sys:name (-, . and : become _), sys__alias(event) for "
	"one with alias=. __sample__(event), for all events without a handler of their own.",
	"An event has _pid and _tid (of the task that was running), _time (ns of the perf clock; for "
	"latencies), _cpu, _period, common_type, common_flags, common_preempt_count, common_pid, "
	"_realtime (ns since the epoch; for display), _callchain (if call chains are sampled: a list of "
	"dicts with addr, symbol, offset, kernel, dso), _event (its name), and the fields of its "
	"tracepoint: int, str, or bytes for arrays. A pointer into user space, such as openat's "
	"filename, is a number. event.field, event[\"field\"], event.get(field, default), field in event, "
	"len(event), keys(), values(), items(), iteration, to_dict(), print(timestamp=True, "
	"callchain=True), str(), repr() and hash() work; an event that the script keeps stays valid. "
	"Events compare, copy and pickle by content; a pickle can be read where the same event is "
	"traced with the same fields. "
	"`perf-prof python -e EVENT help` writes a script to start from, with each event's fields.",
	"A frame of _callchain has addr (the address as it was sampled), symbol (the function, \"Unknown\" "
	"if it has no name), offset (in the function), kernel (True or False) and dso "
	"([kernel.kallsyms], [module], [vdso], or the path of the program or library). Frames can't be "
	"changed: the same frame is the same object in all lists; frame.copy() is a dict of one's own. "
	"-g samples the kernel's part, --user-callchain adds the user's, for which programs have to be "
	"compiled with frame pointers; --call-graph dwarf finds the user's by the unwind tables of "
	"programs and libraries, from registers and stack that each sample brings. What was mapped at the time of the event counts, so processes "
	"that have exited keep their names; a file that was replaced or deleted before it was looked "
	"at has none.",
	"Besides tracepoints, -e takes sources, perf events and probes; a name is looked up in this "
	"order: tracepoint, probe, source, PMU, perf event (sw:page-faults forces the event). Their "
	"handlers are called by the alias, else by the name with _ for what can't stand in a function's "
	"name: profile(event), cycles_u(event), uprobe_malloc(event).",
	"Sources are commands with their options in the filter's place: profile (cycles or the CPU "
	"clock, -F HZ, default 997) and page-faults. They take -g (here: the kernel's and the user's "
	"part), --user-callchain, --kernel-callchain, --exclude-user, --exclude-kernel, --exclude-guest, "
	"-G, -N (ends the source alone) and -m. Their events, and perf events, have _pid, _tid, _time, "
	"_cpu, _realtime, _event and the parts of their sample: ip, addr, period, callchain, regs_intr "
	"and so on. Perf events take the attributes period=N, freq=N and sample=PART+PART.",
	"Probes are kprobe:FUNCTION, kretprobe:FUNCTION, uprobe:FUNCTION@\"PATH\", "
	"uretprobe:FUNCTION@\"PATH\" and usdt:PROVIDER:NAME@\"PATH\". args=\"NAME=WHAT:TYPE ...\" brings "
	"arguments as fields, in the words of the kernel's fetch arguments; $arg1 to $arg6 are those of a "
	"function. docs/events.md has it at length.",
	"A tracepoint belongs to the task that runs when it is hit: a wake-up to the waker. So -p and "
	"-C choose who wakes, not who is woken; filter by fields for that: sched:sched_wakeup/pid==PID/.",
	"A filter is a C-like expression over the event's fields and _cpu, _pid, _tid, _time, _period: "
	"comm==\"x\", comm~\"x*\" (a glob), numbers with all of C's operators. What the kernel's filters can "
	"say is evaluated by the kernel and costs next to nothing; the rest is evaluated by perf-prof "
	"for each event, which -v tells. An event for whose filter there is no value (a division by "
	"zero) is left out, and that is told.",
	"An exception in a handler prints its traceback and processing goes on: the first ones in "
	"full, then a count per kind at most once a second, the total at the end. sys.exit(n) ends "
	"the run with exit code n after __exit__(); in __init__() or the script's own text before it "
	"begins, without __exit__(). Threads of the script run while perf-prof waits, and are waited for "
	"at the end unless they are daemons. A forked child ends where it would go on with the run.",
	"A handler that could never work - too many or too few arguments, async, with a yield, no function "
	"- is an error before anything is traced. A script without a handler for any event is one, too, "
	"or, if it has other functions of ours, a warning.",
	"-I FILE reads a recording, made by perf record or by --record, anywhere, instead of tracing: the "
	"same script, the same -e, filters (all evaluated by perf-prof), -C, -p, -t and -N, in order of "
	"time; without -e all events of the recording. -i runs on the recording's clock. No privilege is "
	"needed. Fields are those of the kernel that recorded; tasks have the names that they had, "
	"functions are looked up in files of the same build id, and those of the kernel if it is the one "
	"that runs now. A CPU that was not recorded is -1. -I - reads what perf record -o - writes, "
	"as it comes. A recording that is cut or damaged is read as far as it goes; what could not be read "
	"is told, and the exit code is 1.",
	"Options may stand before or after the script; after it, words that are no option of ours go "
	"to the script. After -- all words are the script and its arguments.",
	"SIGINT or SIGTERM ends the run: what the rings hold is delivered for at most 500 ms, the "
	"rest is counted as lost, __exit__() runs, the exit code is 0. A second one ends perf-prof "
	"with 130.",
	"On all-CPU targets perf-prof's own events are left out (but for sched_switch), or its "
	"printing would feed itself.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof python -e sched:sched_wakeup -i 1000 counter.py", "Count wake-ups per second." },
	{ "perf-prof python -e sched:sched_wakeup,sched:sched_switch -i 1000 latency.py",
	  "Two events in one script." },
	{ "perf-prof python -e 'sched:sched_wakeup/pid>1000/' -C 0-3 filter_events.py",
	  "Filtered in the kernel, on four CPUs." },
	{ "perf-prof python -e sched:sched_wakeup,'profile/-F 997 -g/' -i 1000 combined.py",
	  "Wake-ups, and samples of what the CPUs execute." },
	{ "perf-prof python -e 'uprobe:main@\"/bin/ls\"//args=\"n=$arg1:s32\"/' -N 1 ls.py",
	  "A probe in a program, with an argument." },
	{ "perf record -e sched:* -a -- sleep 5; perf-prof python -I perf.data latency.py",
	  "The same script, on a recording." },
	{ "perf-prof python -e sched:sched_wakeup -- analyzer.py --threshold 100",
	  "Arguments for the script." },
	{ NULL, NULL },
};

static void defaults(void *config)
{
	struct python_config *c = config;

	stream_opts_defaults(&c->stream);
	c->stream.sources = analysis_sources;
}

static void release(void *config)
{
	stream_opts_free(&((struct python_config *)config)->stream);
}

const struct command python_command = {
	.name = "python",
	.summary = "hand events to the functions of a Python script",
	.usage = "{-e EVENT[,EVENT...] | -I FILE} [options] [--] script.py [args...]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(*groups),
	.examples = examples,
	.mode = OPT_MODE_SCRIPT,
	.config_size = sizeof(struct python_config),
	.defaults = defaults,
	.release = release,
	.run = python_run,
};
