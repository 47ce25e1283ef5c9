/* SPDX-License-Identifier: Apache-2.0 */
/* What a session is asked for, in the words of the command line. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void session_asked_init(struct session_asked *asked)
{
	memset(asked, 0, sizeof(*asked));
	stream_opts_defaults(&asked->stream);
	asked->stream.embedded = true;
	asked->stream.verbose = -1;
}

#define GROUP(name, NAME) { "", stream_##name##_opts, STREAM_##NAME##_NOPTS, offsetof(struct session_asked, stream) }

static const struct opt_group groups[] = {
	GROUP(event, EVENT), GROUP(rate, RATE), GROUP(target, TARGET), GROUP(ring, RING), GROUP(input, INPUT),
	GROUP(callchain, CALLCHAIN),
};

static int count(char *const *words)
{
	int n = 0;

	while (words && words[n])
		n++;
	return n;
}

int session_asked_parse(struct session_asked *asked, const struct source_ops *const *sources, struct fault *f)
{
	struct opt_parser parser = {
		.groups = groups, .ngroups = sizeof(groups) / sizeof(*groups), .config = asked,
		.mode = OPT_MODE_PLAIN, .command = "session", .listed = "help(perf_prof.Session) lists them",
	};
	int rc = opt_parse(&parser, count(asked->words), asked->words, f);

	asked->stream.sources = sources;
	asked->stream.filter = asked->filter;
	free(parser.operands);
	opt_strings_free(&parser.outputs);
	return rc;
}

void session_free_words(char **words)
{
	for (int i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

void session_asked_free(struct session_asked *asked)
{
	session_free_words(asked->words);
	session_free_words(asked->fields);
	free(asked->filter);
	session_free_words(asked->command);
	if (asked->stream.input_fd >= 0)
		close(asked->stream.input_fd);
	stream_opts_free(&asked->stream);
	memset(asked, 0, sizeof(*asked));
	asked->stream.input_fd = -1;
}
