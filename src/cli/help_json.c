/* SPDX-License-Identifier: Apache-2.0 */
/* The commands and their options as JSON, for other programs: perf_prof makes its functions of them. */
#include "cli/commands.h"

#include "report/json.h"

#include <string.h>

static bool put_option(json_object *to, const struct opt *o)
{
	static const char *const kinds[] = {
		[OPT_FLAG] = "flag", [OPT_COUNT] = "count", [OPT_TRI] = "flag", [OPT_U64] = "number", [OPT_SIZE] = "size",
		[OPT_STRING] = "text", [OPT_INFILE] = "text", [OPT_OUTFILE] = "file", [OPT_STRINGS] = "texts", [OPT_CALL] = "text",
		[OPT_CHOICE] = "choice",
	};
	json_object *one = json_object_new_object();
	const char key[] = { o->key, '\0' };

	return json_append(to, one) && json_put_text(one, "name", o->name) &&
	       json_put_text(one, "key", o->key ? key : NULL) && json_put_text(one, "alias", o->alias) &&
	       json_put_text(one, "kind", o->kind == OPT_CALL && !o->arg ? "flag" : kinds[o->kind]) &&
	       json_put_text(one, "value", o->arg) && json_put_bool(one, "negatable", o->negatable) &&
	       json_put_text(one, "help", o->help);
}

static bool put_group(json_object *to, const struct opt_group *g)
{
	json_object *one = json_object_new_object(), *options = json_object_new_array();
	bool good = json_append(to, one) && json_put_text(one, "title", g->title);

	good &= json_put(one, "options", options);
	for (size_t i = 0; i < g->nopts && good; i++)
		good = put_option(options, &g->opts[i]);
	return good;
}

static bool put_examples(json_object *to, const struct command *cmd)
{
	json_object *all = json_object_new_array();
	bool good = json_put(to, "examples", all);

	for (const struct command_example *e = cmd->examples; e && e->line && good; e++) {
		json_object *one = json_object_new_object();

		good = json_append(all, one) && json_put_text(one, "line", e->line) && json_put_text(one, "what", e->what);
	}
	return good;
}

static bool put_command(json_object *to, const struct command *cmd)
{
	json_object *text = json_object_new_array(), *groups = json_object_new_array();
	bool good = json_put_text(to, "command", cmd->name) && json_put_text(to, "summary", cmd->summary) &&
		    json_put_text(to, "usage", cmd->usage);

	good &= json_put(to, "description", text);
	good &= json_put(to, "groups", groups);
	for (const char *const *d = cmd->description; d && *d && good; d++)
		good = json_append(text, json_text(*d, strlen(*d)));
	for (size_t i = 0; i < cmd->ngroups && good; i++)
		good = put_group(groups, &cmd->groups[i]);
	return good && put_examples(to, cmd);
}

int help_json(const struct command *cmd, FILE *out)
{
	json_object *root = json_object_new_object();

	return json_line(root, root && put_command(root, cmd), out);
}
