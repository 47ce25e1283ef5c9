/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain perf events in an event list, by the names that perf-prof stat takes: page-faults,
 * cycles:u, mem:0x1000/4:rw, pmu/terms/. Events that happen one by one are sampled each;
 * what counts all the time (clocks, cycles) some 997 times a second, a rate that beats
 * with no timer of the system.
 */
#include "stream/private.h"

#include "stream/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FREQ = 997 };

/* ---- what is sampled ------------------------------------------------------- */

static bool happens_singly(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_BREAKPOINT ||
	       (a->type == PERF_TYPE_SOFTWARE && a->config != PERF_COUNT_SW_CPU_CLOCK &&
		a->config != PERF_COUNT_SW_TASK_CLOCK);
}

/* Whether the kernel has an address to tell. */
static bool has_address(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_BREAKPOINT)
		return true;
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
		a->config == PERF_COUNT_SW_ALIGNMENT_FAULTS);
}

static void choose_sampling(struct perf_event_attr *a, uint64_t freq)
{
	if (!a->sample_period && !freq && happens_singly(a))
		pev_attr_sample_period(a, 1);
	else if (!a->sample_period)
		pev_attr_sample_freq(a, freq ? freq : DEFAULT_FREQ);
	a->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (has_address(a))
		a->sample_type |= PERF_SAMPLE_ADDR;
}

