/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with weights, as text and for speedscope. */
#include "export/convert.h"

#include "analysis/profiles/hotspots.h"
#include "report/flame.h"

#include <stdlib.h>

struct stacks {
	struct hotspots hot;
	struct folded *folded;
};

static int begin(struct convert *c, struct analysis *a, struct fault *f)
{
	struct stacks *s = c->state = calloc(1, sizeof(*s));

	if (!c->profile)
		return fault_set(f, EXIT_FAILED, "%s: none of its events has a call chain or an "
				 "address; record samples (`perf-prof record` without -e), or add "
				 "-g",
				 a->opts->stream.input);
	if (!s || !(s->folded = folded_new()))
		return fault_set(f, EXIT_FAILED, "out of memory");
	convert_tell_event(c, a);
	folded_limit(s->folded, (size_t)1 << 30);
	return 0;
}

static void sample(struct convert *c, struct analysis *a, const struct analysis_sample *s)
{
	struct stacks *state = c->state;

	if (convert_profiles(c, s->event))
		hotspots_add(&state->hot, analysis_comm(a, s->tid), analysis_where(a, s),
			     c->all ? 1 : analysis_weight(s), false);
}

static int write_as(struct convert *c, struct analysis *a, enum flame_kind kind, struct fault *f)
{
	struct stacks *s = c->state;
	char name[256];
	const char *event = analysis_family(a, c->profile, name, sizeof(name));
	const char *unit = c->all ? "samples" : analysis_is_clock(c->profile) ? "ns" : event;
	const struct flame_title title = { a->opts->stream.input, unit };

	hotspots_fold(a, &s->hot, s->folded, c->all ? NULL : event);
	if (s->hot.refused || folded_overflow(s->folded))
		fprintf(stderr, "perf-prof: convert: there are too many different stacks: %.2f %% of the weight "
			"is in \"[too many stacks]\" or missing\n",
			100.0 * (double)(s->hot.refused + folded_overflow(s->folded)) / (double)s->hot.weight);
	if (flame_print(s->folded, kind, &title, c->file.out))
		return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static int end_folded(struct convert *c, struct analysis *a, struct fault *f)
{
	return write_as(c, a, FLAME_FOLDED, f);
}

static int end_speedscope(struct convert *c, struct analysis *a, struct fault *f)
{
	return write_as(c, a, FLAME_SPEEDSCOPE, f);
}

static void release(struct convert *c)
{
	struct stacks *s = c->state;

	if (s) {
		hotspots_free(&s->hot);
		folded_free(s->folded);
	}
	free(s);
}

const struct convert_format convert_folded = {
	.name = "folded", .suffixes = (const char *const[]){ ".folded", NULL },
	.one = true,
	.begin = begin, .sample = sample, .end = end_folded, .release = release,
};

const struct convert_format convert_speedscope = {
	.name = "speedscope", .suffixes = (const char *const[]){ ".speedscope.json", NULL },
	.one = true,
	.begin = begin, .sample = sample, .end = end_speedscope, .release = release,
};
