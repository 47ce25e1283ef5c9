/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof python: calls a script's functions for events. */
#include "base/artifact.h"
#include "base/capabilities.h"
#include "base/descriptors.h"
#include "base/note.h"
#include "base/outfile.h"
#include "engine/analysis.h"
#include "events/parts.h"
#include "keeper/identity.h"
#include "keeper/keeper.h"
#include "python/host.h"
#include "python/python_options.h"
#include "stream/replay/replay.h"
#include "stream/stream.h"
#include "stream/summary.h"
#include "stream/watched/targets.h"
#include "template_text.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* `perf-prof python -e EVENT help`: prints a template of a script. */

/* What goes between the two parts of template.txt. */
static const char mark[] = "@HANDLERS@\n";

static const char *python_type(const struct trace_field *f)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		return "int";
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return f->fetched ? "str or None" : "str";
	default:
		return "bytes";
	}
}

/* Calls each(name, type) for the event's own fields. */
static void each_field(const struct stream_event *event,
		       void (*each)(const char *name, const char *type, FILE *out), FILE *out)
{
	static const char *const kinds[] = {
		[PART_INT] = "int", [PART_LIST] = "list", [PART_DICT] = "dict", [PART_BYTES] = "bytes",
	};
	const struct tracefmt *fmt = event->fmt;
	const struct sample_part *part;

	for (size_t i = fmt ? fmt->ncommon : 0; fmt && i < fmt->nfields; i++)
		each(fmt->fields[i].name, python_type(&fmt->fields[i]), out);
	if (stream_probe_address(event))
		each("ip", "int", out);
	for (size_t i = 0; !fmt && (part = sample_part_at(i)); i++)
		if (part->bits & event->layout.sample_type)
			each(part->name, kinds[part->kind], out);
	if (stream_event_has_counts(event))
		each(fmt ? "_counts" : "counts", "dict", out);
}

static void describe(const char *name, const char *type, FILE *out)
{
	fprintf(out, "        %s : %s\n", name, type);
}

static void show_access(const char *name, const char *type, FILE *out)
{
	fprintf(out, "    # %s = event.%s\n", name, name);
}

/* A text within a string of Python. */
static void put_quoted(const char *text, FILE *out)
{
	for (; *text; text++)
		fprintf(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
}

static void print_handler(const struct stream_event *event, FILE *out)
{
	fprintf(out, "\n# Event-specific handler (higher priority than __sample__)\n"
		"def %s(event):\n    \"\"\"\n    Handler for ", event->word);
	put_quoted(event->name, out);
	fputs("\n    event is a PerfEvent object with lazy field evaluation.\n\n"
		"    Event-specific fields:\n", out);
	each_field(event, describe, out);
	fputs("    \"\"\"\n    global event_count\n    event_count += 1\n\n"
	      "    # Access common fields\n    pid = event._pid\n    time_ns = event._time\n\n"
	      "    # Access event-specific fields\n", out);
	each_field(event, show_access, out);
	fputs("\n    # Example: print event\n    # event.print()\n", out);
}

/* Prints a script that runs as it is, with a handler for each event. */
static void template_print(const struct stream_event *events, size_t n, FILE *out)
{
	const char *handlers = strstr(template, mark);

	fwrite(template, 1, (size_t)(handlers - template), out);
	/* several PMUs can have an event of the same name */
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(events[i - 1].word, events[i].word))
			print_handler(&events[i], out);
	fputs(handlers + strlen(mark), out);
}

/*
 * Drops privileges. If root runs the script of another user (sudo, --user), events are opened as
 * root; then the process becomes that user for good, before the interpreter starts. Capabilities of
 * the program's file are dropped at the same point. Open events keep working.
 */

struct privilege {
	struct identity who;
	struct cgroups cgroups;        /* targets */
	bool given_up_later;           /* privilege_give_up() has something to drop */
	struct keeper *keeper;
};

/* Runs in a process of its own, as the user. Returns the exit code. */
static int try_script(const struct identity *who, const struct host_script *script)
{
	struct fault f = {0};
	int rc;

	if (identity_become(who, &f)) {
		fault_print(&f);
		return EXIT_FAILED;
	}
	rc = host_try(script);
	fflush(stdout);
	fflush(stderr);
	return rc;
}

static int tried_script(const struct identity *who, const struct host_script *script,
			struct fault *f)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(try_script(who, script));
	if (child < 0)
		return fault_set(f, EXIT_FAILED, "fork: %s", strerror(errno));
	if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0)
		return fault_set(f, EXIT_FAILED, "waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return fault_set(f, EXIT_FAILED, "%s: signal %d ended its compilation (%s)",
				 script->module, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status);
}

static int find_cgroups(struct cgroups *c, const struct opt_strings *names, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; i < names->n && !rc; i++) {
		int fd = targets_open_cgroup(names->v[i], c->mount, sizeof(c->mount), f);

		if (fd < 0)
			return -1;
		rc = cgroups_add(c, fd);
		close(fd);
	}
	return rc ? fault_set(f, EXIT_FAILED, "--cgroups: %s", strerror(-rc)) : 0;
}

