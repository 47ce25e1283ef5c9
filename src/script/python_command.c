/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof python: events into a script's functions. */
#include "script/python_command.h"

#include "script/python_options.h"

#include "base/descriptors.h"
#include "base/note.h"
#include "script/host.h"
#include "script/template.h"

#include <errno.h>
#include <string.h>
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

static void say_totals(const struct python_config *config, const struct stream *stream)
{
	struct stream_totals t;
	int verbose = stream_verbosity(&config->stream);

	stream_totals(stream, &t);
	if (t.lost || verbose > 0)
		fprintf(stderr, "perf-prof: %llu events delivered, %llu lost%s\n",
			(unsigned long long)t.delivered, (unsigned long long)t.lost,
			t.lost_at_least ? " at least" : "");
	if (verbose > 0)
		fprintf(stderr, "perf-prof: %llu counted by the kernel, %llu of them perf-prof's own and "
			"not delivered, %llu malformed\n", (unsigned long long)t.counted,
			(unsigned long long)t.skipped, (unsigned long long)t.malformed);
	if (verbose > 0 && t.filtered)
		fprintf(stderr, "perf-prof: %llu dropped by filters that perf-prof evaluates itself\n",
			(unsigned long long)t.filtered);
	if (t.late)
		fprintf(stderr, "perf-prof: %llu events came late, out of order: the machine was "
			"overloaded\n", (unsigned long long)t.late);
}

static int check_callchain(const struct stream_opts *o, struct stream *stream, struct fault *f)
{
	size_t n;
	const struct stream_event *events = stream_events(stream, &n);

	if (o->kernel_callchain >= 0 || o->user_callchain > 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (events[i].callchain)
			return fault_usage(f, "%s with --no-kernel-callchain leaves no call chain of %s; add "
					   "--user-callchain", o->call_graph ? "-g" : "the attribute stack",
					   events[i].name);
	return 0;
}

static bool wants_callchains(struct stream *stream)
{
	size_t n;
	const struct stream_event *events = stream_events(stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].wanted && events[i].callchain)
			return true;
	return false;
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

/* From the loaded script on: open, run, __exit__. */
static int run_script(struct python_config *config, struct host *h, struct stream *stream,
		      struct fault *f)
{
	int rc, verbose = stream_verbosity(&config->stream);

	if (host_attach(h, stream, f) || host_init(h, f))
		return -1;
	if (wants_callchains(stream) && host_open_symbols(h, verbose, f))
		return -1;
	if (stream_open(stream, f) || host_watch_tasks(h, verbose, f))
		return -1;   /* nothing was traced: __exit__() has nothing to tell */
	rc = stream_run(stream, &ops, h, f);
	host_exit(h);
	if (!rc)
		say_totals(config, stream);
	return rc;
}

static void tell_broken_output(struct python_config *config, const struct host *h, struct fault *f)
{
	const char *path = config->stream.output.path;

	if (!h->output_error || h->output_error == EPIPE)
		return;   /* a reader that goes away is a way to be done */
	output_end(&config->stream.output);
	fault_set(f, EXIT_FAILED, "%s: can't be written: %s; the run was ended", path ? path : "stdout",
		  strerror(h->output_error));
}

/* What the interpreter and the event list have open at once, amply; and without which the
 * interpreter can't load a module. */
enum { OWN_FILES = 32, LEAST_FILES = 4 };

int python_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct python_config *config = config_;
	struct host h = {0};
	struct host_script script = {
		.venv = config->venv,
		.verbose = stream_verbosity(&config->stream),
		.interval_ms = config->stream.interval_ms,
	};
	struct stream *stream;
	char remedy[256];

	if (!args->noperands)
		return fault_usage(f, "python: no script: perf-prof python -e EVENT [options] script.py "
				   "[args...]");
	if (!descriptors_reserve(OWN_FILES) && !descriptors_reserve(LEAST_FILES))
		return fault_set(f, EXIT_FAILED, "Python takes %d open files beside those there are, "
				 "but %s", LEAST_FILES, descriptors_remedy(remedy, sizeof(remedy)));
	if (check_venv(config->venv, f))
		return -1;
	script.module = args->operands[0];
	script.argv = args->operands + 1;
	script.argc = args->noperands - 1;
	stream = stream_new(&config->stream, f);
	if (!stream || check_callchain(&config->stream, stream, f)) {
		stream_free(stream);
		return -1;
	}
	if (!strcmp(script.module, "help")) {
		size_t n;
		struct stream_event *events = stream_events(stream, &n);

		template_print(events, n, stdout);
	} else if (!output_start(&config->stream.output, f) && !host_start(&h, &script, f))
		run_script(config, &h, stream, f);
	tell_broken_output(config, &h, f);
	host_finish(&h);
	output_end(&config->stream.output);
	stream_free(stream);
	return h.exit_code;
}
