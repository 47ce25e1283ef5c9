/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a recording: their names, and which of them are tracepoints. */
#include "events/layout.h"
#include "perfevent/parse/parse.h"
#include "stream/recording/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- their names ---------------------------------------------------------------- */

bool recording_is_ours(const struct perfdata_info *info)
{
	return info->version && !strncmp(info->version, "perf-prof", 9);
}

/* PMU types are numbers that each machine assigns dynamically. The recording may list their names. */
static bool pmu_label(const struct replay *p, const struct perf_event_attr *a, char *buf, size_t size)
{
	const struct perfdata_info *info = perfdata_info(p->reader);
	char modifiers[PEV_MODIFIERS_SIZE_], words[100];
	size_t i = 0;

	while (i < info->nfacts && (info->facts[i].feature != PERFDATA_PMU_MAPPINGS || info->facts[i].number[0] != a->type ||
				    !info->facts[i].text[0]))
		i++;
	if (i == info->nfacts)
		return false;
	snprintf(words, sizeof(words), a->config2 ? "config=%#llx,config1=%#llx,config2=%#llx" : a->config1 ?
		 "config=%#llx,config1=%#llx" : "config=%#llx", (unsigned long long)a->config,
		 (unsigned long long)a->config1, (unsigned long long)a->config2);
	pev_label_modifiers_(a, modifiers);
	snprintf(buf, size, "%s/%s/%s", info->facts[i].text[0], words, modifiers);
	return true;
}

bool recording_is_about_tasks(const struct replay *p, const struct perfdata_event *e)
{
	const struct perf_event_attr *a = &e->attr.attr;

	return recording_is_ours(perfdata_info(p->reader)) && a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

/* exclude_guest is set as its default is, so that the label does not mention it. */
bool track_label(const struct replay *p, const struct perfdata_event *e, char *buf, size_t size)
{
	union pev_attr_buf plain = e->attr;
	struct perf_event_attr *a = &plain.attr;

	if (!a->exclude_host)
		a->exclude_guest = a->exclude_user || a->exclude_kernel || a->exclude_hv || a->precise_ip;
	if (p->same_machine)
		return pev_attr_label(a, buf, size);
	return a->type >= PERF_TYPE_MAX && pmu_label(p, a, buf, size) ? true : pev_label_at_(a, NULL, buf, size) > 0;
}

/* Recordings of perf-prof have aliases as names; those of perf have modifiers behind them. */
static void name_track(const struct replay *p, const struct perfdata_event *e, struct track *t)
{
	const struct perf_event_attr *a = &e->attr.attr;

	if (e->name && (!t->fmt || recording_is_ours(perfdata_info(p->reader))))
		snprintf(t->name, sizeof(t->name), "%s", e->name);
	else if (t->fmt)
		snprintf(t->name, sizeof(t->name), "%s:%s", t->fmt->sys, t->fmt->name);
	else if (a->type == PERF_TYPE_TRACEPOINT)
		snprintf(t->name, sizeof(t->name), "tracepoint_%llu", (unsigned long long)a->config);
	else if (!track_label(p, e, t->name, sizeof(t->name)))
		snprintf(t->name, sizeof(t->name), "event_%u_%llu", a->type, (unsigned long long)a->config);
}

const char *track_behind_system(const struct track *t)
{
	size_t sys = t->fmt ? strlen(t->fmt->sys) : 0;

	return sys && !strncmp(t->name, t->fmt->sys, sys) && t->name[sys] == ':' ? t->name + sys + 1 : NULL;
}

/* The name of a probe, whose tracepoint has an internal name in a group of perf-prof's own. */
static const char *probe_of(const struct replay *p, const struct perfdata_event *e, const struct track *t)
{
	if (!t->fmt || !e->name || !recording_is_ours(perfdata_info(p->reader)) || track_behind_system(t))
		return NULL;
	return e->what ? e->what : t->name;
}

/* Samples of a fixed period may lack PERIOD. What happens singly is known to count one, as it is live. */
static bool needs_period(const struct perf_event_attr *a, const struct track *t)
{
	return t->period > 1 || (!t->fmt && !a->freq && t->period);
}

static void begin_track(const struct replay *p, const struct tracefmt_db *formats, const struct perfdata_event *e,
			struct track *t)
{
	const struct perf_event_attr *a = &e->attr.attr;
	struct layout l;

	t->first = NO_EVENT;
	if (a->type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW)
		t->fmt = tracefmt_find(formats, a->config);
	name_track(p, e, t);
	t->probe = probe_of(p, e, t);
	t->type = a->sample_type;
	t->period = a->freq ? 1 : a->sample_period;
	t->widened = t->type | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (needs_period(a, t) ? PERF_SAMPLE_PERIOD : 0);
	layout_from_sample_type(&l, t->type);
	t->time_at = l.time;
	t->cpu_at = l.cpu;
}

int tracks_make(struct replay *p, const struct tracefmt_db *formats, struct fault *f)
{
	p->ntracks = perfdata_events(p->reader);
	p->tracks = calloc(p->ntracks, sizeof(*p->tracks));
	if (!p->tracks)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < p->ntracks; i++)
		begin_track(p, formats, perfdata_event(p->reader, i), &p->tracks[i]);
	return 0;
}

/* ---- tracepoints ---------------------------------------------------------------- */

bool track_is_counted(const struct replay *p, size_t track)
{
	const struct perf_event_attr *a = &perfdata_event(p->reader, track)->attr.attr;

	return !a->sample_period && a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_FORMAT_GROUP;
}

static bool is_samples_of(const struct replay *p, size_t track, const char *sys, const char *name)
{
	const struct tracefmt *fmt = p->tracks[track].fmt;

	return fmt && !track_is_counted(p, track) && !strcmp(fmt->sys, sys) && !strcmp(fmt->name, name);
}

size_t track_of_samples(const struct replay *p, const char *sys, const char *name)
{
	size_t i = 0;

	while (i < p->ntracks && !is_samples_of(p, i, sys, name))
		i++;
	return i;
}
