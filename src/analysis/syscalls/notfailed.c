/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/notfailed.h"

#include "engine/callnames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notfailed_row {
	struct {
		int64_t call, error;
	} key;
	uint64_t n;
};

/* ---- which ------------------------------------------------------------------------------ */

/* EAGAIN of these: there is too little of something. */
static const char *const needy[] = {
	"clone", "clone3", "fork", "vfork", "execve", "execveat", "connect", "mmap", "mremap", "mlock", "mlock2", "mlockall", "setuid",
	"setreuid", "setresuid", "timer_create", "unshare", NULL,
};
static const char *const connects[] = { "connect", NULL };
static const char *const futexes[] = { "futex", "futex_wait", "futex_waitv", NULL };
static const char *const none[] = { NULL };

/* The last four are the kernel's own codes. */
static const struct {
	int error;
	const char *why;
	bool only;                   /* of these calls; otherwise: of all but these */
	const char *const *calls;
} mild[] = {
	{ EAGAIN, "not ready", false, needy }, { EINPROGRESS, "in progress", true, connects },
	{ ETIMEDOUT, "timed out", true, futexes },
	{ EINTR, "interrupted by a signal", false, none }, { 512, "interrupted by a signal", false, none },
	{ 513, "interrupted by a signal", false, none }, { 514, "interrupted by a signal", false, none },
	{ 516, "interrupted by a signal", false, none },
};

static bool has(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* NULL: it is a failure. */
static const char *why(int64_t call, int error)
{
	const char *name = syscall_name(call);

	for (size_t i = 0; i < sizeof(mild) / sizeof(*mild); i++)
		if (mild[i].error == error)
			return has(mild[i].calls, name ? name : "") == mild[i].only ? mild[i].why : NULL;
	return NULL;
}

bool notfailed_is(int64_t call, int error)
{
	return why(call, error);
}

/* ---- how many --------------------------------------------------------------------------- */

void notfailed_add(struct notfailed *all, int64_t call, int error)
{
	const struct notfailed_row wanted = { { call, error }, 0 };
	struct notfailed_row *one = groups_get(&all->all, &wanted.key, sizeof(wanted.key), sizeof(*one), UINT32_MAX);

	if (one)
		one->n++;
}

void notfailed_free(struct notfailed *all)
{
	groups_free(&all->all);
}

static int most_first(const void *a, const void *b)
{
	const struct notfailed_row *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

static const char *name_of(int64_t call, char *buf, size_t size)
{
	call_name(call, buf, size);
	buf[strcspn(buf, "(")] = '\0';
	return buf;
}

/* "6 EAGAIN (not ready: recvfrom, accept4 and 2 more)" */
static void print_error(const struct notfailed *all, int64_t error)
{
	enum { SHOWN_CALLS = 3 };
	const char *reason = NULL;
	char buf[64];
	uint64_t sum = 0;
	size_t n = 0;

	for (const struct notfailed_row *one = groups_first(&all->all); one; one = groups_next(one))
		if (one->key.error == error) {
			reason = why(one->key.call, (int)error);
			sum += one->n;
		}
	printf("%llu %s (%s:", (unsigned long long)sum, error_name((int)error, buf, sizeof(buf)), reason);
	for (const struct notfailed_row *one = groups_first(&all->all); one; one = groups_next(one))
		if (one->key.error == error && n++ < SHOWN_CALLS)
			printf("%s %s", n > 1 ? "," : "", name_of(one->key.call, buf, sizeof(buf)));
	if (n > SHOWN_CALLS)
		printf(" and %zu more", n - SHOWN_CALLS);
	printf(")");
}

static void print_text(const struct notfailed *all)
{
	const struct notfailed_row *first = groups_first(&all->all), *before;

	for (const struct notfailed_row *one = first; one; one = groups_next(one)) {
		for (before = first; before->key.error != one->key.error; before = groups_next(before))
			;
		if (before != one)
			continue;
		printf("%s", one == first ? "not counted as failures: " : ", ");
		print_error(all, one->key.error);
	}
	printf("\n");
}

static void print_json(const struct notfailed *all, const struct question *q)
{
	static const struct table_column columns[] = { { "call", TABLE_TEXT }, { "error", TABLE_TEXT }, { "calls", TABLE_INTEGER } };
	char call[64], error[32];
	struct table t;

	table_init(&t, "no failures", columns, sizeof(columns) / sizeof(*columns));
	for (const struct notfailed_row *one = groups_first(&all->all); one; one = groups_next(one)) {
		table_row(&t);
		table_text(&t, call_name(one->key.call, call, sizeof(call)));
		table_text(&t, error_name((int)one->key.error, error, sizeof(error)));
		table_unsigned(&t, one->n);
	}
	if (table_json(&t, NULL, stdout) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table of errors that are no failures\n", q->ops->name);
	table_free(&t);
}

void notfailed_print(struct notfailed *all, const struct question *q)
{
	groups_sort(&all->all, most_first);
	if (all->all.n && q->common.json)
		print_json(all, q);
	else if (all->all.n && !q->csv)
		print_text(all);
	notfailed_free(all);
}