/* Finds the user of the run. If it is another user, compiles the script as that user, so that errors are
 * reported before events are opened, and starts the keeper. 0, the exit code if the error was printed, or
 * -1 with f. */
static int privilege_begin(struct privilege *p, const char *user, const struct stream_opts *o,
			   const struct host_script *script, struct fault *f)
{
	int found = identity_find(&p->who, user, f), rc;
	bool of_file = !found && capabilities_of_file();

	if (of_file && identity_own(&p->who, f) < 0)
		return -1;
	if (found < 0 || (!found && !of_file))
		return found;
	/* what the shell of root had open is not the script's */
	if (!of_file && !descriptors_close_inherited(outfile_descriptor(o->output.path ? o->output.path : ""),
						     outfile_descriptor(o->record ? o->record : "")))
		return fault_set(f, EXIT_FAILED, "/proc/self/fd: %s; it lists what the script must not get: mount /proc", strerror(errno));
	rc = tried_script(&p->who, script, f);
	if (rc)
		return rc;
	p->given_up_later = true;
	if (of_file)
		return 0;        /* without privilege the script can open its user's files only */
	if (find_cgroups(&p->cgroups, &o->cgroups, f))
		return -1;
	p->keeper = keeper_start(&(struct keeper_opts){
		.who = &p->who, .targets = {
			.everybody = targets_everybody(o), .pids = o->pids.v, .npids = o->pids.n,
			.tids = o->tids.v, .ntids = o->tids.n, .cgroups = p->cgroups,
		},
	}, f);
	return p->keeper ? 0 : -1;
}

static const struct opener *privilege_opener(const struct privilege *p)
{
	return p->keeper ? keeper_opener(p->keeper) : &opener_direct;
}

/* 0, or -1 with f: then the script must not run. */
static int privilege_give_up(struct privilege *p, struct fault *f)
{
	return p->given_up_later ? identity_become(&p->who, f) : 0;
}

static void privilege_end(struct privilege *p)
{
	keeper_stop(p->keeper);
	identity_free(&p->who);
	cgroups_free(&p->cgroups);
	p->keeper = NULL;
}

static int start_job(void *ctx, struct fault *f)
{
	return job_start(&((struct host *)ctx)->job, f);
}

static const struct stream_ops ops = {
	.started = start_job,
	.sample = host_sample,
	.lost = host_lost,
	.interval = host_interval,
	.task = host_task,
	.print_stat = host_print_stat,
	.idle = host_idle,
	.interrupt = host_interrupt,
	.wait = host_wait,
};

static void want_all(struct stream *stream)
{
	size_t n;
	struct stream_event *events = stream_events(stream, &n);

	for (size_t i = 0; i < n; i++)
		events[i].wanted = true;
}

/* All that may need privilege. */
static int open_events(struct host *h, int verbose, struct fault *f)
{
	job_attach(&h->job, h->stream);
	if (names_open(&h->names, verbose, f) || stream_open(h->stream, f) || names_watch(&h->names, verbose, f))
		return -1;
	job_end_with(&h->job, h->stream);
	return 0;
}

static int load_script(struct python_config *config, struct host *h,
		       const struct host_script *script, struct fault *f)
{
	return stream_start_output(&config->stream, f) || host_start(h, script, f) ||
	       host_attach(h, f) ? -1 : 0;
}

/* Loads the script first: events without a handler are not opened. */
static int load_then_open(struct python_config *config, struct host *h,
			  const struct host_script *script, struct fault *f)
{
	return load_script(config, h, script, f) || host_init(h, f) ||
	       open_events(h, script->verbose, f) || host_open_frames(h, f) ? -1 : 0;
}

/* Loads the script after privileges are dropped: events without a handler are never enabled. */
static int open_then_load(struct python_config *config, struct host *h,
			  const struct host_script *script, struct privilege *p, struct fault *f)
{
	want_all(h->stream);
	if (open_events(h, script->verbose, f))
		return -1;
	stream_realtime_offset(h->stream);   /* opens the clock */
	if (privilege_give_up(p, f) || load_script(config, h, script, f))
		return -1;
	stream_settle(h->stream);
	return host_open_frames(h, f) || host_init(h, f) ? -1 : 0;
}

static int run_script(struct python_config *config, struct host *h,
		      const struct host_script *script, struct privilege *p, struct fault *f)
{
	struct fault nothing = { 0 };
	int status, rc = p->given_up_later && !config->stream.input ? open_then_load(config, h, script, p, f)
				   : load_then_open(config, h, script, f);

	if (rc || host_check_interrupt(f))
		return -1;   /* nothing was traced, so __exit__() is not called */
	rc = stream_run(h->stream, &ops, h, f);
	stream_set_ended(h->stream);
	names_finish(&h->names);
	host_exit(h);
	status = job_collect(&h->job, h->stream);
	if (!h->exit_code)
		h->exit_code = status;
	names_tell(&h->names, config->stream.verbose);
	summary_tell(h->stream);
	summary_tell_empty(h->stream);
	if (summary_check(h->stream, &nothing))   /* the script decides about the exit code */
		fault_print(&nothing);
	job_tell(&h->job);
	return rc ? rc : stream_check_whole(h->stream, f);
}

