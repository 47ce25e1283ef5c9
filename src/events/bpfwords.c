/* SPDX-License-Identifier: Apache-2.0 */
#include "events/bpfwords.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 4 };

/* "software:faults:1" in parts. */
struct parts {
	char text[256];
	const char *v[MAX_PARTS];
	size_t n;
};

/* False: there are no such words here; buf: what to write, such as "-e sched:sched_switch". */
typedef bool write_fn(const struct parts *p, const char *word, char *buf, size_t size);

static bool write_tracepoint(const struct parts *p, const char *word, char *buf, size_t size)
{
	(void)word;
	if (p->n != 3)
		return false;
	snprintf(buf, size, "-e %s:%s", p->v[1], p->v[2]);
	return true;
}

static bool write_function(const struct parts *p, const char *word, char *buf, size_t size)
{
	snprintf(buf, size, "-e %s:%s", word, p->v[p->n - 1]);
	return p->n == 2 || p->n == 3;   /* kfunc:MODULE:FUNCTION */
}

static bool write_user(const struct parts *p, const char *word, char *buf, size_t size)
{
	if (p->n != 3)
		return false;
	snprintf(buf, size, "-e %s:%s@%s", word, p->v[2], p->v[1]);
	return true;
}

static bool write_marker(const struct parts *p, const char *word, char *buf, size_t size)
{
	if (p->n != 4)
		return false;
	snprintf(buf, size, "-e %s:%s:%s@%s", word, p->v[2], p->v[3], p->v[1]);
	return true;
}

static bool write_profile(const struct parts *p, const char *word, char *buf, size_t size)
{
	const bool hz = p->n == 3 && !strcmp(p->v[1], "hz");

	(void)word;
	snprintf(buf, size, "-e 'profile/-F %s/'", hz ? p->v[2] : "HZ");
	return p->n == 3;
}

static bool write_interval(const struct parts *p, const char *word, char *buf, size_t size)
{
	const long n = p->n == 3 ? atol(p->v[2]) : 0;

	(void)word;
	if (n > 0 && n < 1000000 && !strcmp(p->v[1], "s"))
		snprintf(buf, size, "-i %ld", n * 1000);
	else
		snprintf(buf, size, "-i %s", n > 0 && !strcmp(p->v[1], "ms") ? p->v[2] : "MILLISECONDS");
	return p->n == 3;
}

static bool write_software(const struct parts *p, const char *word, char *buf, size_t size)
{
	static const char *const names[][2] = {
		{ "faults", "page-faults" }, { "cpu", "cpu-clock" }, { "cs", "context-switches" },
	};
	const char *name = p->n > 1 ? p->v[1] : "";

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		name = strcmp(names[i][0], name) ? name : names[i][1];
	snprintf(buf, size, p->n == 3 ? "-e %s%s/period=%s/" : "-e %s%s", word, name, p->n == 3 ? p->v[2] : "");
	return p->n == 2 || p->n == 3;
}

static const struct {
	const char *word, *here;
	write_fn *write;
} words[] = {
	{ "tracepoint", "", write_tracepoint }, { "t", "", write_tracepoint },
	{ "kfunc", "kprobe", write_function }, { "fentry", "kprobe", write_function }, { "k", "kprobe", write_function },
	{ "kretfunc", "kretprobe", write_function }, { "fexit", "kretprobe", write_function }, { "kr", "kretprobe", write_function },
	{ "u", "uprobe", write_user }, { "ur", "uretprobe", write_user }, { "U", "usdt", write_marker },
	{ "profile", "", write_profile }, { "interval", "", write_interval },
	{ "software", "sw:", write_software }, { "hardware", "", write_software },
};

/* The beginnings of bpftrace's programs, which are events here, too. */
static const char *const heads[] = { "BEGIN", "END", "kprobe", "kretprobe", "uprobe", "uretprobe", "usdt", "rawtracepoint" };

static bool is_head(const char *list, size_t len)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (strlen(heads[i]) == len && !strncmp(heads[i], list, len))
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len && !strncmp(words[i].word, list, len))
			return true;
	return false;
}

static bool is_program(const char *list)
{
	const size_t len = strspn(list, "abcdefghijklmnopqrstuvwxyzUBEGIND");

	return strchr(list + len, '{') && (list[len] == ':' || isspace((unsigned char)list[len])) && is_head(list, len);
}

static bool has_path(const char *word)
{
	return !strcmp(word, "u") || !strcmp(word, "ur") || !strcmp(word, "U");
}

/* An item of the list ends at a comma, or before its filter. */
static bool take_parts(struct parts *p, const char *item)
{
	size_t len = strcspn(item, ", ");

	snprintf(p->text, sizeof(p->text), "%.*s", (int)len, item);
	p->n = 0;
	for (char *at = p->text; at && p->n < MAX_PARTS; ) {
		p->v[p->n++] = at;
		at = strchr(at, ':');
		if (at)
			*at++ = '\0';
	}
	if (p->n > 1 && !has_path(p->v[0]))
		((char *)p->v[p->n - 1])[strcspn(p->v[p->n - 1], "/")] = '\0';
	return p->n > 1 && len < sizeof(p->text);
}

static bool explain_item(const char *item, struct fault *f)
{
	struct parts p;
	char here[600];

	if (!take_parts(&p, item))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].word, p.v[0]) && words[i].write(&p, words[i].here, here, sizeof(here))) {
			fault_usage(f, "%.*s is the spelling of bpftrace; here it is %s", (int)strcspn(item, ", "), item, here);
			return true;
		}
	return false;
}

bool bpfwords_explain(const char *list, struct fault *f)
{
	if (is_program(list)) {
		fault_usage(f, "-e takes events, not bpftrace programs: docs/from-scripts.md shows how to write them in Python");
		return true;
	}
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (explain_item(at, f))
			return true;
	}
	return false;
}
