/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof flame-graph: draws files of folded stacks, also from other tools. */
#include "analysis/profiles/commands.h"
#include "base/caller.h"
#include "base/descriptors.h"
#include "keeper/reading.h"
#include "report/flame.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct flame_graph_config {
	struct flame_config flame;       /* path: output, or the last operand */
	const char *output;
	struct flame_title title;
};

#define AT(member) offsetof(struct flame_graph_config, member)

static const struct opt opts[] = {
	{ "before", 0, NULL, OPT_STRING, AT(flame.before), "FILE",
	  "Colour the flame graph by the change since FILE, a .folded file: red if a share grew, blue "
	  "if it shrank. Shares are compared, so the two runs may differ in length.", false,
	  NULL },
	{ "output", 'o', NULL, OPT_OUTFILE, AT(output), "FILE", "Write the flame graph to FILE. Default: the "
	  "last operand.", false, NULL },
	{ "title", 0, NULL, OPT_STRING, AT(title.title), "TEXT", "Set the title. Default: the "
	  "names of the files.", false, NULL },
	{ "unit", 0, NULL, OPT_STRING, AT(title.unit), "UNIT", "Set the unit of the weights: ns, "
	  "bytes, ... Default: that of the event in the files' comment, else samples.", false, NULL },
};

enum { SPARE_FILES = 16 };

/* The input files: operands, and, as the last one, the file of --before, if it is given. */
struct inputs {
	char *const *operands;
	const char *before;
	int n, *fds;                     /* -1: has been read */
};

static const char *path_of(const struct inputs *in, int i)
{
	return in->before && i == in->n - 1 ? in->before : in->operands[i];
}

/* Opens all files before perf-prof drops its privileges. */
static int open_inputs(struct inputs *in, struct fault *f)
{
	struct caller_rights rights;
	int n = in->n;

	descriptors_reserve((size_t)n + SPARE_FILES);
	in->fds = malloc((size_t)n * sizeof(*in->fds));
	if (!in->fds)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (int i = 0; i < n; i++) {
		caller_begin(&rights);
		in->fds[i] = reading_open(path_of(in, i), f);
		caller_end(&rights);
		if (in->fds[i] < 0) {
			in->n = i;
			return -1;
		}
	}
	return 0;
}

static void close_inputs(struct inputs *in)
{
	for (int i = 0; in->fds && i < in->n; i++)
		if (in->fds[i] >= 0)
			close(in->fds[i]);
	free(in->fds);
}

static int take(struct inputs *in, int i, struct folded *folded, struct fault *f)
{
	int fd = in->fds[i];

	in->fds[i] = -1;
	reading_wait(fd);
	return folded_read_from(folded, fd, path_of(in, i), f);
}

static void make_title(char *title, size_t size, const struct inputs *in)
{
	int n = in->before ? in->n - 1 : in->n;
	size_t len = 0;

	for (int i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(title + len, size - len, "%s%s", i ? ", " : "", path_of(in, i));
	if (in->before && len < size)
		snprintf(title + len, size - len, " against %s", in->before);
}

static int draw(struct flame_graph_config *c, struct inputs *in, struct folded *folded, struct fault *f)
{
	struct folded_samples samples;
	char title[512] = "";

	if (flame_check(&c->flame, 0, f))
		return -1;
	for (int i = 0; i < in->n; i++)
		if (take(in, i, in->before && i == in->n - 1 ? c->flame.old : folded, f))
			return -1;
	if (!c->title.title) {
		make_title(title, sizeof(title), in);
		c->title.title = title;
	}
	if (!c->title.unit && folded_samples(folded, &samples))
		c->title.unit = flame_unit_of(&samples, folded_total(folded));
	else if (!c->title.unit && folded_is_time(folded))
		c->title.unit = "ns";
	return flame_write(&c->flame, folded, &c->title, f);
}

static int read_and_draw(struct flame_graph_config *c, struct inputs *in, struct fault *f)
{
	struct folded *folded = folded_new();
	int rc;

	c->flame.old = folded_new();
	rc = folded && c->flame.old ? draw(c, in, folded, f) : fault_set(f, EXIT_FAILED, "out of memory");
	folded_free(folded);
	flame_free(&c->flame);
	return rc;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct flame_graph_config *c = config;
	struct reading reading = { 0 };
	struct inputs in = { .operands = args->operands, .before = c->flame.before };
	int rc, n = c->output ? args->noperands : args->noperands - 1;

	if (n < 1 && args->noperands && *args->operands[0] && access(args->operands[0], F_OK))
		return fault_unreadable(f, args->operands[0], errno), f->exit_code;
	if (n < 1)
		return fault_usage(f, "flame-graph: expected files of folded stacks and an output file: in.folded "
				   "out.svg, or in.folded -o out.svg"), f->exit_code;
	c->flame.path = c->output ? c->output : args->operands[n];
	in.n = n + !!in.before;
	rc = open_inputs(&in, f) ||
	     reading_begin(&reading, &(struct reading_files){ in.fds, (size_t)in.n, { &c->flame.path, 1 } }, f) ||
	     read_and_draw(c, &in, f);
	close_inputs(&in);
	reading_end(&reading);
	return rc ? f->exit_code : 0;
}

const struct command flame_graph_command = {
	.name = "flame-graph",
	.summary = "draw a flame graph of folded stacks, or of the change between two runs",
	.usage = "[options] FILE.folded... [-o] OUT",
	.description = COMMAND_TEXT(
		"Where did the time go, and what changed between two runs? Reads folded stacks, as "
		"--flame-graph FILE.folded and many other tools write them (a line for each stack, "
		"root;...;leaf WEIGHT), sums them, and writes a flame graph. The suffix of OUT chooses "
		"the format: .svg, .html (zoom and search in a browser), .speedscope.json, or .folded."),
	OPT_GROUP_ROWS(
		{ "Options", opts, sizeof(opts) / sizeof(*opts), 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof flame-graph in.folded out.svg", "draw a flame graph" },
		{ "perf-prof flame-graph --before old.folded new.folded out.svg", "draw what changed" },
		{ "perf-prof flame-graph monday.folded tuesday.folded both.folded", "sum two files of folded stacks" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct flame_graph_config),
	.run = run,
};
