/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events in an event list, as in perf-prof stat: page-faults, cycles:u, mem:0x1000/4:rw,
 * cycles/period=100000/u, cpu/event=0x76,umask=0/. The library's parser knows names, terms and
 * modifiers; this file writes an item of the list as text for it.
 *
 * The first slot (events/spec.h) has terms
 *   - always, if the name is a PMU (a directory in sysfs; or several, uncore_imc);
 *   - else if it looks like terms and has a "=", or if all words are terms that an event accepts
 *     (cycles/percore/).
 * Otherwise it is a filter on the parts of the sample (cycles/cpu==1/), as for every event.
 *
 * By default, software events and breakpoints are sampled every time they occur. Clocks and PMU
 * events, such as cycles, are sampled 997 times a second, a frequency that is no multiple of any
 * timer's.
 */
#include "perfevent/attr/attr_fields.h"
#include "stream/list/groups.h"
#include "stream/list/list.h"
#include "stream/list/useronly.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is sampled ------------------------------------------------------- */

static bool is_software(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && !rate_is_clock(a);
}

static bool happens_singly(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_BREAKPOINT || is_software(a);
}

bool plain_may_stray(const struct stream_event *ev)
{
	return ev->sampling && is_software(&ev->sampling->attr.attr);
}

/* Whether samples have an address (PERF_SAMPLE_ADDR). */
static bool has_address(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_BREAKPOINT)
		return true;
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
		a->config == PERF_COUNT_SW_ALIGNMENT_FAULTS);
}

static void choose_sampling(struct stream_sampling *sampling, const struct stream_opts *o)
{
	struct perf_event_attr *a = &sampling->attr.attr;

	if (!a->sample_period && (o->period || (!o->freq && happens_singly(a))))
		pev_attr_sample_period(a, o->period ? o->period : 1);
	else if (!a->sample_period)
		rate_set(sampling, o->freq);
	else if (a->freq && !sampling->rate)
		sampling->rate = a->sample_freq;   /* freq as a term of the event itself */
	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (has_address(a))
		a->sample_type |= PERF_SAMPLE_ADDR;
}

