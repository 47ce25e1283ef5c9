/* SPDX-License-Identifier: Apache-2.0 */
#include "python/sql.h"

#include "python/session.h"

#include <stdlib.h>
#include <string.h>

static char **copy_words(char *const *words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++)
		if (!(copy[i] = strdup(words[i]))) {
			session_free_words(copy);
			return NULL;
		}
	return copy;
}

PyObject *sql_session(PyObject *native, struct stream_opts *stream, const struct sql_asked *more)
{
	struct session_asked asked;

	session_asked_init(&asked);
	asked.hold = true;
	asked.everybody = more->everybody;
	asked.stacks = more->stacks;
	asked.stream = *stream;
	asked.stream.embedded = true;
	asked.stream.interval_ms = 0;   /* the query's */
	asked.ns = asked.stream.run_ns;
	asked.stream.run_ns = 0;
	memset(stream, 0, sizeof(*stream));
	stream->input_fd = -1;
	if (more->job && !(asked.command = copy_words(more->job))) {
		session_asked_free(&asked);
		return PyErr_NoMemory();
	}
	return session_object_new(native_of(native), &asked);
}
