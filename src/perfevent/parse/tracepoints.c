/* SPDX-License-Identifier: Apache-2.0 */
/* system:name in an event list, both possibly with wildcards. */
#include "base/textfile.h"
#include "perfevent/parse/parse.h"

#include "perfevent/machine/kernel.h"
#include "perfevent/parse/near.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct pev_parser *p;
	char root[256];                /* .../events */
	const char *sys, *name;
	size_t at;
};

static bool is_wild(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* 0, or -ENOENT: not an event that perf can open. */
static int read_id(const struct search *s, const char *sys, const char *name, uint64_t *id)
{
	char path[PATH_MAX], text[32], *end;
	int n = snprintf(path, sizeof(path), "%s/%s/%s/id", s->root, sys, name);

	if (n >= PATH_MAX || strchr(sys, '/') || strchr(name, '/') || sys[0] == '.' || name[0] == '.')
		return -ENOENT;
	n = (int)textfile_read(path, text, sizeof(text));
	if (n < 0)
		return n;
	errno = 0;
	*id = strtoull(text, &end, 10);
	return end == text || (*end && *end != '\n') || errno ? -ENOENT : 0;
}

static int add(const struct search *s, const char *sys, const char *name, uint64_t id)
{
	struct pev_parsed_own *e = pev_parse_add_(s->p, PERF_TYPE_TRACEPOINT, id);

	if (!e || asprintf(&e->label, "%s:%s", sys, name) < 0) {
		if (e)
			e->label = NULL;
		return pev_parse_fail_(s->p, s->at, ENOMEM, NULL,
				       "out of memory, or more events than %d", PARSE_EVENTS_MAX);
	}
	return pev_parse_own_terms_(s->p, e);
}

static int unknown(const struct search *s, int rc)
{
	char near[128], hint[160] = "";

	if (rc == -EACCES)
		return pev_parse_fail_(s->p, s->at, EACCES, NULL, "this user may not read %s",
				       s->root);
	if (s->p->err && pev_near_tracepoint_(s->sys, s->name, s->root, near, sizeof(near)))
		snprintf(hint, sizeof(hint), "; did you mean \"%s\"?", near);
	return pev_parse_fail_(s->p, s->at, ENOENT, "an event of `perf-prof list`, or modifiers after a "
			       "known event", "there is no tracepoint %.60s:%.60s%s", s->sys, s->name, hint);
}

/* Names in dir that match; 0 if the folder is not readable. */
static int scan(const char *dir, struct dirent ***list)
{
	int n = scandir(dir, list, no_dots, by_name);

	return n < 0 ? 0 : n;
}

static int add_of_system(const struct search *s, const char *sys)
{
	char dir[PATH_MAX];
	struct dirent **list;
	int n, rc = 0;
	uint64_t id;

	if (snprintf(dir, sizeof(dir), "%s/%s", s->root, sys) >= PATH_MAX)
		return 0;
	n = scan(dir, &list);
	for (int i = 0; i < n; i++) {
		if (!rc && !fnmatch(s->name, list[i]->d_name, 0) &&
		    !read_id(s, sys, list[i]->d_name, &id))
			rc = add(s, sys, list[i]->d_name, id);
		free(list[i]);
	}
	if (n)
		free(list);
	return rc;
}

static int add_matching(const struct search *s)
{
	struct dirent **list;
	int n = scan(s->root, &list), rc = 0;

	for (int i = 0; i < n; i++) {
		if (!rc && !fnmatch(s->sys, list[i]->d_name, 0))
			rc = add_of_system(s, list[i]->d_name);
		free(list[i]);
	}
	if (n)
		free(list);
	if (!rc && s->p->list->n == s->p->first)
		return unknown(s, -ENOENT);
	return rc;
}

int pev_parse_tracepoint_(struct pev_parser *p, const char *sys, const char *name, size_t at)
{
	struct search s = { .p = p, .sys = sys, .name = name, .at = at };
	char mounted[240];
	const char *tracefs = p->env->tracefs;
	uint64_t id;
	int rc = 0;

	if (!tracefs) {
		rc = pev_tracefs_path(mounted, sizeof(mounted), p->err);
		tracefs = mounted;
	}
	if (rc)
		return pev_parse_fail_in_(p, at, rc);
	snprintf(s.root, sizeof(s.root), "%s/events", tracefs);
	if (is_wild(sys) || is_wild(name))
		return add_matching(&s);
	rc = read_id(&s, sys, name, &id);
	return rc ? unknown(&s, rc) : add(&s, sys, name, id);
}