/* A term such as call-graph=fp asks for a call chain, and of which kind. */
static void take_callchain(struct stream_event *ev)
{
	struct perf_event_attr *a = &ev->sampling->attr.attr;

	if (!(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	ev->callchain = true;
	ev->asked.stack_bytes = event_is_unwound(a) ? a->sample_stack_user : 0;
	ev->asked.chain_user = !a->exclude_callchain_user || ev->asked.stack_bytes;
	ev->asked.chain_kernel = !a->exclude_callchain_kernel;
}

/* If the event excludes the kernel, the kernel's part of its chain is empty, so -g must mean the
 * user's part. */
static void follow_level(struct stream_event *ev, int user_callchain)
{
	ev->asked.chain_user |= ev->sampling->attr.attr.exclude_kernel && user_callchain >= 0;
}

/* ---- one event ------------------------------------------------------------- */

/* Some PMUs name the CPUs to open their events on; cpus= has priority. */
static int take_cpus(struct stream_event *ev, const struct pev_parsed *parsed, struct fault *f)
{
	for (size_t i = 0; i < parsed->ncpus && !ev->asked.cpus.n; i++)
		if (numlist_add(&ev->asked.cpus, parsed->cpus[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static int refuse_guests(const struct spec_item *item, const struct pev_parsed *parsed, struct fault *f)
{
	char message[300];

	snprintf(message, sizeof(message), "%.100s happens on the host: the kernel ignores G for software events and breakpoints",
		 parsed->label);
	return spec_fault(f, item, item->at, message, "an event of the CPU, such as cycles:G; or this event without G, for the host");
}

static int fill(const struct stream *s, struct stream_event *ev, const struct spec_item *item,
		const char *name, const struct pev_parsed *parsed, struct fault *f)
{
	if (parsed->attr->exclude_host && pev_is_of_host_alone_(parsed->attr))
		return refuse_guests(item, parsed, f);
	ev->sampling = calloc(1, sizeof(*ev->sampling));
	if (!ev->sampling || pev_attr_buf_copy(&ev->sampling->attr, parsed->attr))
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->sampling->what = strdup(parsed->label);
	if (!ev->sampling->what)
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->sampling->precise_max = parsed->precise_max;
	ev->sampling->group_read = parsed->group_read;
	if (parsed->precise_max)
		ev->sampling->attr.attr.precise_ip = 3;
	take_callchain(ev);
	if (event_attrs_set(s, ev, item, EVENT_PLAIN, f) || take_cpus(ev, parsed, f))
		return -1;
	choose_sampling(ev->sampling, s->opts);
	if (useronly_settle(s, ev, 0, f))
		return -1;
	follow_level(ev, s->opts->user_callchain);
	if (ev->asked.alias)
		name = ev->asked.alias;
	return event_set_name(ev, name, name, f);
}

/* One name may stand for events on several PMUs. They share the name and the handler. */
static int add_all(struct stream *s, const struct spec_item *item, const char *name,
		   const struct pev_attr_list *list, bool filter_used, struct fault *f)
{
	const uint32_t first = (uint32_t)s->list.nevents;

	for (size_t i = 0; i < pev_attr_list_size(list); i++) {
		struct stream_event *ev = events_append(s, item, f);

		if (!ev)
			return -1;
		ev->opened.family = first;
		if (filter_used) {
			free((char *)ev->asked.filter);
			ev->asked.filter = NULL;
		}
		if (fill(s, ev, item, name, pev_attr_list_at(list, i), f))
			return -1;
	}
	return 0;
}

/* ---- an item's text -------------------------------------------------------- */

/* mem:ADDR/LEN[:rwx]: the length is where other events have their filter. */
static bool is_length(const struct spec_item *item)
{
	const char *p = item->filter;

	if (!p || !item->sys || strcmp(item->sys, "mem"))
		return false;
	p += strspn(p, "0123456789");
	return p > item->filter && (!*p || (*p == ':' && p[1] && !p[1 + strspn(p + 1, "rwx")]));
}

static bool is_forced(const struct spec_item *item)
{
	return item->sys && !strcmp(item->sys, "sw");
}

/* The text before the slash. Modifiers of "cycles:u" are apart, because they follow the terms. */
struct heading {
	const char *head, *modifiers;
};

static struct heading heading_of(const struct spec_item *item)
{
	bool whole = !item->sys || is_forced(item) || !strcmp(item->sys, "mem");

	return whole ? (struct heading){ item->name, "" } : (struct heading){ item->sys, item->name };
}

static bool is_pmu(const struct spec_item *item)
{
	uint32_t type;

	return !item->sys && !strchr(item->name, '/') && item->name[0] != '.' &&
	       !pev_pmu_lookup_type(item->name, &type);
}

static bool parses(const char *text)
{
	struct pev_attr_list *list;

	if (pev_attr_parse(&list, text, NULL, NULL))
		return false;
	pev_attr_list_free(list);
	return true;
}

/* Whether the word is also a term: period and freq are. */
static bool is_term(const char *head, const char *word)
{
	char text[PLAIN_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s/%s=1/", head, word);
	return parses(text);
}

/* Whether it looks like terms with an error. It is not, if it is a filter, or an attribute that
 * belongs into a later slot. */
static bool is_misspelt(const char *head, const char *terms)
{
	char word[64] = "";
	size_t len = strcspn(terms, "=,");

	memcpy(word, terms, len < sizeof(word) ? len : sizeof(word) - 1);
	return strchr(terms, '=') && (!event_attr_exists(word) || is_term(head, word));
}

/* See the rules at the top of this file. */
bool plain_has_terms(const struct spec_item *item)
{
	char text[PLAIN_TEXT_SIZE];

	if (!item->filter || is_pmu(item))
		return item->filter;
	snprintf(text, sizeof(text), "%s/%s/", heading_of(item).head, item->filter);
	return parses(text) || (item->terms && is_misspelt(heading_of(item).head, item->filter));
}

void plain_text(const struct spec_item *item, char *buf, size_t size)
{
	struct heading h = heading_of(item);
	const char *more = item->modifiers ? item->modifiers : "";

	if (plain_has_terms(item))
		snprintf(buf, size, "%s/%s/%s%s", h.head, item->filter, h.modifiers, more);
	else
		snprintf(buf, size, "%s%s%s%s%s%s%s", item->sys && !is_forced(item) ? item->sys : "",
			 item->sys && !is_forced(item) ? ":" : "", item->name, is_length(item) ? "/" : "",
			 is_length(item) ? item->filter : "", *more && !*h.modifiers ? ":" : "", more);
}

/* ---- errors ---------------------------------------------------------------- */

/* Whether the name without modifiers is an event, so that the modifiers are wrong. */
static bool is_event(const struct spec_item *item)
{
	return (item->sys && !strcmp(item->sys, "mem")) || parses(heading_of(item).head);
}

/* The position in the event list of an offset in plain_text(). */
static size_t place_of(const struct spec_item *item, size_t at)
{
	size_t head = strlen(heading_of(item).head) + 1;
	size_t terms = item->filter ? strlen(item->filter) : 0;
	size_t place = item->at + at + (is_forced(item) ? 3 : 0);

	if (at >= head && plain_has_terms(item))
		place = at <= head + terms ? spec_place(item, item->filter_at, at - head)
					   : item->modifiers_at + at - head - terms - 1;
	return place < item->at + item->len ? place : item->at + item->len;
}

static enum plain_answer refuse(const struct spec_item *item, const struct pev_error *err,
				size_t at, struct fault *f)
{
	static const char label[] = "expected: ";
	char message[400], expected[300];

	snprintf(message, sizeof(message), "%.399s", err->said[0] ? err->said : err->asked);
	snprintf(expected, sizeof(expected), "%.299s",
		 err->remedy + (strncmp(err->remedy, label, strlen(label)) ? 0 : strlen(label)));
	spec_fault(f, item, place_of(item, at), message, expected);
	return PLAIN_FAILED;
}

static enum plain_answer need_terms(const struct spec_item *item, struct fault *f)
{
	char message[300], expected[400];

	snprintf(message, sizeof(message), "%.100s is a PMU, whose events have terms", item->name);
	snprintf(expected, sizeof(expected), "%.100s/TERM,.../: `perf-prof list pmu` shows them", item->name);
	spec_fault(f, item, item->at, message, expected);
	return PLAIN_FAILED;
}

/* ---- names ----------------------------------------------------------------- */

/* The library's parser also accepts tracepoints, groups and lists: excludes the latter two, and globs. */
bool plain_is_single(const struct spec_item *item)
{
	char text[PLAIN_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s%s", item->sys ? item->sys : "", item->name);
	return !text[strcspn(text, "{},*?[ ")];
}

/* The name as typed; with terms, the library's label, unless they describe several events. */
static void name_of(const struct spec_item *item, const char *text, const struct pev_attr_list *list,
		    bool modified, char *name, size_t size)
{
	const struct heading h = heading_of(item);

	if (!plain_has_terms(item) && !modified)
		snprintf(name, size, "%s%s", is_forced(item) ? "sw:" : "", text);
	else if (pev_attr_list_size(list) == 1)
		snprintf(name, size, "%s", pev_attr_list_at(list, 0)->label);
	else if (parses(h.head))
		snprintf(name, size, "%s%s%s%s", h.head, item->modifiers || *h.modifiers ? ":" : "", h.modifiers,
			 item->modifiers ? item->modifiers : "");
	else
		snprintf(name, size, "%s", text);
}

/* A tracepoint's name here has no format; sw: accepts software events only. */
static bool is_ours(const struct spec_item *item, const struct perf_event_attr *a)
{
	return a->type != PERF_TYPE_TRACEPOINT && (!is_forced(item) || a->type == PERF_TYPE_SOFTWARE);
}

enum plain_answer plain_add(struct stream *s, const struct spec_item *item, struct fault *f)
{
	char name[PLAIN_TEXT_SIZE + 4], text[PLAIN_TEXT_SIZE], whole[PLAIN_TEXT_SIZE + 20], more[12];
	struct pev_error err = { 0 };
	struct pev_attr_list *list;
	enum plain_answer answer = PLAIN_ADDED;
	size_t at = 0;

	if (!plain_is_single(item))
		return PLAIN_NONE;
	plain_text(item, text, sizeof(text));
	groups_modifiers(s, item, more, sizeof(more));
	snprintf(whole, sizeof(whole), "%s%s%s%s", *more ? "{" : "", text, *more ? "}:" : "", more);
	if (pev_attr_parse(&list, whole, &at, &err)) {
		at -= *more && at;
		if (is_pmu(item) && !item->filter)
			return need_terms(item, f);
		return is_pmu(item) || is_event(item) ? refuse(item, &err, at, f) : PLAIN_NONE;
	}
	name_of(item, text, list, more[strspn(more, "SWDe")], name, sizeof(name));
	if (!is_ours(item, pev_attr_list_at(list, 0)->attr))
		answer = PLAIN_NONE;
	else if (add_all(s, item, name, list, is_length(item) || plain_has_terms(item), f))
		answer = PLAIN_FAILED;
	pev_attr_list_free(list);
	return answer;
}
