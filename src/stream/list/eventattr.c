/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of items in an event list: name//stack/alias=x/. */
#include "base/nearest.h"
#include "base/note.h"
#include "base/units.h"
#include "events/parts.h"
#include "stream/list/list.h"
#include "stream/list/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int attr_stack(struct stream_event *ev, const char *value, char *why, size_t size)
{
	const char *expected;

	ev->callchain = true;
	if (!value)
		return 0;
	if (!strcmp(value, "no")) {
		ev->callchain = ev->asked.chain_user = ev->asked.chain_kernel = false;
		ev->asked.stack_bytes = 0;
		return 0;
	}
	if (!stream_parse_chains(value, &ev->asked.stack_bytes, &expected)) {
		snprintf(why, size, "stack=%.64s: expected %s", value, expected);
		return -1;
	}
	ev->asked.chain_user = true;
	return 0;
}

bool event_is_unwound(const struct perf_event_attr *a)
{
	const uint64_t parts = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (a->sample_type & parts) == parts && a->exclude_callchain_user;
}

static int attr_max_stack(struct stream_event *ev, const char *value, char *why, size_t size)
{
	uint64_t n;
	int limit = pev_max_stack();

	if (limit <= 0)
		limit = 127;
	if (!value || units_u64(value, &n) || n < 1 || n > (uint64_t)limit) {
		snprintf(why, size, "max-stack=%s: expected 1 to %d (kernel.perf_event_max_stack)",
			 value ? value : "", limit);
		return -1;
	}
	ev->callchain = true;
	ev->asked.max_stack = (unsigned int)n;
	return 0;
}

static int attr_alias(struct stream_event *ev, const char *value, char *why, size_t size)
{
	size_t len = value ? strlen(value) : 0;

	if (!len || len > 64 ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.()") !=
		    len) {
		snprintf(why, size, "alias=%.64s: expected letters, digits, _, -, . or ()",
			 value ? value : "");
		return -1;
	}
	free((char *)ev->asked.alias);
	ev->asked.alias = strdup(value);
	return 0;
}

static int attr_cpus(struct stream_event *ev, const char *value, char *why, size_t size)
{
	const char *bad = "";

	numlist_free(&ev->asked.cpus);
	if (!value || numlist_parse(&ev->asked.cpus, value, 65535, &bad)) {
		snprintf(why, size, "cpus=%.64s: expected a list such as 0-3,7",
			 value ? value : "");
		return -1;
	}
	return 0;
}

static int attr_period(struct stream_event *ev, const char *value, char *why, size_t size)
{
	uint64_t n;

	if (!value || units_u64(value, &n) || n < 1 || n > INT64_MAX) {
		snprintf(why, size, "period=%.64s: expected events per sample, 1 or more",
			 value ? value : "");
		return -1;
	}
	ev->sampling->attr.attr.freq = 0;
	pev_attr_sample_period(&ev->sampling->attr.attr, n);
	return 0;
}

static int attr_freq(struct stream_event *ev, const char *value, char *why, size_t size)
{
	uint64_t n;

	if (rate_parse(value, &n)) {
		snprintf(why, size, "freq=%.64s: expected " RATE_EXPECTED, value ? value : "");
		return -1;
	}
	rate_set(ev->sampling, n);
	return 0;
}

static void list_parts(char *buf, size_t size)
{
	const struct sample_part *part;
	size_t used = 0;

	for (size_t i = 0; (part = sample_part_at(i)) && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "", part->name);
}

/* Fills in what parts of the sample need in other fields. */
static void complete_sample(struct perf_event_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_REGS_USER && !a->sample_regs_user)
		a->sample_regs_user = source_registers();
	if (a->sample_type & PERF_SAMPLE_REGS_INTR && !a->sample_regs_intr)
		a->sample_regs_intr = source_registers();
	if (a->sample_type & PERF_SAMPLE_STACK_USER && !a->sample_stack_user)
		a->sample_stack_user = 8192;
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK && !a->branch_sample_type)
		a->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (a->sample_type & PERF_SAMPLE_READ)
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				  PERF_FORMAT_ID;
}

static int attr_sample(struct stream_event *ev, const char *value, char *why, size_t size)
{
	struct perf_event_attr *a = &ev->sampling->attr.attr;
	const char *word = value ? value : "";

	for (;;) {
		size_t len = strcspn(word, "+");
		uint64_t bits = sample_part_bits(word, len);
		int n;

		if (!bits) {
			n = snprintf(why, size, "sample=%.64s: expected parts with + between: ", word);
			list_parts(why + n, size - (size_t)n);
			return -1;
		}
		a->sample_type |= bits & -bits;   /* if the name stands for two parts, the older one */
		if (bits & PERF_SAMPLE_CALLCHAIN)
			ev->callchain = true;
		if (!word[len])
			break;
		word += len + 1;
	}
	complete_sample(a);
	return 0;
}