static void tell_broken_output(struct python_config *config, const struct host *h, struct fault *f)
{
	const char *path = config->stream.output.path;

	if (!h->output_error || h->output_error == EPIPE)
		return;   /* a reader that closes the pipe is a normal end */
	output_end(&config->stream.output);
	fault_set(f, EXIT_FAILED, "cannot write to %s: %s; the run has ended", path ? path : "stdout",
		  strerror(h->output_error));
}

static bool wants_help(const struct host_script *script)
{
	return !strcmp(script->module, "help");
}

/* script.py -- ./job: the index of the command among the operands; noperands: there is none. Words behind -- are the
 * script's if -- stands before the script, or if the first of them is an option. */
static int command_at(const struct opt_parser *args)
{
	int at = args->after_dashes;

	return at > 0 && at < args->noperands && args->operands[at][0] != '-' ? at : args->noperands;
}

/* The command behind -- or of --workload starts, and waits. 0, or -1 with f. */
static int prepare_job(struct python_config *config, struct job *j, const struct opt_parser *args, struct fault *f)
{
	static char sh[] = "/bin/sh", c[] = "-c";
	static char *shell[] = { sh, c, NULL, NULL };   /* as long as the run, which names the command */
	int at = command_at(args);
	char *const *argv = at < args->noperands ? args->operands + at : config->workload ? shell : NULL;

	shell[2] = (char *)config->workload;
	if (argv && config->stream.input)
		return fault_usage(f, "--input FILE reads a recording and runs no command: leave one of them out");
	if (config->workload && at < args->noperands)
		return fault_usage(f, "--workload %s: there is also a command after --: leave one of them out", config->workload);
	if (!job_prepare(j, argv, config->everybody, &config->stream, f))
		return 0;
	if (f->exit_code == WORKLOAD_MISSING && at < args->noperands)
		fault_set(f, WORKLOAD_MISSING, "%s: there is no such program to watch; put arguments of the script before --",
			  argv[0]);
	return -1;
}

int python_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct python_config *config = config_;
	struct host h = { .job = JOB_NONE };
	struct host_script script = {
		.venv = config->venv,
		.verbose = config->stream.verbose,
		.interval_ms = config->stream.interval_ms,
		.batch_rows = config->batch,
		.inside = Py_IsInitialized(),
	};
	struct privilege privilege = {0};
	struct reading reading = {0};
	struct stream *stream;
	int rc;

	if (python_check_start(config, args, f) || host_check_version(config->venv, f) || stream_check_operand(&config->stream, args, f))
		return -1;
	script.module = args->operands[0];
	script.argv = args->operands + 1;
	script.argc = command_at(args) - 1;
	if (config->stream.time.from + config->stream.time.to && !config->stream.input)
		return fault_usage(f, "--time is for recordings: add --input FILE");
	if (wants_help(&script) ? analysis_open_input(&config->stream, &reading, args, f) : stream_open_input(&config->stream, f))
		return -1;
	if (config->stream.record && !wants_help(&script) &&
	    artifact_check("--record", config->stream.record, f))
		return -1;   /* the file is created when events come, which may be long after */
	rc = wants_help(&script) ? 0 : prepare_job(config, &h.job, args, f);
	if (!rc && !wants_help(&script))
		rc = privilege_begin(&privilege, config->user, &config->stream, &script, f);
	/* a recording is read without privilege, since no event is opened */
	if (!rc && config->stream.input)
		rc = privilege_give_up(&privilege, f);
	stream = rc ? NULL : stream_new(&config->stream, f);
	if (!stream || stream_check_chains(stream, f)) {
		privilege_end(&privilege);
		stream_free(stream);
		job_abandon(&h.job);
		return rc ? rc : -1;
	}
	for (size_t i = 0; privilege.keeper && keeper_pid(privilege.keeper, i); i++)
		stream_add_own(stream, keeper_pid(privilege.keeper, i));
	if (wants_help(&script)) {
		size_t n;
		struct stream_event *events = stream_events(stream, &n);

		template_print(events, n, stdout);
	} else if (!host_begin(&h, stream, privilege_opener(&privilege), f)) {
		run_script(config, &h, &script, &privilege, f);
	}
	tell_broken_output(config, &h, f);
	host_finish(&h);
	output_end(&config->stream.output);
	stream_free(stream);
	job_abandon(&h.job);
	privilege_end(&privilege);
	reading_end(&reading);
	return h.exit_code;
}

const char *python_version(void)
{
	return PY_VERSION " (" PYTHON_BIN ")";
}
