/* SPDX-License-Identifier: Apache-2.0 */
/* The file for stat's results. */
#include "stat/stat.h"

#include "base/note.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A log is written under its own name, so that it can be followed. */
static int open_log(struct stat_output *o, const char *path, struct fault *f)
{
	o->out = outfile_stream(path);
	return o->out ? 0 : outfile_refused("--output", path, -errno, f);
}

int stat_output_open(struct stat_output *o, const struct counting *s, bool has_command, struct fault *f)
{
	const char *path = s->config->common.output.path;
	const bool for_programs = s->config->json || s->config->csv;
	const bool to_stderr = has_command && !(s->config->vs.n && for_programs);

	*o = (struct stat_output){ .path = path };
	if (!path && to_stderr && for_programs && !isatty(STDOUT_FILENO))
		note(0, "counts go to stderr, as stdout belongs to the command; -o FILE writes "
		     "them to a file");
	if (!path) {
		o->out = to_stderr ? stderr : stdout;
		o->path = to_stderr ? "stderr" : "stdout";
		return 0;
	}
	if (s->config->interval_ms)
		return open_log(o, path, f);
	if (artifact_open(&o->whole, "--output", path, f))
		return -1;
	o->out = o->whole.out;
	return 0;
}

int stat_output_close(struct stat_output *o, bool good, struct fault *f)
{
	/* it was closed (main.c); not a pipe that its reader has closed */
	if (o->out == stderr && good && (fcntl(STDERR_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return fault_set(f, EXIT_FAILED, "stat: cannot write to stderr: it is closed; -o FILE writes the counts to a file");
	if (!o->out || o->out == stderr || o->out == stdout)
		return 0;
	if (o->whole.out && good)
		return artifact_close(&o->whole, f);
	if (o->whole.out)
		artifact_abandon(&o->whole);
	else if (fclose(o->out) && good)
		return fault_set(f, EXIT_FAILED, "--output %s: cannot write to it: %s", o->path, strerror(errno));
	return 0;
}
