/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callchoice.h"

#include "engine/callnames.h"
#include "expr/expr.h"

#include <string.h>

enum { NO = 1, YES, NUMBERS = sizeof(((struct callchoice *)0)->known) };

static bool is_call(const char *glob, size_t len)
{
	const char *name;

	for (int64_t i = 0; i < NUMBERS; i++)
		if ((name = syscall_name(i)) && expr_glob(glob, len, name, strlen(name)))
			return true;
	return false;
}

int callchoice_parse(const char *text, void *names, struct fault *f)
{
	if (!syscall_name(0))
		return fault_usage(f, "--call %s: perf-prof was built without libseccomp, which knows the names of system calls", text);
	for (const char *at = text;; at++) {
		const size_t len = strcspn(at, ",");

		if (!is_call(at, len))
			return fault_usage(f, "--call %s: there is no system call '%.*s'; expected names or globs, such as "
					   "connect,unlink*,rename*", text, (int)len, at);
		at += len;
		if (!*at)
			break;
	}
	*(const char **)names = text;
	return 0;
}

static bool matches(const char *names, const char *name)
{
	for (const char *at = names; name; at++) {
		const size_t len = strcspn(at, ",");

		if (expr_glob(at, len, name, strlen(name)))
			return true;
		at += len;
		if (!*at)
			break;
	}
	return false;
}

bool callchoice_has(struct callchoice *c, int64_t number)
{
	if (!c->names)
		return true;
	if (number < 0 || number >= NUMBERS)
		return false;
	if (!c->known[number])
		c->known[number] = matches(c->names, syscall_name(number)) ? YES : NO;
	return c->known[number] == YES;
}
