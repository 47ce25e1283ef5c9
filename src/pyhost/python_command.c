/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof python: calls a script's functions for events. */
#include "pyhost/python_options.h"

#include "base/artifact.h"
#include "base/note.h"
#include "engine/analysis.h"
#include "pyhost/host.h"
#include "pyhost/privilege.h"
#include "pyhost/template.h"
#include "stream/replay/replay.h"
#include "stream/summary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Whether a shell would start it: the path of an executable file, or the name of one in $PATH. */
static bool is_program(const char *word)
{
	const char *dir = strchr(word, '/') ? NULL : getenv("PATH");
	char path[PATH_MAX];
	struct stat st;

	if (!dir)
		return strchr(word, '/') && !stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK);
	for (size_t len; *dir; dir += len + !!dir[len]) {
		len = strcspn(dir, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, word);
		if (len && *word && !access(path, X_OK))
			return true;
	}
	return false;
}

/* A hint: after a -- before the script, a second one is an argument of the script. */
static void tell_no_job(const struct python_config *config, const struct opt_parser *args)
{
	for (int i = 1; !args->after_dashes && !config->workload && i + 1 < args->noperands; i++) {
		if (strcmp(args->operands[i], "--"))
			continue;
		if (is_program(args->operands[i + 1]))
			note(config->stream.verbose, "-- %s is passed to the script, like all words after the first --; to start a "
			     "command, use --workload before that --", args->operands[i + 1]);
		return;
	}
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
	tell_no_job(config, args);
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
