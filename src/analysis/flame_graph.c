/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof flame-graph: pictures of stacks that were folded before, also by other tools. */
#include "analysis/commands.h"
#include "keeper/reading.h"
#include "report/flame.h"

#include <stddef.h>
#include <string.h>

struct flame_graph_config {
	struct flame_config flame;       /* path: output, or the last operand */
	const char *output;
	struct flame_title title;
};

#define AT(member) offsetof(struct flame_graph_config, member)

static const struct opt opts[] = {
	{ "before", 0, NULL, OPT_STRING, AT(flame.before), "FILE",
	  "Colour the picture by the difference to this .folded file: red if a function's share "
	  "grew, blue if it shrank. Shares are compared, so the two runs may differ in length.", false,
	  NULL },
	{ "output", 'o', NULL, OPT_OUTFILE, AT(output), "FILE", "Write the picture to FILE. Default: the last "
	  "operand.", false, NULL },
	{ "title", 0, NULL, OPT_STRING, AT(title.title), "TEXT", "Set the title. Default: the "
	  "names of the files.", false, NULL },
	{ "unit", 0, NULL, OPT_STRING, AT(title.unit), "UNIT", "Set the unit of the weights: ns, "
	  "bytes, ... Default: samples.", false, NULL },
};

static int draw(struct flame_graph_config *c, const struct opt_parser *args, int inputs, struct folded *folded,
		struct fault *f)
{
	char title[512] = "";

	for (int i = 0; i < inputs; i++) {
		size_t len = strlen(title);

		if (folded_read(folded, args->operands[i], f))
			return f->exit_code;
		snprintf(title + len, sizeof(title) - len, "%s%s", len ? ", " : "", args->operands[i]);
	}
	if (c->flame.before && !c->title.title) {
		size_t len = strlen(title);

		snprintf(title + len, sizeof(title) - len, " against %s", c->flame.before);
	}
	if (!c->title.title)
		c->title.title = title;
	return flame_write(&c->flame, folded, &c->title, f) ? f->exit_code : 0;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct flame_graph_config *c = config;
	struct reading reading = { 0 };
	struct folded *folded;
	int code, inputs = c->output ? args->noperands : args->noperands - 1;

	if (inputs < 1)
		return fault_usage(f, "flame-graph: expected files of folded stacks and, as the last or by -o, the "
				   "picture: in.folded out.svg"), f->exit_code;
	c->flame.path = c->output ? c->output : args->operands[inputs];
	if (reading_begin(&reading, &(struct reading_files){ 0 }, f) || flame_check(&c->flame, 0, f))
		return f->exit_code;
	folded = folded_new();
	if (!folded)
		return fault_set(f, EXIT_FAILED, "out of memory"), f->exit_code;
	code = draw(c, args, inputs, folded, f);
	folded_free(folded);
	reading_end(&reading);
	return code;
}

static const char *const description[] = {
	"What changed between two runs, and where did the time of one go? Reads folded stacks, as "
	"--flame-graph FILE.folded and many other tools write them (a line for each stack, "
	"root;...;leaf WEIGHT), sums them, and draws a picture. The suffix of the last file chooses "
	"the format: .svg, .html (zoom and search in a browser), .speedscope.json, or .folded.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof flame-graph in.folded out.svg", "a picture" },
	{ "perf-prof flame-graph --before old.folded new.folded out.html", "what changed" },
	{ "perf-prof flame-graph monday.folded tuesday.folded both.folded", "the sum of two" },
	{ NULL, NULL },
};

static const struct opt_group groups[] = {
	{ "Options", opts, sizeof(opts) / sizeof(*opts), 0 },
};

const struct command flame_graph_command = {
	.name = "flame-graph",
	.summary = "draw folded stacks as a picture, or the difference of two",
	.usage = "[options] FILE.folded... [-o] OUT",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct flame_graph_config),
	.run = run,
};
