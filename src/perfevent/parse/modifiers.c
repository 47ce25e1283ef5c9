/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modifier letters of events, as in perf: u, k, h name the levels to count, so the first of them
 * excludes the others; G and H likewise; each p asks for less skid. A group's letters apply to
 * all of its events.
 */
#include "perfevent/parse/parse.h"

#include <errno.h>
#include <string.h>

#define EXPECTED "u user, k kernel, h hypervisor, I not idle, G guest, H host, p pp ppp P precise, " \
		 "D pinned, e exclusive, S sample the group's leader, W weak group"

struct state {
	struct pev_parsed_own *e;
	struct perf_event_attr *a;
	bool level, guest;      /* there was a letter of that kind */
	unsigned int precise;
	bool leader;
};

static void at_level(struct state *s)
{
	if (!s->level)
		s->a->exclude_user = s->a->exclude_kernel = s->a->exclude_hv = 1;
	s->level = true;
	/* as in perf, a level excludes guests */
	if (!s->guest)
		s->a->exclude_guest = 1;
}

static void at_guest(struct state *s)
{
	if (!s->guest)
		s->a->exclude_guest = s->a->exclude_host = 1;
	s->guest = true;
}

static int on_user(struct state *s)
{
	at_level(s);
	s->a->exclude_user = 0;
	return 0;
}

static int on_kernel(struct state *s)
{
	at_level(s);
	s->a->exclude_kernel = 0;
	return 0;
}

static int on_hv(struct state *s)
{
	at_level(s);
	s->a->exclude_hv = 0;
	return 0;
}

static int on_idle(struct state *s)
{
	s->a->exclude_idle = 1;
	return 0;
}

static int on_guest(struct state *s)
{
	at_guest(s);
	s->a->exclude_guest = 0;
	return 0;
}

static int on_host(struct state *s)
{
	at_guest(s);
	s->a->exclude_host = 0;
	return 0;
}

static int on_precise(struct state *s)
{
	if (++s->precise > 3)
		return -EINVAL;
	s->a->precise_ip = s->precise;
	if (!s->guest)
		s->a->exclude_guest = 1;
	return 0;
}

static int on_most_precise(struct state *s)
{
	s->a->precise_ip = 3;
	s->e->pub.precise_max = true;
	return 0;
}

static int on_pinned(struct state *s)
{
	if (s->leader)
		s->a->pinned = 1;
	return 0;
}

static int on_exclusive(struct state *s)
{
	if (s->leader)
		s->a->exclusive = 1;
	return 0;
}

static int on_group_read(struct state *s)
{
	s->e->pub.group_read = true;
	return 0;
}

static int on_weak(struct state *s)
{
	s->e->pub.weak = true;
	return 0;
}

static const struct {
	char letter;
	int (*on)(struct state *s);
} letters[] = {
	{ 'u', on_user }, { 'k', on_kernel }, { 'h', on_hv }, { 'I', on_idle },
	{ 'G', on_guest }, { 'H', on_host }, { 'p', on_precise }, { 'P', on_most_precise },
	{ 'D', on_pinned }, { 'e', on_exclusive }, { 'S', on_group_read }, { 'W', on_weak },
};
enum { NLETTERS = sizeof(letters) / sizeof(*letters) };

static int find(char c)
{
	for (int i = 0; i < NLETTERS; i++)
		if (letters[i].letter == c)
			return i;
	return -1;
}

bool pev_parse_are_modifiers_(const char *text)
{
	for (; *text; text++)
		if (find(*text) < 0)
			return false;
	return true;
}

int pev_parse_modifiers_(struct pev_parser *p, struct pev_parsed_own *e, const char *mods,
			 size_t at, bool leader)
{
	struct perf_event_attr *a = &e->buf.attr;
	struct state s = {
		.e = e, .a = a, .leader = leader,
		.level = a->exclude_user || a->exclude_kernel || a->exclude_hv,
		.guest = a->exclude_host,
	};

	if (!*mods)
		return pev_parse_fail_(p, at, EINVAL, EXPECTED, "modifiers are missing");
	for (size_t i = 0; mods[i]; i++) {
		int row = find(mods[i]);

		if (row < 0)
			return pev_parse_fail_(p, at + i, EINVAL, EXPECTED, "there is no modifier '%c'",
					       mods[i] > ' ' && mods[i] < 127 ? mods[i] : '?');
		if (letters[row].on(&s))
			return pev_parse_fail_(p, at + i, EINVAL, "at most three", "too many p");
	}
	return 0;
}
