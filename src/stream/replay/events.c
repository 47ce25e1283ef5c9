/* SPDX-License-Identifier: Apache-2.0 */
/* Turns events of a recording, chosen by the text of -e, into events of the stream. */
#include "base/nearest.h"
#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/list/source.h"
#include "stream/replay/private.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct spec_item everything;   /* the item of all events if there is no -e */

/* ---- formats ---------------------------------------------------------------- */

struct formats {
	struct stream *s;
	struct perfdata_formats f;
	bool machine_set;
};

static int take_format(void *ctx, const char *sys, const char *text, size_t len)
{
	struct formats *x = ctx;
	const struct tracefmt *fmt;

	if (!x->machine_set)
		tracefmt_set_machine(x->s->list.formats, x->f.long_size, (int)x->f.page_size);
	x->machine_set = true;
	fmt = tracefmt_parse(x->s->list.formats, text, len, sys, NULL);
	x->s->replay->formats_bad += !fmt || fmt->mended;
	return 0;
}

static void take_texts(void *ctx, const char *text, size_t len)
{
	tracefmt_add_texts(((struct formats *)ctx)->s->list.formats, text, len);
}

static int read_formats(struct stream *s, struct fault *f)
{
	struct formats x = { .s = s };

	x.f.format = take_format;
	x.f.texts = take_texts;
	x.f.ctx = &x;
	return perfdata_each_format(s->replay->reader, &x.f, f);
}

/* ---- events ------------------------------------------------------------------- */

enum { ANOTHER_ARCH = UINT8_MAX };

static uint8_t arch_of(const struct perfdata_info *info)
{
	static const struct { const char *name; uint8_t arch; } known[] = {
		{ "x86_64", PEV_ARCH_X86_64 }, { "i386", PEV_ARCH_I386 }, { "i486", PEV_ARCH_I386 },
		{ "i586", PEV_ARCH_I386 }, { "i686", PEV_ARCH_I386 }, { "aarch64", PEV_ARCH_ARM64 },
		{ "arm64", PEV_ARCH_ARM64 }, { "riscv64", PEV_ARCH_RISCV64 },
	};

	for (size_t i = 0; info->arch && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(info->arch, known[i].name))
			return known[i].arch;
	return info->arch ? ANOTHER_ARCH : PEV_ARCH_NATIVE;
}

/* Parts of a fixed size: the layout suffices to find them. */
#define PLAIN_PARTS                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)

/* What the event counts. Recordings of perf-prof also have the name that the user gave it, which
 * may be a source. */
static char *what_of(const struct replay *p, const struct track *t, const struct perfdata_event *e)
{
	char label[256];

	if (e->what)
		return strdup(e->what);
	if (recording_is_ours(perfdata_info(p->reader)) && track_label(p, e, label, sizeof(label)))
		return strdup(label);
	return strdup(t->name);
}

