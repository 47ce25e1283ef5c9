/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof python: calls a script's functions for events. */
#include "pyhost/python_options.h"

#include "base/artifact.h"
#include "base/descriptors.h"
#include "base/note.h"
#include "engine/analysis.h"
#include "pyhost/host.h"
#include "pyhost/privilege.h"
#include "pyhost/template.h"
#include "stream/replay/replay.h"
#include "stream/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct stream_ops ops = {
	.sample = host_sample,
	.lost = host_lost,
	.interval = host_interval,
	.task = host_task,
	.print_stat = host_print_stat,
	.idle = host_idle,
	.interrupt = host_interrupt,
	.wait = host_wait,
};

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
	return names_open(&h->names, verbose, f) || stream_open(h->stream, f) ||
	       names_watch(&h->names, verbose, f) ? -1 : 0;
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
	int rc = p->given_up_later && !config->stream.input ? open_then_load(config, h, script, p, f)
				   : load_then_open(config, h, script, f);

	if (rc || host_check_interrupt(f))
		return -1;   /* nothing was traced, so __exit__() is not called */
	rc = stream_run(h->stream, &ops, h, f);
	names_finish(&h->names);
	host_exit(h);
	names_tell(&h->names, config->stream.verbose);
	summary_tell(h->stream);
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

/* Descriptors that the interpreter and the event list need at once, generously; and the fewest with which
 * the interpreter can load a module. */
enum { OWN_FILES = 32, LEAST_FILES = 4 };

static bool wants_help(const struct host_script *script)
{
	return !strcmp(script->module, "help");
}

static bool is_executable(const char *file)
{
	struct stat st;

	return !stat(file, &st) && S_ISREG(st.st_mode) && !access(file, X_OK);
}

/* Follows the rules of execvp(). */
static bool is_program(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];
	size_t len;

	if (strchr(name, '/') || !path)
		return strchr(name, '/') && is_executable(name);
	for (;; path += len + 1) {
		len = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name);
		if (is_executable(file))
			return true;
		if (!path[len])
			return false;
	}
}

/* `python script.py -- ./job` looks as if it ran ./job, as other commands do. */
static void tell_command(const struct opt_parser *args, int verbose)
{
	if (args->after_dashes == 1 && args->noperands > 1 && is_program(args->operands[1]))
		note(verbose, "%s and what follows are arguments of the script, and python starts "
		     "no command: watch a process with -p, or read a recording of `perf-prof "
		     "record -e ... -- %s` with -I", args->operands[1],
		     args->operands[1]);
}

int python_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct python_config *config = config_;
	struct host h = {0};
	struct host_script script = {
		.venv = config->venv,
		.verbose = config->stream.verbose,
		.interval_ms = config->stream.interval_ms,
	};
	struct privilege privilege = {0};
	struct reading reading = {0};
	struct stream *stream;
	char remedy[256];
	int rc;

	if (!args->noperands)
		return fault_usage(f, "python: no script: expected perf-prof python -e EVENT "
				   "[options] script.py [args...]");
	if (!descriptors_reserve(OWN_FILES) && !descriptors_reserve(LEAST_FILES))
		return fault_set(f, EXIT_FAILED, "Python needs %d more open files, but %s", LEAST_FILES, descriptors_remedy(remedy, sizeof(remedy)));
	if (check_venv(config->venv, f) || stream_check_operand(&config->stream, args, f))
		return -1;
	tell_command(args, script.verbose);
	script.module = args->operands[0];
	script.argv = args->operands + 1;
	script.argc = args->noperands - 1;
	if (config->stream.time.from + config->stream.time.to && !config->stream.input)
		return fault_usage(f, "--time is for recordings: add --input FILE");
	if (wants_help(&script) ? analysis_open_input(&config->stream, &reading, args, f) : stream_open_input(&config->stream, f))
		return -1;
	if (config->stream.record && !wants_help(&script) &&
	    artifact_check("--record", config->stream.record, f))
		return -1;   /* the file is created when events come, which may be long after */
	rc = wants_help(&script) ? 0 : privilege_begin(&privilege, config->user, &config->stream, &script, f);
	/* a recording is read without privilege, since no event is opened */
	if (!rc && config->stream.input)
		rc = privilege_give_up(&privilege, f);
	stream = rc ? NULL : stream_new(&config->stream, f);
	if (!stream || stream_check_chains(stream, f)) {
		privilege_end(&privilege);
		stream_free(stream);
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
	privilege_end(&privilege);
	reading_end(&reading);
	return h.exit_code;
}

const char *python_version(void)
{
	return PY_VERSION " (" PYTHON_BIN ")";
}
