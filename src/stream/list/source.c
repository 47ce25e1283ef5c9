/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/source.h"

#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/list/useronly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
	struct stream *stream;
	const struct source_ops *ops;
	const struct spec_item *item;
	struct stream_opts *config;         /* its options; NULL after a maker took them over */
	char *words;                        /* their text, split into words that config points into */
};

const struct source_ops *source_find(const struct source_ops *const *table, const char *name)
{
	for (; table && *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

bool source_hides_event(const struct stream *s, const char *name)
{
	const char *event;
	uint64_t config;

	for (unsigned int i = 0; source_find(s->opts->sources, name) && (event = pev_software_name(i, &config)); i++)
		if (!strcmp(event, name))
			return true;
	return false;
}

/* ---- its events ------------------------------------------------------------ */

/* -g of a source means both parts of the chain. Without options of its own, those of the stream apply. */
static void choose_callchain(struct stream_event *ev, const struct stream_opts *own)
{
	bool said = own->call_graph || own->user_callchain || own->kernel_callchain;

	if (!said)
		return;
	ev->asked.chain_kernel = own->kernel_callchain > 0 || (own->call_graph && !own->kernel_callchain);
	ev->asked.chain_user = own->user_callchain > 0 || (own->call_graph && !own->user_callchain);
	ev->callchain = ev->asked.chain_kernel || ev->asked.chain_user;
	if (own->chains.said)
		ev->asked.stack_bytes = own->chains.stack_bytes;
	ev->asked.chain_user |= ev->callchain && own->chains.stack_bytes;
}

static int fill(struct source *source, struct stream_event *ev, const struct source_event *event,
		struct fault *f)
{
	const char *name;

	ev->sampling = calloc(1, sizeof(*ev->sampling));
	if (!ev->sampling || pev_attr_buf_copy(&ev->sampling->attr, event->attr))
		return fault_set(f, EXIT_FAILED, "out of memory");
	ev->sampling->what = strdup(event->what);
	ev->sampling->source = source->ops;
	ev->sampling->shape = event->shape;
	if (event->attr->freq)
		rate_set(ev->sampling, event->rate);
	ev->sampling->limit.exit_n = source->config->exit_n;
	if (!ev->sampling->what)
		return fault_set(f, EXIT_FAILED, "out of memory");
	choose_callchain(ev, source->config);
	if (event_attrs_set(source->stream, ev, source->item, EVENT_SOURCE, f) ||
	    useronly_settle(source->stream, ev, source->config->user_callchain, f))
		return -1;
	if (!ev->asked.cpus.n) {   /* of -C, as of cpus= */
		ev->asked.cpus = source->config->cpus;
		source->config->cpus = (struct numlist){ 0 };
	}
	name = ev->asked.alias ? ev->asked.alias : source->ops->name;
	return event_set_name(ev, name, name, f);
}

int source_add(struct source *source, const struct source_event *event, struct fault *f)
{
	struct stream_event *ev = events_append(source->stream, source->item, f);

	return ev ? fill(source, ev, event, f) : -1;
}

/* ---- made events ----------------------------------------------------------- */

const void *source_subject(const struct source *source)
{
	return source->ops->subject;
}

const struct stream_opts *source_targets(const struct source *source)
{
	return source->stream->opts;
}

static int name_made(struct source *source, struct stream_event *ev, struct fault *f)
{
	const char *name;

	ev->callchain = false;   /* -g of the stream does not apply to made events */
	if (event_attrs_set(source->stream, ev, source->item, EVENT_MADE, f))
		return -1;
	if (ev->callchain)
		return spec_fault(f, source->item, source->item->at, "events of this source have "
				  "no call chain",
				  "this source without stack and max-stack=");
	name = ev->asked.alias ? ev->asked.alias : source->ops->name;
	return event_set_name(ev, name, name, f);
}

struct maker *source_make(struct source *source, const struct source_made *made, struct fault *f)
{
	struct stream *s = source->stream;
	struct maker *m = makers_add(s, source->ops->name, made, &source->config, &source->words, f);
	struct stream_event *ev = m ? events_append(s, source->item, f) : NULL;

	if (!ev)
		return NULL;
	if (s->opts->record && !s->opts->recording.flight_bytes) {
		fault_usage(f, "--record: perf-prof makes %s from other events: record those, and "
			    "make it from the recording with -I", source->ops->name);
		return NULL;
	}
	maker_set_event(m, ev);
	if (made->order)
		((struct stream_opts *)s->opts)->order = true;
	return name_made(source, ev, f) ? NULL : m;
}

uint64_t source_registers(void)
{
	struct pev_attr_list *list;
	uint64_t mask = 0;

	if (pev_attr_parse(&list, "cpu-clock/call-graph=dwarf/", NULL, NULL))
		return 0;
	mask = pev_attr_list_at(list, 0)->attr->sample_regs_user;
	pev_attr_list_free(list);
	return mask;
}

/* ---- its options ----------------------------------------------------------- */

enum { MAX_WORDS = 64 };

/* Splits the text (a copy of our own) at blanks, in place. The number of words, or -1 if there are
 * too many. */
static int split_words(char *text, char **words)
{
	char *rest;
	int n = 0;

	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (n == MAX_WORDS)
			return -1;
		words[n++] = word;
	}
	return n;
}

static void list_options(const struct source_ops *ops, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "options of %s:", ops->name);

	for (size_t g = 0; g < ops->ngroups; g++)
		for (size_t i = 0; i < ops->groups[g].nopts && used < size; i++) {
			const struct opt *o = &ops->groups[g].opts[i];
			bool choice = o->kind == OPT_CHOICE, named = !o->key || choice;
			char key[8] = { '-', o->key, choice ? ',' : '\0', choice ? ' ' : '\0', '\0' };

			used += (size_t)snprintf(buf + used, size - used, " %s%s%s%s%s%s", o->key ? key : "",
						 named ? "--" : "", named ? o->name : "", o->arg ? " " : "",
						 o->arg ? o->arg : "", ",");
		}
	if (used < size)
		buf[used - 1] = '\0';
}