static int fill_sampling(struct stream_event *ev, const struct replay *p, const struct track *t,
			 const struct perfdata_event *e, struct fault *f)
{
	struct stream_sampling *sampling = calloc(1, sizeof(*sampling));
	const struct perf_event_attr *a = &e->attr.attr;

	ev->sampling = sampling;
	if (!sampling)
		return fault_set(f, EXIT_FAILED, "out of memory");
	sampling->attr = e->attr;
	sampling->attr.attr.sample_type = t->widened;
	sampling->what = what_of(p, t, e);
	sampling->format = e->format;
	sampling->format.sample_type = t->widened;
	sampling->format.arch = arch_of(perfdata_info(p->reader));
	sampling->decode = t->widened & ~(uint64_t)PLAIN_PARTS;
	if (a->type == PERF_TYPE_SOFTWARE && t->type & PERF_SAMPLE_ADDR && t->type & PERF_SAMPLE_IP &&
	    (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	     a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ))
		sampling->shape = SHAPE_FAULT;
	return sampling->what ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

/* Call chains are as they were recorded, whatever -e says. */
static void set_callchain(struct stream_event *ev, const struct perf_event_attr *a)
{
	ev->callchain = a->sample_type & PERF_SAMPLE_CALLCHAIN;
	ev->asked.stack_bytes = event_is_unwound(a) ? a->sample_stack_user : 0;
	ev->asked.chain_user = (ev->callchain && !a->exclude_callchain_user) || ev->asked.stack_bytes;
	ev->asked.chain_kernel = ev->callchain && !a->exclude_callchain_kernel;
	ev->asked.max_stack = 0;
}

/* The format of samples after widen_sample(). */
static int set_stack_format(struct stream_event *ev, const struct replay *p, const struct track *t,
			    const struct pev_format *recorded)
{
	struct pev_format format = *recorded;

	format.sample_type = t->widened;
	format.arch = arch_of(perfdata_info(p->reader));
	return ev->asked.stack_bytes ? event_set_stack_format(ev, &format) : 0;
}

const struct perfdata_event *replay_event(const struct stream *s, const struct stream_event *event)
{
	return perfdata_event(s->replay->reader, event->opened.track);
}

bool replay_is_of_command(const struct stream *s, const struct stream_event *event)
{
	return s->replay && replay_event(s, event)->attr.attr.enable_on_exec;
}

static bool is_one_of(const char *word, const char *const *options, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(word, options[i], strlen(options[i])) && (options[i][1] != '-' || strchr("=", word[strlen(options[i])])))
			return true;
	return false;
}

/* perf-prof opens events of the scheduler for all tasks, if it needs them itself: `profile --off-cpu -p 12 --record FILE`. Those of
 * tasks are inherited by their children. */
static bool is_for_all_tasks(const struct stream *s, const struct stream_event *event)
{
	const struct perfdata_info *info = perfdata_info(s->replay->reader);
	bool follows = true;

	for (size_t i = 1; i < info->ncommand; i++)
		follows &= strcmp(info->command[i], "--no-inherit") != 0;
	return recording_is_ours(info) && follows && !replay_event(s, event)->attr.attr.inherit;
}

/* perf's options and ours. Behind -a and -C, others may be those of a command, for which perf needs no "--"; a command alone
 * would make it replay_is_of_command(). */
bool replay_is_of_tasks(const struct stream *s, const struct stream_event *event)
{
	static const char *const tasks[] = { "-p", "-t", "--pid", "--pids", "--tid", "--tids" };
	static const char *const cpus[] = { "-a", "-C", "-ga", "--all-cpus", "--cpu", "--cpus", "--" };
	const struct perfdata_info *info = s->replay ? perfdata_info(s->replay->reader) : NULL;

	for (size_t i = 1; info && i < info->ncommand; i++) {
		if (is_one_of(info->command[i], cpus, sizeof(cpus) / sizeof(*cpus)))
			return false;
		if (is_one_of(info->command[i], tasks, sizeof(tasks) / sizeof(*tasks)))
			return !is_for_all_tasks(s, event);
	}
	return false;
}

void replay_format(const struct stream *s, const struct stream_event *event, struct pev_format *format)
{
	*format = replay_event(s, event)->format;
	format->sample_type = event->layout.sample_type;
	format->arch = arch_of(perfdata_info(s->replay->reader));
}

static int name_tracepoint(struct stream_event *ev, const struct track *t, struct fault *f)
{
	const char *shown = ev->asked.alias ? ev->asked.alias : t->probe ? t->name : track_behind_system(t);
	char full[600], word[600];

	ev->sys = strdup(t->fmt->sys);
	ev->tracepoint = strdup(t->fmt->name);
	if (!ev->sys || !ev->tracepoint)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (t->probe)
		return event_set_name(ev, shown, shown, f);
	shown = shown && *shown ? shown : t->fmt->name;
	snprintf(full, sizeof(full), "%s:%s", t->fmt->sys, shown);
	snprintf(word, sizeof(word), "%s__%s", t->fmt->sys, shown);
	return event_set_name(ev, full, word, f);
}

