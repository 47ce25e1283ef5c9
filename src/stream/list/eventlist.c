/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/list.h"

#include "base/note.h"
#include "base/room.h"
#include "stream/state/state.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#define TRACEFS "/sys/kernel/tracing"

/* ---- the list --------------------------------------------------------- */

static int no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

int events_parse(struct stream *s, struct fault *f)
{
	struct spec_list *list = &s->list.specs;
	struct spec_error err;
	char text[1600];

	if (!s->opts->events.n && !s->replay)
		return fault_usage(f, "no event: -e EVENT[,EVENT...] is needed, such as "
				   "-e sched:sched_wakeup; `perf-prof list` shows the events");
	for (size_t i = 0; i < s->opts->events.n; i++) {
		int rc = spec_parse(list, s->opts->events.v[i], &err);

		if (rc == -ENOMEM)
			return fault_set(f, EXIT_FAILED, "out of memory");
		if (rc) {
			spec_error_text(&err, text, sizeof(text));
			return fault_usage(f, "%s", text);
		}
	}
	return 0;
}

struct stream_event *events_append(struct stream *s, const struct spec_item *item, struct fault *f)
{
	const struct stream_opts *o = s->opts;
	struct stream_event *ev;

	if (!ROOM_FOR_ONE(s->list.events, s->list.nevents)) {
		no_memory(f);
		return NULL;
	}
	ev = memset(&s->list.events[s->list.nevents], 0, sizeof(*ev));
	ev->asked.stack_bytes = o->chains.stack_bytes;
	ev->asked.chain_user = o->user_callchain > 0 || (o->chains.said && ev->asked.stack_bytes);
	ev->asked.chain_kernel = o->kernel_callchain >= 0;
	ev->callchain = o->call_graph || o->user_callchain > 0 || o->kernel_callchain > 0;
	ev->asked.item = item;
	ev->naming = &s->rings.naming;
	ev->opened.track = NO_TRACK;
	ev->opened.family = (uint32_t)s->list.nevents;
	ev->opened.leader = NO_LEADER;
	ev->wanted = true;
	ev->reads = STREAM_READS_ALL;
	ev->asked.filter = item->filter ? strdup(item->filter) : NULL;
	if (item->filter && !ev->asked.filter) {
		no_memory(f);
		return NULL;
	}
	s->list.nevents++;
	return ev;
}

int events_check_names(const struct stream *s, struct fault *f)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		for (size_t k = i + 1; k < s->list.nevents; k++)
			if (s->list.events[i].asked.item != s->list.events[k].asked.item &&
			    !strcmp(s->list.events[i].word, s->list.events[k].word))
				return fault_usage(f, "two events of -e are called %s; give one of "
						   "them another name: alias=NAME",
						   s->list.events[i].name);
	return 0;
}

static void event_free(struct stream_event *ev)
{
	free((char *)ev->name);
	free((char *)ev->word);
	free((char *)ev->sys);
	free((char *)ev->tracepoint);
	free((char *)ev->asked.alias);
	free((char *)ev->asked.probe);
	free((char *)ev->asked.filter);
	if (ev->sampling)
		free(ev->sampling->what);
	free(ev->sampling);
	free(ev->opened.stack_format);
	free(ev->counts);
	numlist_free(&ev->asked.cpus);
}

void events_free(struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		event_free(&s->list.events[i]);
	free(s->list.events);
	spec_free(&s->list.specs);
	s->list.events = NULL;
	s->list.nevents = 0;
}

/* ---- one event -------------------------------------------------------- */

/* Replaces what cannot be in an identifier by "_", and drops a slash at the end ("msr/tsc/"). */
static char *make_word(const char *name)
{
	size_t len = strlen(name);
	char *word = strndup(name, len && name[len - 1] == '/' ? len - 1 : len);

	for (char *p = word; p && *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			*p = '_';
	return word;
}

int event_set_name(struct stream_event *ev, const char *name, const char *word, struct fault *f)
{
	ev->name = strdup(name);
	ev->word = make_word(word);
	return ev->name && ev->word ? 0 : no_memory(f);
}

/* perf-prof's output may cause softirqs: a write to a local socket runs the receiver's side as one. So only those of these
 * systems, whose work is mostly for others, are not perf-prof's. */
static uint8_t interrupts_of_others(const char *sys)
{
	bool soft = !strcmp(sys, "sched") || !strcmp(sys, "block");

	return TRACE_HARDIRQ | TRACE_NMI | (soft ? TRACE_SOFTIRQ : 0);
}

int event_set_tracepoint(struct stream_event *ev, const char *sys, const char *name, struct fault *f)
{
	const char *shown = ev->asked.alias ? ev->asked.alias : name;
	char full[256], word[256];

	snprintf(full, sizeof(full), "%s:%s", sys, shown);
	snprintf(word, sizeof(word), "%s__%s", sys, shown);
	ev->sys = strdup(sys);
	ev->tracepoint = strdup(name);
	ev->keep_own = !strcmp(name, "sched_switch");
	ev->interrupts = interrupts_of_others(sys);
	return ev->sys && ev->tracepoint ? event_set_name(ev, full, word, f) : no_memory(f);
}

int event_set_stack_format(struct stream_event *ev, const struct pev_format *format)
{
	if (!ev->opened.stack_format)
		ev->opened.stack_format = malloc(sizeof(*ev->opened.stack_format));
	if (!ev->opened.stack_format)
		return -1;
	*ev->opened.stack_format = *format;
	return 0;
}

/* ---- tracefs ---------------------------------------------------------- */

int events_find_tracefs(struct stream *s, struct fault *f)
{
	struct pev_error err = {0};
	int rc = pev_tracefs_path(s->list.tracefs, sizeof(s->list.tracefs), &err);

	if (rc == -ENOENT && !mount("nodev", TRACEFS, "tracefs", 0, NULL)) {
		/* perf-prof changed the machine: report it, except with -q */
		note(s->opts->verbose < 0 ? -1 : 1, "tracefs was not mounted: mounted it on " TRACEFS);
		rc = pev_tracefs_path(s->list.tracefs, sizeof(s->list.tracefs), &err);
	}
	if (rc)
		s->list.tracefs[0] = '\0';
	return rc ? fault_from_pev(f, EXIT_FAILED, &err) : 0;
}
