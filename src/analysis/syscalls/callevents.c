/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callevents.h"

#include "engine/callnames.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "trace=";

/* strace's classes of calls. */
static const struct {
	const char *name, *instead;
} classes[] = {
	{ "file", "--paths shows calls that use a path, and --match GLOB those with certain paths" },
	{ "network", "--match '*:*' shows calls with an address" },
	{ "net", "--match '*:*' shows calls with an address" },
	{ "process", NULL }, { "signal", NULL }, { "ipc", NULL }, { "desc", NULL }, { "memory", NULL }, { "creds", NULL },
	{ "clock", NULL }, { "all", "leave -e out" },
};

static int refuse_class(const char *list, const char *name, struct fault *f)
{
	name += *name == '%';
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (!strcmp(classes[i].name, name))
			return fault_usage(f, "syscalls -e %s: there are no classes of calls here; %s", list, classes[i].instead ?
					   classes[i].instead : "give the names of the calls");
	return 0;
}

/* The filter for these calls, "id==257||id==0", or for all others. False if a name is not that of a call, or they are too many. */
static bool put_filter(const char *names, bool others, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t len; *names; names += len + (names[len] == ',')) {
		char name[64];
		int64_t number;

		len = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		number = syscall_number(name);
		if (number < 0)
			return false;
		used += (size_t)snprintf(buf + used, size - used, "%sid%s%lld", !used ? "" : others ? "&&" : "||", others ? "!=" : "==",
					 (long long)number);
		if (used >= size)
			return false;
	}
	return used;
}

static int check(const char *list, struct fault *f)
{
	const bool traced = !strncmp(list, prefix, strlen(prefix));
	const char *names = list + (traced ? strlen(prefix) : 0);
	const bool others = *names == '!';
	char filter[512];
	bool named;

	names += others;
	if (refuse_class(list, names, f))
		return -1;
	named = put_filter(names, others, filter, sizeof(filter));
	if (named && others)
		return fault_usage(f, "syscalls -e %s: events are expected here; for all but these calls: -e 'raw_syscalls:sys_enter/%s/,"
				   "raw_syscalls:sys_exit/%s/'", list, filter, filter);
	if (named)
		return fault_usage(f, "syscalls -e %s: events are expected here; for these calls: --call %s", list, names);
	if (traced)
		return fault_usage(f, "syscalls -e %s: events are expected here; for one call, such as openat: --call openat", list);
	return 0;
}

int callevents_check(const struct opt_strings *lists, struct fault *f)
{
	for (size_t i = 0; i < lists->n; i++)
		if (check(lists->v[i], f))
			return -1;
	return 0;
}