/* The name as typed, unless it is a PMU or has terms. */
static const char *typed_name(const struct spec_item *item, char *buf, size_t size)
{
	if (!item->name || spec_is_glob(item->name) || plain_has_terms(item) || item->terms)
		return NULL;
	snprintf(buf, size, "%s%s%s", item->sys ? item->sys : "", item->sys ? ":" : "", item->name);
	return buf;
}

static int name_event(struct stream_event *ev, const struct spec_item *item, const struct track *t,
		      struct fault *f)
{
	char typed[300];
	const char *name = ev->asked.alias;

	if (t->fmt)
		return name_tracepoint(ev, t, f);
	if (!name)
		name = typed_name(item, typed, sizeof(typed));
	if (!name)
		name = t->name;
	return event_set_name(ev, name, name, f);
}

/* Whether the recorded name is exactly the item: "cpu/cpu-cycles/u", whatever this machine takes
 * for terms; or "cpu_core/cycles:u/", as perf 5.13 to 6.3 write it. */
static bool matches_terms(const struct spec_item *item, const char *name)
{
	size_t n = item->terms ? strlen(item->name) : 0;

	if (strchr(name, '/') && strlen(name) == item->len && !memcmp(item->text + item->at, name, item->len))
		return true;
	return item->terms && !item->sys && !strncmp(name, item->name, n) && name[n] == '/' &&
	       !strncmp(name + n + 1, item->filter, strlen(item->filter)) &&
	       name[n + 1 + strlen(item->filter)] == '/' &&
	       (!item->modifiers || !strcmp(name + n + 2 + strlen(item->filter), item->modifiers));
}

/* Whether the first slot is no filter, but terms, or options of a source (which applied when it was
 * recorded). */
static bool takes_slot(const struct stream *s, const struct spec_item *item, const struct track *t)
{
	if (matches_terms(item, t->name))
		return true;
	return item->name && (plain_has_terms(item) ||
			      (!item->sys && source_find(s->opts->sources, item->name)));
}

static int append(struct stream *s, const struct spec_item *item, size_t track, struct fault *f)
{
	const struct replay *p = s->replay;
	const struct track *t = &p->tracks[track];
	const struct perfdata_event *e = perfdata_event(p->reader, track);
	struct stream_event *ev = events_append(s, item, f);

	if (!ev)
		return -1;
	ev->opened.track = (uint32_t)track;
	ev->fmt = t->fmt;
	if (!t->fmt && fill_sampling(ev, p, t, e, f))
		return -1;
	if (takes_slot(s, item, t)) {
		free((char *)ev->asked.filter);
		ev->asked.filter = NULL;
	}
	if (t->probe && !(ev->asked.probe = strdup(t->probe)))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (event_attrs_set(s, ev, item, t->probe ? EVENT_PROBE : t->fmt ? EVENT_TRACEPOINT : EVENT_PLAIN, f))
		return -1;
	if (!t->fmt)
		ev->sampling->attr = e->attr;
	set_callchain(ev, &e->attr.attr);
	if (set_stack_format(ev, p, t, &e->format))
		return fault_set(f, EXIT_FAILED, "out of memory");
	layout_from_format(&ev->layout, t->widened, e->format.read_format);
	ev->opened.regs_user = e->format.regs_user;
	ev->opened.machine = perfdata_info(p->reader)->arch;
	ev->opened.narrow = &p->narrow;
	ev->each = 1;
	ev->opened.read_format = e->format.read_format;
	ev->opened.counted = track_is_counted(p, track);
	if (t->fmt)
		ev->min_raw = t->fmt->min_size;
	return name_event(ev, item, t, f);
}

/* ---- the list ------------------------------------------------------------------- */

static bool matches_text(const char *pattern, const char *name, bool glob)
{
	return glob ? !fnmatch(pattern, name, 0) : !strcmp(pattern, name);
}

