/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tables of checks, or those tables and checks that argv names; speaks TAP. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const struct check *current;
static unsigned int number, failures, told;

static void point(bool good, const char *outcome, const char *fmt, va_list args)
{
	char text[2048];

	vsnprintf(text, sizeof(text), fmt, args);
	for (char *c = text; *c; c++)   /* one line each, and TAP's directive is ours */
		if (*c == '\n' || *c == '#')
			*c = ' ';
	printf("%sok %u - %s: %s: %s\n", good ? "" : "not ", number, current->name,
	       good ? outcome : "FAILED", text);
	failures += !good;
	told++;
}

void works_if(bool good, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	point(good, "works", fmt, args);
	va_end(args);
}

void refused_if(bool good, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	point(good, "refused", fmt, args);
	va_end(args);
}

void skip(const char *fmt, ...)
{
	va_list args;

	printf("ok %u - %s # SKIP ", number, current->name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	told++;
}

void works_exactly(const char *tried, uint64_t expected, uint64_t seen)
{
	works_if(seen == expected, "%s; expected %llu, seen %llu", tried,
		 (unsigned long long)expected, (unsigned long long)seen);
}

const char *error_text(const struct pev_error *err)
{
	static char text[2048];

	pev_error_text(err, text, sizeof(text));
	return text;
}

void failed_with(const char *tried, int rc, const struct pev_error *err)
{
	works_if(false, "%s; expected it to work, seen %s (%s)", tried, strerror(-rc),
		 error_text(err));
}

bool kernel_has(int major, int minor)
{
	struct utsname name;
	int a = 0, b = 0;

	uname(&name);
	sscanf(name.release, "%d.%d", &a, &b);
	return a > major || (a == major && b >= minor);
}

int open_self(struct pev_event **ev, const struct perf_event_attr *attr, const char *tried)
{
	struct pev_error err = { 0 };
	int rc = pev_event_open(ev, attr, pev_target_self(), NULL, &err);

	if (rc)
		failed_with(tried, rc, &err);
	return rc;
}

int count_work(uint64_t *seen, const struct perf_event_attr *attr, const char *tried,
	       void (*work)(void))
{
	struct perf_event_attr a = *attr;
	struct pev_count count = { 0 };
	struct pev_event *ev;
	int rc;

	a.disabled = 1;
	rc = open_self(&ev, &a, tried);
	if (rc)
		return rc;
	pev_event_enable(ev);
	work();
	pev_event_disable(ev);
	rc = pev_event_read(ev, &count);
	if (rc)
		works_if(false, "%s; read failed: %s", tried, strerror(-rc));
	*seen = count.value;
	pev_event_close(ev);
	return rc;
}

bool getppid_attr(struct perf_event_attr *attr)
{
	struct pev_error err = { 0 };
	int rc = pev_attr_tracepoint(attr, "syscalls", "sys_enter_getppid", &err);

	if (rc)
		failed_with("syscalls:sys_enter_getppid", rc, &err);
	return !rc;
}

void call_getppid(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static volatile unsigned long sink;

void leaf(unsigned int n)
{
	while (n--)
		sink += n;
}

void burn(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		leaf(10000);
}

static const struct {
	const char *name;
	const struct check *checks;
} tables[] = {
	{ "counts", count_checks }, { "rings", ring_checks }, { "attrs", attr_checks }, { "probes", probe_checks },
	{ "permissions", permission_checks }, { "pmu", pmu_checks }, { "names", name_checks },
};
enum { NTABLES = sizeof(tables) / sizeof(*tables) };

static bool asked_for(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

static void run(const struct check *check)
{
	current = check;
	number++;
	told = 0;
	check->run();
	if (told != 1)
		works_if(false, "the check told %u results", told);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (geteuid()) {
		puts("needs root");
		return 77;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);   /* no write, hence no system call, in mid-check */
	for (int t = 0; t < NTABLES; t++)
		for (const struct check *check = tables[t].checks; check->name; check++)
			if (asked_for(check->name, argc, argv) || asked_for(tables[t].name, argc, argv))
				run(check);
	printf("1..%u\n", number);
	return failures ? 1 : 0;
}