/* A term such as call-graph=fp asks for a call chain, and for which. */
static void take_callchain(struct stream_event *ev)
{
	struct perf_event_attr *a = &ev->sampling->attr.attr;

	if (!(a->sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	ev->callchain = true;
	ev->stack_bytes = event_is_unwound(a) ? a->sample_stack_user : 0;
	ev->chain_user = !a->exclude_callchain_user || ev->stack_bytes;
	ev->chain_kernel = !a->exclude_callchain_kernel;
}

/* Where the kernel's part of the event is left out, so is the chain's: -g has to mean the other. */
static void follow_level(struct stream_event *ev, int user_callchain)
{
	ev->chain_user |= ev->sampling->attr.attr.exclude_kernel && user_callchain >= 0;
}

/* ---- one event ------------------------------------------------------------- */

/* A PMU of its own says on which CPUs it is; cpus= is the user's. */
static int take_cpus(struct stream_event *ev, const struct pev_parsed *parsed, struct fault *f)
{
	for (size_t i = 0; i < parsed->ncpus && !ev->cpus.n; i++)
		if (numlist_add(&ev->cpus, parsed->cpus[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static int fill(const struct stream *s, struct stream_event *ev, const struct spec_item *item,
		const char *name, const struct pev_parsed *parsed, struct fault *f)
{
	ev->sampling = calloc(1, sizeof(*ev->sampling));
	if (!ev->sampling || pev_attr_buf_copy(&ev->sampling->attr, parsed->attr))
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->sampling->what = strdup(parsed->label);
	if (!ev->sampling->what)
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->sampling->precise_max = parsed->precise_max;
	if (parsed->precise_max)
		ev->sampling->attr.attr.precise_ip = 3;
	take_callchain(ev);
	if (event_attrs_set(ev, item, EVENT_PLAIN, f) || take_cpus(ev, parsed, f))
		return -1;
	choose_sampling(&ev->sampling->attr.attr, s->opts->freq);
	follow_level(ev, s->opts->user_callchain);
	if (ev->alias)
		name = ev->alias;
	return event_set_name(ev, name, name, f);
}

/* One name may stand for an event on each of several PMUs: they share name and handler. */
static int add_all(struct stream *s, const struct spec_item *item, const char *name,
		   const struct pev_attr_list *list, bool filter_used, struct fault *f)
{
	for (size_t i = 0; i < pev_attr_list_size(list); i++) {
		struct stream_event *ev = events_append(s, item, f);

		if (!ev)
			return -1;
		if (filter_used) {
			free((char *)ev->filter);
			ev->filter = NULL;
		}
		if (fill(s, ev, item, name, pev_attr_list_at(list, i), f))
			return -1;
	}
	return 0;
}

/* ---- names ----------------------------------------------------------------- */

/* mem:ADDR/LEN[:rwx]: the length stands where other events have their filter. */
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

/* The item's name as the library takes it. */
static void event_text(const struct spec_item *item, char *buf, size_t size)
{
	if (is_forced(item))
		snprintf(buf, size, "%s", item->name);
	else
		snprintf(buf, size, "%s%s%s%s%s", item->sys ? item->sys : "", item->sys ? ":" : "",
			 item->name, is_length(item) ? "/" : "", is_length(item) ? item->filter : "");
}

/* Whether the name without its modifiers is an event's: then these are wrong. */
static bool is_event(const struct spec_item *item, const char *text)
{
	char head[256];
	struct pev_attr_list *list;

	snprintf(head, sizeof(head), "%.*s", (int)strcspn(text, ":"), text);
	if (item->sys && !strcmp(item->sys, "mem"))
		return true;
	if (pev_attr_parse(&list, head, NULL, NULL))
		return false;
	pev_attr_list_free(list);
	return true;
}

static enum plain_answer refuse(const struct spec_item *item, const struct pev_error *err,
				size_t at, struct fault *f)
{
	char message[400], expected[300];

	snprintf(message, sizeof(message), "%.399s", err->said[0] ? err->said : err->asked);
	snprintf(expected, sizeof(expected), "%.299s", err->remedy);
	spec_fault(f, item, item->at + (at < item->len ? at : item->len), message, expected);
	return PLAIN_FAILED;
}

/* The library's parser knows tracepoints, groups and lists, too: these are not for it. */
static bool is_single(const char *text)
{
	return !text[strcspn(text, "{},*?[ ")];
}

enum plain_answer plain_add(struct stream *s, const struct spec_item *item, struct fault *f)
{
	char name[304], text[300];
	struct pev_error err = { 0 };
	struct pev_attr_list *list;
	enum plain_answer answer = PLAIN_ADDED;
	size_t at = 0;

	event_text(item, text, sizeof(text));
	snprintf(name, sizeof(name), "%s%s", is_forced(item) ? "sw:" : "", text);
	if (!is_single(text))
		return PLAIN_NONE;
	if (pev_attr_parse(&list, text, &at, &err))
		return is_event(item, text) ? refuse(item, &err, at + (is_forced(item) ? 3 : 0), f)
					    : PLAIN_NONE;
	if (pev_attr_list_at(list, 0)->attr->type == PERF_TYPE_TRACEPOINT ||
	    (is_forced(item) && pev_attr_list_at(list, 0)->attr->type != PERF_TYPE_SOFTWARE))
		answer = PLAIN_NONE;
	else if (add_all(s, item, name, list, is_length(item), f))
		answer = PLAIN_FAILED;
	pev_attr_list_free(list);
	return answer;
}

/* ---- PMUs ------------------------------------------------------------------ */

static bool is_pmu(const struct spec_item *item)
{
	uint32_t type;

	return !item->sys && !strchr(item->name, '/') && item->name[0] != '.' &&
	       !pev_pmu_lookup_type(item->name, &type);
}

/* Without an alias the terms would have to be the name. */
static enum plain_answer need_alias(const struct spec_item *item, struct fault *f)
{
	char message[300], expected[400];
	const char *terms = item->filter ? item->filter : "config=N";
	const char *quote = strpbrk(terms, ",/") ? "\"" : "";

	snprintf(message, sizeof(message), "an event of the PMU %.100s needs a name: alias=NAME",
		 item->name);
	snprintf(expected, sizeof(expected), "%.100s/%s%.200s%s/alias=NAME/", item->name, quote, terms,
		 quote);
	spec_fault(f, item, item->at, message, expected);
	return PLAIN_FAILED;
}

enum plain_answer plain_add_pmu(struct stream *s, const struct spec_item *item, struct fault *f)
{
	struct pev_error err = { 0 };
	struct pev_attr_list *list;
	enum plain_answer answer = PLAIN_ADDED;
	char text[600];
	size_t at = 0;

	if (!is_pmu(item))
		return PLAIN_NONE;
	if (!spec_attr(item, "alias"))
		return need_alias(item, f);
	snprintf(text, sizeof(text), "%s/%s/", item->name, item->filter ? item->filter : "");
	if (pev_attr_parse(&list, text, &at, &err))
		return refuse(item, &err, spec_place(item, item->at, at) - item->at, f);
	if (add_all(s, item, item->name, list, true, f))
		answer = PLAIN_FAILED;
	pev_attr_list_free(list);
	return answer;
}