/* "cycles" also selects "cycles:u". */
static bool matches_name(const struct spec_item *item, const char *name)
{
	bool glob = spec_is_glob(item->name) || (item->sys && spec_is_glob(item->sys));
	char text[300], bare[256];

	snprintf(text, sizeof(text), "%s%s%s", item->sys ? item->sys : "", item->sys ? ":" : "", item->name);
	if (matches_text(text, name, glob))
		return true;
	if (item->sys || strchr(name, '/'))
		return false;
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(name, ":"), name);
	return matches_text(text, bare, glob);
}

/* The same event under any name. */
static bool matches_attr(const struct perf_event_attr *want, const struct perf_event_attr *a)
{
	return want->type == a->type && want->config == a->config && want->config1 == a->config1 &&
	       want->config2 == a->config2;
}

/* Whether it may come from `profile`: cycles, or a clock. */
static bool is_profile(const struct perf_event_attr *a)
{
	return (a->type == PERF_TYPE_HARDWARE && (uint32_t)a->config == PERF_COUNT_HW_CPU_CYCLES) ||
	       rate_is_clock(a);
}

struct wanted {
	const struct spec_item *item;
	struct pev_attr_list *parsed;      /* as this machine parses it; or NULL */
	bool profile;
	bool same_machine;                 /* PMU types have the same numbers here */
	char probe[PROBE_SHOWN_SIZE];      /* the name of the probe that this item describes; "": none */
	/* set if the recording has an event with exactly this name: then only such events match; or NULL */
	bool (*exactly)(const struct wanted *w, const struct track *t);
};

/* The tracepoint matches, under any alias. */
static bool matches_tracepoint(const struct wanted *w, const struct track *t)
{
	char name[300];

	snprintf(name, sizeof(name), "%s:%s", t->fmt->sys, t->fmt->name);
	return matches_name(w->item, name);
}

/* The item has the alias under which the event was recorded. */
static bool is_alias(const struct wanted *w, const struct track *t)
{
	const char *alias = spec_attr(w->item, "alias");
	bool traced = t->fmt && !t->probe;
	const char *name = traced ? track_behind_system(t) : t->name;

	return alias && name && !strcmp(name, alias) && !t->probe == !w->probe[0] &&
	       (!traced || matches_tracepoint(w, t));
}

/* The tracepoint was recorded under its own name. An event under an alias is another one, such as those that a command adds. */
static bool is_own_name(const struct wanted *w, const struct track *t)
{
	const char *name = t->fmt && !t->probe ? track_behind_system(t) : NULL;

	return name && !strcmp(name, t->fmt->name) && w->item->sys && !spec_is_glob(w->item->sys) &&
	       !spec_is_glob(w->item->name) && matches_tracepoint(w, t);
}

static bool is_with_terms(const struct wanted *w, const struct track *t)
{
	return matches_terms(w->item, t->name);
}

static bool is_probe_of(const struct wanted *w, const struct track *t)
{
	return t->probe && !strcmp(w->probe, t->probe);
}

static bool matches(const struct wanted *w, const struct track *t, const struct perf_event_attr *a)
{
	if (w->exactly)
		return w->exactly(w, t);
	if (matches_name(w->item, t->name))
		return true;
	if (t->fmt)
		return t->probe ? matches_name(w->item, t->probe) : matches_tracepoint(w, t);
	return (w->profile && is_profile(a)) ||
	       (w->parsed && (a->type < PERF_TYPE_MAX || w->same_machine) &&
		matches_attr(pev_attr_list_at(w->parsed, 0)->attr, a));
}

static void begin_wanted(const struct stream *s, struct wanted *w, const struct spec_item *item)
{
	static bool (*const kinds[])(const struct wanted *, const struct track *) = {
		is_alias, is_own_name, is_with_terms, is_probe_of,
	};
	const struct replay *p = s->replay;
	char text[PLAIN_TEXT_SIZE];

	*w = (struct wanted){ .item = item, .same_machine = p->same_machine };
	if (!probe_item_name(item, w->probe, sizeof(w->probe)))
		w->probe[0] = '\0';
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds) && !w->exactly; k++)
		for (size_t i = 0; i < p->ntracks && !w->exactly; i++)
			w->exactly = kinds[k](w, &p->tracks[i]) ? kinds[k] : NULL;
	w->profile = !item->sys && !strcmp(item->name, "profile") &&
		     source_find(s->opts->sources, item->name);
	if (!plain_is_single(item))
		return;
	plain_text(item, text, sizeof(text));
	if (pev_attr_parse(&w->parsed, text, NULL, NULL))
		w->parsed = NULL;
}

