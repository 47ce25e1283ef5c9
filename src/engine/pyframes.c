/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pyframes.h"

#include <stdio.h>
#include <string.h>

bool pyframes_parse(const char *symbol, char name[PYFRAMES_NAME], const char **file)
{
	const char *from = symbol + strlen("py::"), *colon;

	if (strncmp(symbol, "py::", strlen("py::")))
		return false;
	colon = strchr(from, ':');
	if (!colon || colon == from || !colon[1] || colon[1] == ':' || colon - from >= PYFRAMES_NAME)
		return false;
	snprintf(name, PYFRAMES_NAME, "%.*s", (int)(colon - from), from);
	*file = colon + 1;
	return true;
}

static const char *file_name(const struct frame *frame)
{
	const char *slash = strrchr(frame->dso, '/');

	return frame->kernel || frame->script ? "" : slash ? slash + 1 : frame->dso;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool pyframes_is_interpreter(const struct frame *frame)
{
	const char *name = file_name(frame);

	name += begins(name, "lib") ? strlen("lib") : 0;
	return begins(name, "python") && (!name[6] || (name[6] >= '0' && name[6] <= '9'));
}

/* Of what starts a thread or a program. */
static bool is_start(const struct frame *frame)
{
	const char *name = file_name(frame);

	return pyframes_is_interpreter(frame) || begins(name, "libc.so") || begins(name, "libc-") || begins(name, "ld-");
}

size_t pyframes_merge(const struct frame **frames, size_t n)
{
	size_t last = n, to = 0;

	for (size_t i = 0; i < n; i++)
		last = frames[i]->script ? i : last;
	if (last == n)
		return n;
	for (size_t i = 0; i < n; i++)
		if (frames[i]->script || !(i < last ? pyframes_is_interpreter(frames[i]) : is_start(frames[i])))
			frames[to++] = frames[i];
	return to;
}
