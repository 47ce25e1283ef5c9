/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of two commands say: which differences are certain, and which runs are no answer because they failed. */
#include "stat/counts.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum {
	CODE_OF_SHELLS = 126,    /* from here on, exit codes say: cannot be executed, not found, ended by a signal */
	CODE_OF_SIGNAL = 128,
};

const char *count_failure(int status, int signal, char *buf, size_t size)
{
	if (signal)
		snprintf(buf, size, "ended by signal %d (%s)", signal, strsignal(signal));
	else if (status > CODE_OF_SIGNAL && status - CODE_OF_SIGNAL < NSIG)
		snprintf(buf, size, "with exit code %d (shells report signal %d, %s, like this)", status, status - CODE_OF_SIGNAL,
			 strsignal(status - CODE_OF_SIGNAL));
	else
		snprintf(buf, size, "with exit code %d", status);
	return buf;
}

static bool always_fails(const struct compared_side *s)
{
	return s->runs && s->failed == s->runs;
}

bool compared_same_exit(const struct compared_table *t)
{
	const struct compared_side *a = &t->sides[0], *b = &t->sides[1];

	return always_fails(a) && always_fails(b) && !a->mixed && !b->mixed && !a->signal && !b->signal &&
	       a->status == b->status && a->status < CODE_OF_SHELLS;
}

bool compared_has_no_winner(const struct compared_table *t)
{
	return (always_fails(&t->sides[0]) || always_fails(&t->sides[1])) && !compared_same_exit(t);
}

const char *compared_verdict(const struct compared_table *t, const struct compared_row *r)
{
	if (isinf(r->difference.half) || compared_has_no_winner(t))
		return NULL;
	if (fabs(r->difference.mean) > r->difference.half)
		return r->difference.mean > 0 ? "more" : "less";
	return "no difference shown";
}

bool compared_ratio(const struct compared_table *t, const struct compared_row *r, struct stats_ratio *ratio)
{
	if (!r || r->a.mean <= 0 || compared_has_no_winner(t))
		return false;
	*ratio = stats_compare_ratio(&r->a, &r->b, t->confidence);
	return true;
}

static void tell_all_failed(const struct compared_side *s, char name, char *buf, size_t size)
{
	char how[128];

	count_failure(s->status, s->signal, how, sizeof(how));
	if (s->runs == 1)
		snprintf(buf, size, "no winner: %c failed, %s", name, how);
	else
		snprintf(buf, size, "no winner: %c failed in all %zu runs, %s%s", name, s->runs, s->mixed ? "the last one " : "", how);
}

static void tell_left_out(const struct compared_side *s, char name, char *buf, size_t size)
{
	char how[128];

	snprintf(buf, size, "%c failed in %zu of %zu runs, %s%s: %s left out", name, s->failed, s->runs, s->mixed ? "the last one " : "",
		 count_failure(s->status, s->signal, how, sizeof(how)), s->failed == 1 ? "that run is" : "those runs are");
}

bool compared_failure(const struct compared_table *t, int side, char *buf, size_t size)
{
	const struct compared_side *s = &t->sides[side];
	const char name = (char)('A' + side);

	if (!s->failed || (compared_same_exit(t) && side))
		return false;
	if (compared_same_exit(t))
		snprintf(buf, size, "A and B ended with exit code %d in all runs, which is taken for their normal result", s->status);
	else if (always_fails(s))
		tell_all_failed(s, name, buf, size);
	else
		tell_left_out(s, name, buf, size);
	return true;
}
