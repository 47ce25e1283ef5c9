/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a profile: its choice and its name. */
#include "engine/analysis.h"

#include <stdio.h>
#include <string.h>

bool analysis_has_place(const struct stream_event *event)
{
	return event->layout.callchain || event->layout.ip;
}

/* These PMUs record into AUX areas, not samples. */
static bool is_trace(const struct stream_event *event)
{
	static const char *const pmus[] = { "intel_pt/", "intel_bts/", "cs_etm/", "arm_spe_", "hisi_ptt" };

	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++)
		if (!strncmp(event->sampling->what, pmus[i], strlen(pmus[i])))
			return true;
	return false;
}

/* Higher is better: perf events, then AUX traces, then tracepoints; 0: no event. */
static int rank(const struct stream_event *event)
{
	return !event ? 0 : !event->sampling ? 1 : is_trace(event) ? 2 : 3;
}

struct stream_event *analysis_profiled(struct analysis *a, bool *all)
{
	struct stream_event *best = NULL;
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = n; i-- > 0;) {
		struct stream_event *e = &events[i];

		if (analysis_has_place(e) && rank(e) >= rank(best))
			best = e;
		e->names_ip = e->layout.ip && !e->layout.callchain;
	}
	*all = best && !best->sampling;
	return best;
}

const char *analysis_counted(const struct stream_event *event)
{
	return event->sampling && !event->asked.alias ? event->sampling->what : event->name;
}

char *analysis_family(struct analysis *a, const struct stream_event *event, char *buf, size_t size)
{
	size_t n, used = 0;
	const struct stream_event *events = stream_events(a->stream, &n);

	*buf = '\0';
	for (size_t i = event->opened.family; i < n && used < size; i++)
		if (events[i].opened.family == event->opened.family)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
						 analysis_counted(&events[i]));
	return buf;
}

/* Synonyms, and the usual name. */
static const char *const same[][2] = {
	{ "cpu-cycles", "cycles" }, { "branches", "branch-instructions" }, { "faults", "page-faults" },
	{ "cs", "context-switches" }, { "migrations", "cpu-migrations" },
};

/* The modifiers, after the name and its terms between slashes. *len: length of name and terms. */
static const char *find_modifiers(const char *name, size_t *len)
{
	const char *slash = strrchr(name, '/'), *colon = strrchr(name, ':');

	*len = slash && slash != name ? (size_t)(slash + 1 - name) : colon ? (size_t)(colon - name) : strlen(name);
	return name + *len;
}

/* "cpu-clock/period=1000000/" becomes "cpu-clock": the same event at another rate. */
static void cut_rate(char *name)
{
	char *slash = strchr(name, '/'), *rest = slash;

	if (slash && (!strncmp(slash, "/period=", 8) || !strncmp(slash, "/freq=", 6)))
		rest = slash + strcspn(slash, ",");
	if (rest != slash && !*rest)
		*slash = '\0';
}

char *analysis_event_key(const char *name, char *buf, size_t size)
{
	size_t len, n;
	const char *modifiers = find_modifiers(name, &len);

	/* "sched:sched_switch" has no modifiers */
	if (*modifiers == ':' && modifiers[1 + strspn(modifiers + 1, "ukhGHPpSDWIeb")])
		modifiers = name + (len = strlen(name));
	snprintf(buf, size, "%.*s", (int)len, name);
	cut_rate(buf);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (!strcmp(buf, same[i][0]))
			snprintf(buf, size, "%s", same[i][1]);
	n = strlen(buf);
	for (const char *p = "ukh", *mark = ":"; *p && n < size; p++)
		if (strchr(modifiers, *p)) {
			n += (size_t)snprintf(buf + n, size - n, "%s%c", mark, *p);
			mark = "";
		}
	return buf;
}

bool analysis_excludes_kernel(const struct stream_event *event)
{
	return event->sampling && event->sampling->attr.attr.exclude_kernel;
}

bool analysis_is_skid(const struct analysis_sample *s)
{
	return analysis_excludes_kernel(s->event) &&
	       (s->view.rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}
