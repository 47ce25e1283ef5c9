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

/* -EINVAL: too many of them. */
static int apply(struct state *s, char letter)
{
	struct perf_event_attr *a = s->a;

	switch (letter) {
	case 'u':
		at_level(s);
		a->exclude_user = 0;
		break;
	case 'k':
		at_level(s);
		a->exclude_kernel = 0;
		break;
	case 'h':
		at_level(s);
		a->exclude_hv = 0;
		break;
	case 'I':
		a->exclude_idle = 1;
		break;
	case 'G':
		at_guest(s);
		a->exclude_guest = 0;
		break;
	case 'H':
		at_guest(s);
		a->exclude_host = 0;
		break;
	case 'p':
		if (++s->precise > 3)
			return -EINVAL;
		a->precise_ip = s->precise;
		a->exclude_guest |= !s->guest;
		break;
	case 'P':
		a->precise_ip = 3;
		s->e->pub.precise_max = true;
		break;
	case 'D':
		a->pinned |= s->leader;
		break;
	case 'e':
		a->exclusive |= s->leader;
		break;
	case 'S':
		s->e->pub.group_read = true;
		break;
	case 'W':
		s->e->pub.weak = true;
	}
	return 0;
}

static const char letters[] = "ukhIGHpPDeSW";

bool pev_parse_are_modifiers_(const char *text)
{
	return !text[strspn(text, letters)];
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
		if (!strchr(letters, mods[i]))
			return pev_parse_fail_(p, at + i, EINVAL, EXPECTED, "there is no modifier '%c'",
					       mods[i] > ' ' && mods[i] < 127 ? mods[i] : '?');
		if (apply(&s, mods[i]))
			return pev_parse_fail_(p, at + i, EINVAL, "at most three", "too many p");
	}
	return 0;
}