/* Only checks the value; probeitem.c uses it when it creates the probe. A definition is one line. */
static int attr_args(struct stream_event *ev, const char *value, char *why, size_t size)
{
	for (const char *p = value; p && *p; p++)
		if ((unsigned char)*p < ' ')
			value = NULL;
	if (!value)
		snprintf(why, size, "args=: expected arguments, such as \"count item->id fd=%%di:s32\"");
	return value ? 0 : -1;
}

/* For expressions and words that the command looks up in the item itself. */
static int attr_word(struct stream_event *ev, const char *value, char *why, size_t size)
{
	if (!value || !*value)
		snprintf(why, size, "needs a value: expected an expression over the event's fields");
	return value && *value ? 0 : -1;
}

static int attr_mark(struct stream_event *ev, const char *value, char *why, size_t size)
{
	if (value)
		snprintf(why, size, "a mark takes no value");
	return value ? -1 : 0;
}

enum {
	SAMPLED = EVENT_PLAIN | EVENT_SOURCE,
	EVERY = EVENT_TRACEPOINT | EVENT_PROBE | SAMPLED | EVENT_MADE,
};

static const char perf_events[] = "perf events, such as cycles";

/* `uses`: enum stream_attrs; 0: every command uses it. `belongs`: where it can be used, for messages. */
static const struct {
	const char *name;
	unsigned int kinds, uses;
	int (*set)(struct stream_event *ev, const char *value, char *why, size_t size);
	const char *shown, *belongs;
} attrs[] = {
	{ "stack", EVERY, STREAM_ATTR_STACK, attr_stack, "stack[=auto|fp|dwarf|no]",
	  "commands that show or record call chains, such as python, trace and record" },
	{ "max-stack", EVERY, STREAM_ATTR_STACK, attr_max_stack, "max-stack=N",
	  "commands that show or record call chains, such as python, trace and record" },
	{ "alias", EVERY, 0, attr_alias, "alias=NAME", NULL },
	{ "cpus", EVERY, 0, attr_cpus, "cpus=LIST", NULL },
	{ "key", EVERY, STREAM_ATTR_KEY, attr_word, "key=EXPR", "perf-prof top and latency" },
	{ "role", EVERY, STREAM_ATTR_PAIR, attr_word, "role=start|end|both", "perf-prof latency" },
	{ "untraced", EVERY, STREAM_ATTR_PAIR, attr_mark, "untraced", "perf-prof latency" },
	{ "trigger", EVERY, STREAM_ATTR_TRIGGER, attr_mark, "trigger", "--overwrite of perf-prof trace and record" },
	{ "top-by", EVERY, STREAM_ATTR_ROW, attr_word, "top-by=EXPR", "perf-prof top" },
	{ "top-add", EVERY, STREAM_ATTR_ROW, attr_word, "top-add=EXPR", "perf-prof top" },
	{ "comm", EVERY, STREAM_ATTR_ROW, attr_word, "comm=EXPR", "perf-prof top" },
	{ "printkey", EVERY, STREAM_ATTR_ROW, attr_word, "printkey=EXPR", "perf-prof top" },
	{ "ptr", EVERY, STREAM_ATTR_NOBODY, attr_word, "ptr=EXPR", NULL },
	{ "size", EVERY, STREAM_ATTR_NOBODY, attr_word, "size=EXPR", NULL },
	{ "num", EVERY, STREAM_ATTR_NOBODY, attr_word, "num=EXPR", NULL },
	{ "exec", EVERY, STREAM_ATTR_NOBODY, attr_word, "exec=EXPR", NULL },
	{ "args", EVENT_PROBE, 0, attr_args, "args=\"NAME=WHAT:TYPE...\"", "probes, such as uprobe:" },
	{ "period", EVENT_PLAIN, 0, attr_period, "period=N", perf_events },
	{ "freq", EVENT_PLAIN, 0, attr_freq, "freq=N|max", perf_events },
	{ "sample", SAMPLED, 0, attr_sample, "sample=PART+PART", "perf events, and sources that sample: profile, page-faults" },
};
enum { NATTRS = sizeof(attrs) / sizeof(*attrs) };

/* why: "max-stack=x: expected 1 to 127". */
static int bad_value(struct fault *f, const struct spec_item *item, const struct spec_attr *attr,
		     char *why)
{
	char message[600], *expected = strstr(why, ": expected ");

	if (!expected)
		return spec_fault(f, item, attr->value_at, why, "the attribute's name alone");
	*expected = '\0';
	expected += strlen(": expected ");
	if (attr->value)
		snprintf(message, sizeof(message), "invalid value: %s", why);
	else
		snprintf(message, sizeof(message), "%s needs a value", attr->name);
	return spec_fault(f, item, attr->value_at, message, expected);
}

bool event_attr_exists(const char *name)
{
	for (size_t i = 0; i < NATTRS; i++)
		if (!strcmp(attrs[i].name, name))
			return true;
	return false;
}

