/* SPDX-License-Identifier: Apache-2.0 */
/* The events of perf-prof stat: from -e, or by default those of perf stat. */
#include "stat/stat.h"

#include "events/probes.h"
#include "events/catalog.h"
#include "events/spec.h"
#include "perfevent/attr/attr_fields.h"
#include "stream/asked/rate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char defaults[] = "task-clock,context-switches,cpu-migrations,page-faults,"
			       "cycles,stalled-cycles-frontend,stalled-cycles-backend,instructions,"
			       "branches,branch-misses";

/* Events added by each further -d, as in perf stat. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};
enum { NDETAILS = sizeof(details) / sizeof(*details) };

/* All -e, or the default, and the events of -d as one list; *asked: length of the part from -e. */
static char *make_list(const struct stat_config *c, size_t *asked)
{
	const char *const *lists = c->events.n ? c->events.v : (const char *[]){ defaults };
	size_t n = c->events.n ? c->events.n : 1, size = sizeof(defaults);
	char *text;

	for (size_t i = 0; i < c->events.n; i++)
		size += strlen(c->events.v[i]) + 1;
	for (size_t i = 0; i < NDETAILS; i++)
		size += strlen(details[i]) + 1;
	text = calloc(1, size);
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++)
		strcat(strcat(text, i ? "," : ""), lists[i]);
	*asked = c->events.n ? strlen(text) : 0;
	for (int i = 0; i < c->detail && i < NDETAILS; i++)
		strcat(strcat(text, ","), details[i]);
	return text;
}

/* Keeps the name as typed, such as "cycles", for which the event's own name is "cpu-cycles"; only
 * for plain names without modifiers, groups or wildcards, which describe the whole event. */
static char *label_of(const struct pev_parsed *p, const char *text)
{
	if (strcspn(text + p->at, ":/*?[{},") == p->length && !strchr(p->label, ':') &&
	    p->attr->type != PERF_TYPE_TRACEPOINT)
		return strndup(text + p->at, p->length);
	return strdup(p->label);
}

/* sys:name with a wildcard in it. */
static bool is_from_glob(const struct pev_parsed *p, const char *text)
{
	return p->attr->type == PERF_TYPE_TRACEPOINT && strcspn(text + p->at, "*?[") < p->length;
}

/* Terms that are not possible when counting. P and S, which are also valid for sampling, change
 * nothing here, as in perf stat. */
static int check_meaning(const struct counting *s, const struct pev_parsed *p, struct pev_error *err)
{
	if (!p->percore || s->config->per_core)
		return 0;
	snprintf(err->asked, sizeof(err->asked), "%s", p->label);
	snprintf(err->said, sizeof(err->said), "percore adds up the CPUs of a core");
	snprintf(err->remedy, sizeof(err->remedy), "--per-core does so, for all events");
	return -EINVAL;
}

/* Whether an event of the default list is not supported by the machine (stalled cycles). Needs no privilege. */
static bool is_absent(const struct pev_parsed *p)
{
	union pev_attr_buf buf;
	int rc;

	if (p->attr->type != PERF_TYPE_HARDWARE ||
	    ((uint32_t)p->attr->config != PERF_COUNT_HW_STALLED_CYCLES_FRONTEND &&
	     (uint32_t)p->attr->config != PERF_COUNT_HW_STALLED_CYCLES_BACKEND) ||
	    pev_attr_buf_copy(&buf, p->attr))
		return false;
	rc = catalog_try(&buf.attr);
	return rc && rc != -EACCES && rc != -EPERM;
}

/* The kernel takes its tracepoints of system calls to happen in user space, and those of probes in a program. */
static bool is_kernels_tracepoint(const struct stat_event *e)
{
	char tracefs[256], group[64], name[64];

	if (e->buf.attr.type != PERF_TYPE_TRACEPOINT || !strncmp(e->label, "syscalls:", strlen("syscalls:")))
		return false;
	if (!e->buf.attr.exclude_kernel)   /* :u was not asked for: only system calls get it by themselves */
		return true;
	if (sscanf(e->label, "%63[^:]:%63[^:]", group, name) != 2 || pev_tracefs_path(tracefs, sizeof(tracefs), NULL))
		return false;
	return !probes_is_of_program(tracefs, group, name);
}

