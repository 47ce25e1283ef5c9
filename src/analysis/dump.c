/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof dump: the stacks of all threads of a process, now. */
#include "analysis/commands.h"
#include "analysis/dump_print.h"
#include "analysis/dump_waits.h"
#include "base/cpulist.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct dump_config {
	struct numlist pids;             /* -p */
	bool json;
	struct dump_opts opts;
	unsigned int printed;            /* processes */
};

static int dump_one(struct dump_config *c, pid_t pid, struct fault *f)
{
	struct dump d;
	int rc = dump_begin(&d, pid, &c->opts, f);

	if (!rc)
		dump_waits_find(&d);
	if (!rc && c->json)
		rc = dump_print_json(&d, f);
	else if (!rc) {
		dump_print(&d, !c->printed++);
		dump_waits_print_deadlocks(&d);
	}
	dump_end(&d);
	return rc;
}

static int parse_pid(const char *text, pid_t *pid, struct fault *f)
{
	char *end;
	long n = strtol(text, &end, 10);

	*pid = (pid_t)n;
	if (*text >= '0' && *text <= '9' && !*end && n > 0 && n <= INT_MAX)
		return 0;
	return fault_usage(f, "dump: %s: expected the id of a process, such as 1234", text);
}

/* As -p of other commands. */
static int parse_pids(const char *text, void *field, struct fault *f)
{
	struct numlist more;
	int rc = numlist_parse(&more, text, INT_MAX, NULL);

	if (!rc) {
		for (size_t i = 0; !rc && i < more.n; i++)
			rc = more.v[i] ? numlist_add(field, more.v[i]) : -EINVAL;
		numlist_free(&more);
	}
	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return rc ? fault_usage(f, "--pids %s: expected ids of processes, separated by commas, such as 1234 or 1234,5678", text) : 0;
}

/* One that has ended meanwhile, or may not be read, is no reason to leave out the others. */
static void dump_next(struct dump_config *c, pid_t pid, struct fault *f)
{
	struct fault why = { 0 };

	if (!dump_one(c, pid, &why))
		return;
	if (f->exit_code)
		fault_print(f);
	*f = why;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct dump_config *c = config;
	pid_t pid;

	if (!args->noperands && !c->pids.n)
		return fault_usage(f, "dump: expected the id of a process: perf-prof dump PID"), f->exit_code;
	if (access("/proc/self", F_OK))
		return fault_set(f, EXIT_FAILED, "dump: /proc is not mounted, from which processes are read; mount -t proc proc /proc"),
		       f->exit_code;
	for (int i = 0; i < args->noperands; i++)
		if (parse_pid(args->operands[i], &pid, f))
			return f->exit_code;
	for (size_t i = 0; i < c->pids.n; i++)
		dump_next(c, c->pids.v[i], f);
	for (int i = 0; i < args->noperands; i++) {
		parse_pid(args->operands[i], &pid, NULL);
		dump_next(c, pid, f);
	}
	return f->exit_code;
}

#define AT(member) offsetof(struct dump_config, member)

static void release(void *config)
{
	numlist_free(&((struct dump_config *)config)->pids);
}

static const struct opt opts[] = {
	{ "pids", 'p', "pid", OPT_CALL, AT(pids), "LIST", "Show these processes; the same as naming them without -p.", false, parse_pids },
	{ "gil", 0, NULL, OPT_FLAG, AT(opts.only_gil), NULL, "Show only the thread that holds the GIL.", false, NULL },
	{ "native", 0, NULL, OPT_FLAG, AT(opts.native), NULL, "Show the native functions of a Python program, too, among its Python "
	  "functions. Stops it for some milliseconds.", false, NULL },
	{ "json", 0, NULL, OPT_FLAG, AT(json), NULL, "Print JSON, one object for each process.", false, NULL },
};

const struct command dump_command = {
	.name = "dump",
	.summary = "show the stacks of all threads of a process, now",
	.usage = "[--native] [--gil] [--json] PID...",
	.description = COMMAND_TEXT(
		"What is a program doing right now, and where does it hang? Shows the functions of each thread, innermost first, and whether "
		"the thread runs. If it waits for a lock, also the lock's variable and the thread that holds it, if they are known. "
		"Of a Python program, it shows the Python functions with file and line, and which thread holds the GIL.",
		"Python functions: of any running CPython 3.9 to 3.14 of 64 bits, however it was started. perf-prof reads the interpreter's "
		"memory; the program is not stopped, and nothing in it is changed. Of CPython 3.14, it also shows the asyncio tasks of each "
		"thread, below the tasks that wait for them: name, state, and the functions that await each other.",
		"Native functions: perf-prof stops the program with ptrace(2), copies registers and stacks, and lets it go on, after some "
		"milliseconds. If perf-prof is killed meanwhile, the program goes on, too. System calls that signal(7) lists as interrupted by "
		"stop signals, such as epoll_wait(2), fail with EINTR.",
		"Both need the right to trace the process: root, or the same user if kernel.yama.ptrace_scope allows it."),
	OPT_GROUP_ROWS(
		{ "Options", opts, sizeof(opts) / sizeof(*opts), 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof dump 1234", "show where each thread of process 1234 is" },
		{ "perf-prof dump --native 1234", "the same, with the native functions that its Python functions call" },
		{ "perf-prof dump $(pgrep -f manage.py)", "the same for all processes of a service" },
		{ "perf-prof dump --json 1234 | jq -r '.threads[] | select(.gil) | .frames[0].function'", "the function that has the GIL" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct dump_config), .release = release,
	.run = run,
};