/* Whether the event can have the attribute, and the command uses it. */
static bool is_for(size_t i, const struct stream *s, enum event_kind kind)
{
	return attrs[i].kinds & kind && (!attrs[i].uses || attrs[i].uses & s->opts->attrs);
}

static void list_attrs(const struct stream *s, enum event_kind kind, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < NATTRS && used < size; i++)
		if (is_for(i, s, kind))
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "one of: ",
						 attrs[i].shown);
}

/* filename==/etc/passwd/: the shell removed the quotes, and a slash of the text ended the filter. */
static bool ends_in_comparison(const char *filter)
{
	size_t len = filter ? strlen(filter) : 0;

	while (len && filter[len - 1] == ' ')
		len--;
	return len && strchr("=~<>", filter[len - 1]);
}

static int unknown_attr(const struct stream *s, const struct spec_item *item, const struct spec_attr *attr,
			enum event_kind kind, struct fault *f)
{
	struct nearest near;
	char why[256], expected[256];

	if (ends_in_comparison(item->filter))
		return spec_fault(f, item, attr->at, "the filter ends at the slash before this, and its comparison has no value",
				  "text in quotes, which the shell must not remove: -e 'EVENT/FIELD==\"/etc/passwd\"/'");
	nearest_begin(&near, attr->name);
	for (size_t i = 0; i < NATTRS; i++)
		if (is_for(i, s, kind))
			nearest_offer(&near, attrs[i].name);
	snprintf(why, sizeof(why), "unknown attribute \"%.100s\"", attr->name);
	list_attrs(s, kind, expected, sizeof(expected));
	if (nearest_get(&near))
		snprintf(expected, sizeof(expected), "did you mean %s?", nearest_get(&near));
	return spec_fault(f, item, attr->at, why, expected);
}

static int misplaced(const struct stream *s, const struct spec_item *item, const struct spec_attr *attr,
		     enum event_kind kind, size_t i, struct fault *f)
{
	const char *sign = attrs[i].set == attr_mark || attrs[i].set == attr_stack ? "" : "=";
	char why[256], expected[256];

	if (attrs[i].belongs == perf_events && source_hides_event(s, item->name))
		snprintf(why, sizeof(why), "%s%s is for perf events, and %.60s is a source here: sw:%.60s is the perf event",
			 attr->name, sign, item->name, item->name);
	else if (attrs[i].belongs)
		snprintf(why, sizeof(why), "%s%s is for %s", attr->name, sign, attrs[i].belongs);
	else
		snprintf(why, sizeof(why), "%s%s has no effect in any command", attr->name, sign);
	list_attrs(s, kind, expected, sizeof(expected));
	return spec_fault(f, item, attr->at, why, expected);
}

static int set_attr(const struct stream *s, struct stream_event *ev, const struct spec_item *item,
		    const struct spec_attr *attr, enum event_kind kind, struct fault *f)
{
	char why[512];

	for (size_t i = 0; i < NATTRS; i++) {
		if (strcmp(attrs[i].name, attr->name))
			continue;
		if (attrs[i].uses & s->opts->passes)
			note(s->opts->verbose, "%s= of %s has no effect here, only in %s", attr->name,
			     item->name, attrs[i].belongs);
		else if (!is_for(i, s, kind))
			return misplaced(s, item, attr, kind, i, f);
		if (attrs[i].set(ev, attr->value, why, sizeof(why)))
			return bad_value(f, item, attr, why);
		return 0;
	}
	return unknown_attr(s, item, attr, kind, f);
}

/* period and freq exclude each other, as attributes and as terms of the event. */
static int check_rates(const struct stream_event *ev, const struct spec_item *item, struct fault *f)
{
	const char *period = spec_attr(item, "period"), *freq = spec_attr(item, "freq");
	const struct perf_event_attr *a = ev->sampling ? &ev->sampling->attr.attr : NULL;
	char why[200], own[64] = "";

	if (a && a->sample_period && !ev->sampling->source)
		snprintf(own, sizeof(own), "%s=%llu", a->freq ? "freq" : "period", (unsigned long long)a->sample_period);
	if (!(period && freq) && !(*own && (period || freq)))
		return 0;
	snprintf(why, sizeof(why), "%s%.60s and %s%.60s: one sets the events between samples, the other the samples per second",
		 *own ? own : "period=", *own ? "" : period, *own && period ? "period=" : "freq=",
		 *own && period ? period : freq);
	return spec_fault(f, item, item->attrs[0].at, why, "one of them");
}

int event_attrs_set(const struct stream *s, struct stream_event *ev, const struct spec_item *item, enum event_kind kind,
		    struct fault *f)
{
	if (item->modifiers && kind != EVENT_PLAIN)
		return spec_fault(f, item, item->modifiers_at, "modifiers are for perf events, such as cycles",
				  "an attribute, such as stack");
	if (check_rates(ev, item, f))
		return -1;
	for (size_t i = 0; i < item->nattrs; i++)
		if (set_attr(s, ev, item, &item->attrs[i], kind, f))
			return -1;
	return 0;
}