/* A dummy event has no samples, only records of tasks. */
static bool is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

static int unknown_event(const struct stream *s, const struct spec_item *item, struct fault *f)
{
	const struct replay *p = s->replay;
	char message[700], expected[500] = "one of", name[300];
	size_t used = strlen(expected);
	struct nearest near;

	if (item->terms)
		snprintf(name, sizeof(name), "%.*s", (int)item->len, item->text + item->at);
	else
		snprintf(name, sizeof(name), "%s%s%s", item->sys ? item->sys : "", item->sys ? ":" : "", item->name);
	snprintf(message, sizeof(message), "%s has no event %s", s->opts->input, name);
	nearest_begin(&near, name);
	for (size_t i = 0, n = 0; i < p->ntracks; i++) {
		if (is_dummy(&perfdata_event(p->reader, i)->attr.attr))
			continue;
		nearest_offer(&near, p->tracks[i].name);
		if (used < sizeof(expected))
			used += (size_t)snprintf(expected + used, sizeof(expected) - used, "%s %s", n++ ? "," : "",
						 p->tracks[i].name);
	}
	if (nearest_get(&near))
		snprintf(expected, sizeof(expected), "did you mean %s?", nearest_get(&near));
	return spec_fault(f, item, item->at, message, expected);
}

/* The nearest leader before the track, because recorders keep groups together; ntracks: none. */
static size_t leader_of(const struct replay *p, size_t track)
{
	while (track-- > 0) {
		const struct perf_event_attr *a = &perfdata_event(p->reader, track)->attr.attr;

		if (a->sample_period && a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_FORMAT_GROUP)
			return track;
	}
	return p->ntracks;
}

/* Fails if the event has no samples of its own and the consumer cannot use counts; in a group, they
 * come with the leader. */
static int check_samples(const struct stream *s, const struct spec_item *item, size_t before, struct fault *f)
{
	const struct replay *p = s->replay;
	char message[700], expected[400] = "";
	size_t leader;

	for (size_t i = before; i < s->list.nevents; i++)
		if (item->group || s->opts->takes_counts || !track_is_counted(p, s->list.events[i].opened.track))
			return 0;
	leader = leader_of(p, s->list.events[before].opened.track);
	snprintf(message, sizeof(message), "%s was counted, not sampled, in %s",
		 p->tracks[s->list.events[before].opened.track].name,
		 s->opts->input);
	if (leader < p->ntracks)
		snprintf(expected, sizeof(expected), "name %s, whose samples bear the counts of its group",
			 p->tracks[leader].name);
	return spec_fault(f, item, item->at, message, expected);
}

/* Events made by sources are not recorded, but what they are made of is. */
static int add_made(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const struct source_ops *ops = item->sys ? NULL : source_find(s->opts->sources, item->name);

	if (!ops || !ops->makes)
		return unknown_event(s, item, f);
	return source_add_item(s, item, f) == PLAIN_ADDED ? 0 : -1;
}

static int add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const struct replay *p = s->replay;
	size_t before = s->list.nevents;
	struct wanted w;
	int rc = 0;

	begin_wanted(s, &w, item);
	for (size_t i = 0; i < p->ntracks && !rc; i++)
		if (matches(&w, &p->tracks[i], &perfdata_event(p->reader, i)->attr.attr))
			rc = append(s, item, i, f);
	if (w.parsed)
		pev_attr_list_free(w.parsed);
	if (rc)
		return rc;
	return s->list.nevents > before ? check_samples(s, item, before, f) : add_made(s, item, f);
}

static bool has_event_of(const struct stream *s, size_t track)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].opened.track == track)
			return true;
	return false;
}

