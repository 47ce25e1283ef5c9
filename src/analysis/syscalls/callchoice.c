/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callchoice.h"

#include "base/nearest.h"
#include "engine/callnames.h"
#include "expr/expr.h"

#include <stdio.h>
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

static int unknown_call(const char *text, const char *name, size_t len, struct fault *f)
{
	char wanted[64];
	struct nearest near;
	const char *call;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
	nearest_begin(&near, wanted);
	for (int64_t i = 0; i < NUMBERS; i++)
		if ((call = syscall_name(i)))
			nearest_offer(&near, call);
	if (nearest_get(&near))
		return fault_usage(f, "--call %s: there is no system call '%s'; did you mean %s?", text, wanted, nearest_get(&near));
	return fault_usage(f, "--call %s: there is no system call '%s'; expected names or globs, such as connect,unlink*,rename*", text,
			   wanted);
}

int callchoice_parse(const char *text, void *names, struct fault *f)
{
	if (!syscall_name(0))
		return fault_usage(f, "--call %s: perf-prof was built without libseccomp, which knows the names of system calls", text);
	for (const char *at = text;; at++) {
		const bool is_left_out = *at == '!';
		size_t len;

		if (is_left_out != (*text == '!'))
			return fault_usage(f, "--call %s: names with ! leave out calls: give only these, or none", text);
		at += is_left_out;
		len = strcspn(at, ",");
		if (*at == '!' || !is_call(at, len))
			return unknown_call(text, at, len, f);
		at += len;
		if (!*at)
			break;
	}
	*(const char **)names = text;
	return 0;
}

/* All names have a '!', or none has. */
static bool matches(const char *names, const char *name)
{
	const bool leave_out = *names == '!';

	for (const char *at = names; name; at++) {
		const char *glob = at + leave_out;
		const size_t len = strcspn(glob, ",");

		if (expr_glob(glob, len, name, strlen(name)))
			return !leave_out;
		at = glob + len;
		if (!*at)
			return leave_out;
	}
	return false;
}

bool callchoice_has(struct callchoice *c, int64_t number)
{
	if (!c->names)
		return true;
	if (number < 0 || number >= NUMBERS)
		return matches(c->names, syscall_name(number));
	if (!c->known[number])
		c->known[number] = matches(c->names, syscall_name(number)) ? YES : NO;
	return c->known[number] == YES;
}