static int add_event(struct counting *s, size_t index, const char *text, bool asked,
		     struct pev_error *err)
{
	const struct pev_parsed *p = pev_attr_list_at(s->list, index);
	struct stat_event *e = &s->events[s->nevents];
	int rc = check_meaning(s, p, err);

	if (rc || (!asked && is_absent(p)))
		return rc;
	rc = pev_attr_buf_copy(&e->buf, p->attr);
	if (rc)
		return rc;
	e->buf.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (p->precise_max)
		e->buf.attr.precise_ip = 0;
	e->label = label_of(p, text);
	e->unit = p->unit;
	e->scale = p->scale != 0 ? p->scale : 1;
	if (rate_is_clock(p->attr) && !p->unit) {   /* ns, shown in ms as in perf stat */
		e->unit = "msec";
		e->scale = 1e-6;
	}
	e->leader = s->nevents - (index - p->leader);
	e->cpus = p->ncpus ? p->cpus : NULL;
	e->ncpus = p->ncpus;
	e->snapshot = p->snapshot;
	e->weak = p->weak;
	e->from_glob = is_from_glob(p, text);
	e->asked = asked;
	e->of_kernel = pev_is_of_kernel_alone_(&e->buf.attr) || (e->label && is_kernels_tracepoint(e));
	s->nevents++;
	return e->label ? 0 : -ENOMEM;
}

/* An error in the list itself is shown with a caret, as in other commands. at SIZE_MAX: not in the list. */
static int complain(const struct pev_error *err, int rc, const char *list, size_t at, struct fault *f)
{
	static const char label[] = "expected: ";
	int code = rc == -EINVAL || rc == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
	char text[1600];
	struct spec_error shown;

	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "stat: out of memory");
	if (at != SIZE_MAX && code == EXIT_USAGE && !strncmp(err->remedy, label, strlen(label))) {
		spec_complain_of(&shown, list, at, err->said, err->remedy + strlen(label));
		spec_error_text(&shown, text, sizeof(text));
	} else {
		pev_error_text(err, text, sizeof(text));
	}
	return fault_set(f, code, "stat -e: %s", text);
}

/* Whether a probe begins there, which other commands take. */
static bool is_probe(const char *text)
{
	static const char *const words[] = { "uprobe:", "uretprobe:", "usdt:", "kprobe:", "kretprobe:" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

static int refuse_probes(const char *list, struct fault *f)
{
	for (const char *at = list; at; at = strpbrk(at, ",{")) {
		at += strspn(at, ",{ ");
		if (is_probe(at))
			return fault_usage(f, "stat -e: %.*s is a probe, which stat does not count: use `perf-prof top -e`",
					   (int)strcspn(at, ",}"), at);
	}
	return 0;
}

int stat_events_parse(struct counting *s, struct fault *f)
{
	struct pev_error err = { 0 };
	size_t n, asked = 0, at = SIZE_MAX;
	char *text = make_list(s->config, &asked);
	int rc;

	rc = text ? pev_attr_parse(&s->list, text, &at, &err) : -ENOMEM;
	if (rc && text && refuse_probes(text, f)) {
		free(text);
		return -1;
	}
	n = rc ? 0 : pev_attr_list_size(s->list);
	s->events = calloc(n ? n : 1, sizeof(*s->events));
	if (!rc && !s->events)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_event(s, i, text, pev_attr_list_at(s->list, i)->at < asked, &err);
	if (rc && s->config->events.n && text)
		text[asked] = '\0';   /* without the events added by -d */
	if (rc)
		rc = complain(&err, rc, text, at, f);
	free(text);
	return rc;
}

void stat_events_free(struct counting *s)
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