/* Appends, behind the consumer's events, those whose samples have the counts of these. */
static int add_leaders(struct stream *s, struct fault *f)
{
	const struct replay *p = s->replay;

	s->replay->leaders_from = s->list.nevents;
	for (size_t i = 0; i < s->list.nshown && s->opts->takes_counts; i++) {
		size_t track = s->list.events[i].opened.track, leader = p->ntracks;

		if (track != NO_TRACK && track_is_counted(p, track))
			leader = leader_of(p, track);
		if (leader < p->ntracks && !has_event_of(s, leader) && append(s, &everything, leader, f))
			return -1;
	}
	return 0;
}

static int add_all(struct stream *s, struct fault *f)
{
	const struct replay *p = s->replay;

	for (size_t i = 0; i < p->ntracks; i++)
		if (!is_dummy(&perfdata_event(p->reader, i)->attr.attr) && append(s, &everything, i, f))
			return -1;
	return s->list.nevents ? 0 : fault_set(f, EXIT_FAILED, "%s: no event in it has samples", s->opts->input);
}

/* ---- families --------------------------------------------------------------------- */

enum { COMPARED = 64 };      /* events compared; a hostile recording may have any number */

/* The same hardware event of another type of core, which is in the upper 32 bits of config. */
static bool is_same_number(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->type == b->type && (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE) &&
	       (uint32_t)a->config == (uint32_t)b->config && a->config >> 32 != b->config >> 32 &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv;
}

/* "cpu_core/cycles/u" and "cpu_atom/cycles/u"; but "intel_pt//u" has no name behind its PMU. */
static bool is_same_but_for_pmu(const char *a, const char *b)
{
	const char *x = strchr(a, '/'), *y = strchr(b, '/');

	return x && y && x[1] != '/' && !strcmp(x, y) && strcmp(a, b);
}

static bool is_family(const struct stream *s, const struct stream_event *a, const struct stream_event *b)
{
	const struct replay *p = s->replay;

	if (!a->sampling || !b->sampling || a->maker || b->maker || a->opened.counted || b->opened.counted ||
	    a->opened.track == b->opened.track)
		return false;
	return is_same_number(&replay_event(s, a)->attr.attr, &replay_event(s, b)->attr.attr) ||
	       is_same_but_for_pmu(p->tracks[a->opened.track].name, p->tracks[b->opened.track].name);
}

static void find_families(struct stream *s)
{
	for (size_t i = 1; i < s->list.nevents && i < COMPARED; i++)
		for (size_t k = 0; k < i && s->list.events[i].opened.family == i; k++)
			if (is_family(s, &s->list.events[k], &s->list.events[i]))
				s->list.events[i].opened.family = s->list.events[k].opened.family;
}

/* Links each track with its events; aliases are several events of one track. */
static int link_events(struct stream *s, struct fault *f)
{
	struct replay *p = s->replay;

	p->next = calloc(s->list.nevents, sizeof(*p->next));
	if (!p->next)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = s->list.nevents; i-- > 0;) {
		struct track *t;

		if (s->list.events[i].opened.track == NO_TRACK)
			continue;
		t = &p->tracks[s->list.events[i].opened.track];
		p->next[i] = t->first;
		t->first = (uint32_t)i;
	}
	return 0;
}

int recording_events(struct stream *s, struct fault *f)
{
	struct fault damage = { 0 };
	int rc;

	if (read_formats(s, &damage))
		fault_print(&damage);   /* its tracepoints have no fields; the rest can be read */
	if (tracks_make(s->replay, s->list.formats, f) || events_parse(s, f))
		return -1;
	rc = s->list.specs.nitems ? 0 : add_all(s, f);
	for (size_t i = 0; i < s->list.specs.nitems && !rc; i++)
		rc = add_item(s, &s->list.specs.items[i], f);
	find_families(s);
	return rc || events_check_names(s, f) || makers_watch(s, f) || add_leaders(s, f) || link_events(s, f) ||
	       makers_begin(s, f) ? -1 : 0;
}