/* The parser's message, with its place in the list and the options of the source. */
static int complain(const struct source *source, const char *message, struct fault *f)
{
	char expected[512];

	list_options(source->ops, expected, sizeof(expected));
	return spec_fault(f, source->item, source->item->filter ? source->item->filter_at : source->item->at, message,
			  expected);
}

static int parse_words(struct source *source, int n, char **words, void *config, struct fault *f)
{
	struct opt_parser parser = {
		.groups = source->ops->groups, .ngroups = source->ops->ngroups, .config = config,
		.mode = OPT_MODE_PLAIN, .command = source->ops->name,
		.listed = "in an event list it takes only the options below; give targets and output as options of the run",
	};
	struct fault why = { 0 };
	char message[400];
	int rc = opt_parse(&parser, n, words, &why);

	if (rc)
		snprintf(message, sizeof(message), "%.399s", why.text);
	else if (parser.help)
		snprintf(message, sizeof(message), "%s: a source takes no -h",
			 source->ops->name);
	else if (parser.noperands && strchr(parser.operands[0], '=') && source_hides_event(source->stream, source->ops->name))
		snprintf(message, sizeof(message), "%s: \"%.100s\" is not an option of this source; for perf's event write "
			 "sw:%s/%.100s/", source->ops->name, parser.operands[0], source->ops->name, parser.operands[0]);
	else if (parser.noperands)
		snprintf(message, sizeof(message), "%s: \"%.100s\" is not an option", source->ops->name,
			 parser.operands[0]);
	rc = rc || parser.help || parser.noperands;
	free(parser.operands);
	return rc ? complain(source, message, f) : 0;
}

static int parse_options(struct source *source, void *config, struct fault *f)
{
	char *words[MAX_WORDS];
	int n;

	if (!source->item->filter)
		return 0;
	source->words = strdup(source->item->filter);
	if (!source->words)
		return fault_set(f, EXIT_FAILED, "out of memory");
	n = split_words(source->words, words);
	if (n < 0)
		return complain(source, "too many words", f);
	return parse_words(source, n, words, config, f);
}

/* Rings are shared: the largest size is used. */
static void take_ring_size(struct stream *s, const struct stream_opts *own)
{
	if (own->ring.bytes > s->rings.least_bytes)
		s->rings.least_bytes = own->ring.bytes;
}

/* Adds the place in the list to usage errors that have none; passes on other errors unchanged. */
static int complain_or_pass(const struct source *source, const struct fault *why, struct fault *f)
{
	if (why->exit_code == EXIT_USAGE && !strchr(why->text, '\n'))
		return complain(source, why->text, f);
	*f = *why;
	return -1;
}

static int add(struct source *source, void *config, struct fault *f)
{
	struct fault why = { 0 };

	stream_opts_defaults(config);
	if (parse_options(source, config, f))
		return -1;
	take_ring_size(source->stream, config);
	return source->ops->events(source, config, &why) ? complain_or_pass(source, &why, f) : 0;
}

/* `perf-prof record` takes the perf event of that name, as perf does, because made events are not
 * recorded. */
static bool is_left_to_perf(const struct stream *s, const struct source_ops *ops, const struct spec_item *item)
{
	return ops->makes && s->opts->recording.only && !item->filter && source_hides_event(s, ops->name);
}

enum plain_answer source_add_item(struct stream *s, const struct spec_item *item, struct fault *f)
{
	struct source source = {
		.stream = s, .item = item, .ops = source_find(s->opts->sources, item->name),
	};
	void *config;
	int rc;

	if (item->sys || !source.ops || is_left_to_perf(s, source.ops, item))
		return PLAIN_NONE;
	config = calloc(1, source.ops->config_size);
	source.config = config;
	rc = config ? add(&source, config, f) : fault_set(f, EXIT_FAILED, "out of memory");
	if (source.config)
		stream_opts_free(source.config);
	free(source.config);
	free(source.words);
	return rc ? PLAIN_FAILED : PLAIN_ADDED;
}
