/* SPDX-License-Identifier: Apache-2.0 */
/* The events of perf-prof stat: -e lists, or what perf stat counts without one. */
#include "analysis/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char defaults[] = "task-clock,context-switches,cpu-migrations,page-faults,"
			       "cycles,instructions,branches,branch-misses";

/* All -e as one list. */
static char *join(const struct opt_strings *lists)
{
	size_t size = 1;
	char *text;

	for (size_t i = 0; i < lists->n; i++)
		size += strlen(lists->v[i]) + 1;
	text = calloc(1, size);
	for (size_t i = 0; text && i < lists->n; i++) {
		if (i)
			strcat(text, ",");
		strcat(text, lists->v[i]);
	}
	return text;
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_TASK_CLOCK ||
						    attr->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* "cycles" stays so, where the event's own name is "cpu-cycles"; but only a plain name
 * tells the whole event: no modifiers of a group, no wildcards. */
static char *label_of(const struct pev_parsed *p, const char *text)
{
	if (strcspn(text + p->at, ":/*?[{},") == p->length && !strchr(p->label, ':') &&
	    p->attr->type != PERF_TYPE_TRACEPOINT)
		return strndup(text + p->at, p->length);
	return strdup(p->label);
}

/* What a list may ask for that counting can't give. P and S, about samples as well, say how
 * far to go where there are any: they change nothing here, as in perf stat. */
static int check_meaning(const struct stat *s, const struct pev_parsed *p, struct pev_error *err)
{
	const struct {
		bool wrong;
		const char *said, *remedy;
	} rules[] = {
		{ p->attr->precise_ip && !p->precise_max, "p is about the skid of samples, and stat takes "
		  "none", "leave it out" },
		{ p->percore && !s->config->per_core, "percore adds up the CPUs of a core",
		  "--per-core does so, for all events" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!rules[i].wrong)
			continue;
		snprintf(err->asked, sizeof(err->asked), "%s", p->label);
		snprintf(err->said, sizeof(err->said), "%s", rules[i].said);
		snprintf(err->remedy, sizeof(err->remedy), "%s", rules[i].remedy);
		return -EINVAL;
	}
	return 0;
}

static int add_event(struct stat *s, const struct pev_parsed *p, const char *text, bool asked,
		     struct pev_error *err)
{
	struct stat_event *e = &s->events[s->nevents];
	int rc = check_meaning(s, p, err);

	if (!rc)
		rc = pev_attr_buf_copy(&e->buf, p->attr);
	if (rc)
		return rc;
	e->buf.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	e->buf.attr.precise_ip = 0;
	e->label = label_of(p, text);
	e->unit = p->unit;
	e->scale = p->scale != 0 ? p->scale : 1;
	if (is_clock(p->attr) && !p->unit) {   /* ns, told in ms as perf stat does */
		e->unit = "msec";
		e->scale = 1e-6;
	}
	e->leader = p->leader;
	e->cpus = p->ncpus ? p->cpus : NULL;
	e->ncpus = p->ncpus;
	e->snapshot = p->snapshot;
	e->weak = p->weak;
	e->asked = asked;
	s->nevents++;
	return e->label ? 0 : -ENOMEM;
}

static int complain(const struct pev_error *err, int rc, struct fault *f)
{
	int code = rc == -EINVAL || rc == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
	char text[1200];

	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "stat: out of memory");
	pev_error_text(err, text, sizeof(text));
	return fault_set(f, code, "stat -e: %s", text);
}

int stat_events_parse(struct stat *s, struct fault *f)
{
	const struct opt_strings *lists = &s->config->events;
	char *text = lists->n ? join(lists) : strdup(defaults);
	struct pev_error err = { 0 };
	size_t n;
	int rc;

	rc = text ? pev_attr_parse(&s->list, text, NULL, &err) : -ENOMEM;
	n = rc ? 0 : pev_attr_list_size(s->list);
	s->events = calloc(n ? n : 1, sizeof(*s->events));
	if (!rc && !s->events)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_event(s, pev_attr_list_at(s->list, i), text, lists->n, &err);
	if (rc)
		rc = complain(&err, rc, f);
	free(text);
	return rc;
}

void stat_events_free(struct stat *s)
{
	for (size_t i = 0; i < s->nevents; i++) {
		free(s->events[i].label);
		free(s->events[i].why);
	}
	free(s->events);
	pev_attr_list_free(s->list);
	s->events = NULL;
	s->list = NULL;
	s->nevents = 0;
}
