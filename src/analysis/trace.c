/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof trace: events as they come. */
#include "analysis/analysis.h"
#include "analysis/commands.h"
#include "analysis/fields.h"
#include "analysis/sources.h"

#include <string.h>

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	analysis_print(a, s);
}

static const struct analysis_ops ops = {
	.name = "trace",
	.sample = sample,
	.chains_of_users = true,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	if (args->noperands == 1 && !strcmp(args->operands[0], "help") && args->after_dashes < 0)
		return fields_print(config, f);
	return analysis_run(&ops, config, args, f);
}

static const struct opt_group groups[] = {
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, 0 },
	{ "Call chains", analysis_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 },
};

static const char *const description[] = {
	"What happens, in which order? Prints each event as it comes: local time, task, thread, "
	"flags (interrupts off, reschedule needed, in an interrupt, preemption depth), CPU, time of the kernel's "
	"clock, event and its fields; with -g the call chain below, kernel and user.",
	"`perf-prof trace -e EVENT help` prints each event's fields with type and size instead.",
	"A command behind -- is started once all events are on, and is the target unless one is named; "
	"its exit status becomes that of perf-prof.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof trace -e sched:sched_process_exec -N 10", "the next ten programs that start" },
	{ "perf-prof trace -e 'sched:sched_switch/prev_state==2/' -g --order",
	  "who blocks uninterruptibly, and where" },
	{ "perf-prof trace -e syscalls:sys_enter_openat -- ls", "files that a command opens" },
	{ "perf-prof trace -e sched:sched_switch help", "its fields" },
	{ NULL, NULL },
};

static void defaults(void *config)
{
	analysis_defaults(config);
	((struct analysis_opts *)config)->stream.sources = analysis_sources;
}

const struct command trace_command = {
	.name = "trace",
	.summary = "print events as they come",
	.usage = "-e EVENT[,EVENT...] [options] [help | [--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct analysis_opts),
	.defaults = defaults,
	.release = analysis_release,
	.run = run,
};
