/* SPDX-License-Identifier: Apache-2.0 */
#include "base/escape.h"
#include "base/note.h"
#include "stream/list/list.h"
#include "stream/list/source.h"
#include "stream/watched/programs.h"

#include <string.h>

/* Whether an event's user part is to be found, and the way is left to us. */
static bool is_open(const struct stream_event *ev)
{
	return ev->asked.stack_bytes == CHAINS_AUTO && ev->callchain && ev->asked.chain_user;
}

/* Its user part begins in the C library, where tasks wait and wake others, and make system calls. Of these, there may be so many
 * that copies of stacks cost too much: the command says whether it takes them. */
static bool is_of_library(const struct stream *s, const struct stream_event *ev)
{
	return ev->sys && (!strcmp(ev->sys, "sched") || (s->opts->chains.of_calls && !strcmp(ev->sys, "raw_syscalls")));
}

static bool any_open(const struct stream *s, bool of_library)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (is_open(&s->list.events[i]) && (!of_library || is_of_library(s, &s->list.events[i])))
			return true;
	return false;
}

static void tell(const struct programs_frames *p, int verbose)
{
	char name[1024];

	escape_terminal(p->name, strlen(p->name), name, sizeof(name));
	if (!p->n)
		note(verbose, "call chains: frame pointers, as it is not known whether the programs have them "
		     "(--call-graph dwarf needs none)");
	else if (p->n == 1)
		note(verbose, "call chains: %s, as %s has %s (--call-graph fp|dwarf chooses)",
		     p->lacking ? "DWARF" : "frame pointers", name, p->lacking ? "no frame pointers" : "them");
	else
		note(verbose, "call chains: %s, as %s and %u other program%s have %s (--call-graph fp|dwarf chooses)",
		     p->lacking ? "DWARF" : "frame pointers", name, p->n - 1, p->n > 2 ? "s" : "",
		     p->lacking ? "no frame pointers" : "them");
}

/* Unwinding needs registers, and reads unwind tables of 64-bit programs only. */
static bool look(const struct stream *s)
{
	struct programs_frames p = { 0 };

	if (!source_registers())
		return false;
	programs_look(s->opts, &p);
	tell(&p, s->opts->verbose);
	return p.lacking;
}

/* The programs have frame pointers; callers of the C library are not found with them if it has none. */
static bool look_at_library(const struct stream *s)
{
	char path[1024], name[1024];

	if (!source_registers() || !programs_library_lacks(s->opts, path, sizeof(path)))
		return false;
	escape_terminal(path, strlen(path), name, sizeof(name));
	note(s->opts->verbose, "call chains of %s: DWARF, as %s has no frame pointers (--call-graph fp|dwarf chooses)",
	     s->opts->chains.of_calls ? "system calls" : "waits", name);
	return true;
}

/* perf takes a recording with both for one without frame pointers. */
static void mend(const struct stream *s, const struct stream_event *event, struct event_asked *asked)
{
	asked->chain_mended = source_registers() && !s->opts->record;
	asked->stack_bytes = !asked->chain_mended ? 0 : event->sampling ? CHAINS_MENDING : CHAINS_MENDING_FAST;
}

void chainways_settle(struct stream *s)
{
	const bool all = any_open(s, false) && look(s), some = !all && any_open(s, true) && look_at_library(s);

	for (size_t i = 0; i < s->list.nevents; i++) {
		struct event_asked *asked = &s->list.events[i].asked;

		if (asked->stack_bytes != CHAINS_AUTO)
			continue;
		if (!is_open(&s->list.events[i]))
			asked->stack_bytes = 0;
		else if (all || (some && is_of_library(s, &s->list.events[i])))
			asked->stack_bytes = CHAINS_STACK;
		else
			mend(s, &s->list.events[i], asked);
	}
}
