/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/unseenhint.h"

#include "base/shellwords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 4 };

/* The field with the path; NULL: the event has none. */
struct event {
	const char *call, *event, *field;
};
#define ENTRY_OF(call, field) { call, "syscalls:sys_enter_" call, field }
static const struct event events[] = {
	{ "connect", "sock:inet_sock_set_state/newstate==2/", NULL },
	ENTRY_OF("unlinkat", "pathname"), ENTRY_OF("unlink", "pathname"), ENTRY_OF("rmdir", "pathname"),
	ENTRY_OF("renameat2", "oldname"), ENTRY_OF("renameat", "oldname"), ENTRY_OF("rename", "oldname"),
	ENTRY_OF("openat", "filename"), ENTRY_OF("open", "filename"), ENTRY_OF("openat2", "filename"), ENTRY_OF("creat", "pathname"),
	ENTRY_OF("mkdirat", "pathname"), ENTRY_OF("mkdir", "pathname"), ENTRY_OF("execve", "filename"), ENTRY_OF("chdir", "filename"),
	ENTRY_OF("newfstatat", "filename"), ENTRY_OF("statx", "filename"), { "stat", "syscalls:sys_enter_newstat", "filename" },
	{ "lstat", "syscalls:sys_enter_newlstat", "filename" }, ENTRY_OF("faccessat2", "filename"), ENTRY_OF("faccessat", "filename"),
	ENTRY_OF("access", "filename"), ENTRY_OF("readlinkat", "pathname"), ENTRY_OF("readlink", "path"),
};

/* A glob that can be a string of a filter as it is. */
static bool is_plain(const char *glob)
{
	return !strpbrk(glob, "\"\\");
}

/* Programs may give relative paths: of a glob, the name, or the folder in which all names match. */
static const char *given_part(const char *glob)
{
	const char *slash = strrchr(glob, '/'), *name = slash ? slash + 1 : glob;

	while (slash && slash > glob && !strcmp(name, "*") && slash[-1] != '/')
		slash--;
	return slash && !strcmp(name, "*") ? slash + (*slash == '/') : name;
}

static void put_filter(const char *field, const struct unseenhint_globs *globs, FILE *out)
{
	for (size_t i = 0; i < globs->n || !i; i++) {
		const bool known = globs->n && is_plain(globs->v[i]);
		const char *glob = known ? given_part(globs->v[i]) : "GLOB";

		fprintf(out, "%s%s.ustring~\"%s%s\"", i ? "||" : "/", field, known && *glob != '*' ? "*" : "", glob);
	}
	fputc('/', out);
}

struct wanted {
	const struct event *event;
	uint64_t calls;
};

static int by_calls(const void *x, const void *y)
{
	const struct wanted *a = x, *b = y;

	return a->calls != b->calls ? (a->calls < b->calls) - (a->calls > b->calls) : (a->event > b->event) - (a->event < b->event);
}

/* The value of -e, the calls that are made most often first; to be freed. NULL: none of the calls has an event here. */
static char *events_text(const struct commcounts *calls, const struct unseenhint_globs *globs)
{
	struct wanted wanted[sizeof(events) / sizeof(*events)];
	char *text = NULL;
	size_t size, n = 0;
	FILE *out;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		const uint64_t of = commcounts_of(calls, events[i].call);

		if (of)
			wanted[n++] = (struct wanted){ &events[i], of };
	}
	qsort(wanted, n, sizeof(*wanted), by_calls);
	out = n ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	for (size_t i = 0; i < n && i < MAX_EVENTS; i++) {
		fprintf(out, "%s%s", i ? "," : "", wanted[i].event->event);
		if (wanted[i].event->field)
			put_filter(wanted[i].event->field, globs, out);
	}
	fclose(out);
	return text;
}

static void put_list(const char *option, const struct numlist *ids, FILE *out)
{
	char text[256];

	if (ids->n && numlist_text(ids, text, sizeof(text)) < sizeof(text))
		fprintf(out, " %s %s", option, text);
}

char *unseenhint_command(const struct commcounts *calls, const struct unseenhint_globs *globs, const struct stream_opts *targets)
{
	char *const *argv = targets->command.argv;
	char *text = NULL, *asked = events_text(calls, globs);
	size_t size;
	FILE *out = asked ? open_memstream(&text, &size) : NULL;

	if (out) {
		fputs("perf-prof trace", out);
		if (!argv) {
			put_list("-p", &targets->pids, out);
			put_list("-t", &targets->tids, out);
		}
		fputs(" -e ", out);
		shellwords_put(asked, out);
		for (size_t i = 0; argv && argv[i]; i++) {
			fputs(i ? " " : " -- ", out);
			shellwords_put(argv[i], out);
		}
		fclose(out);
	}
	free(asked);
	return text;
}
