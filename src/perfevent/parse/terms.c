/* SPDX-License-Identifier: Apache-2.0 */
/* Terms between slashes that are valid for all events, as a table. */
#include "perfevent/parse/parse.h"

#include "perfevent/machine/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STACK 8192

/* Registers needed for unwinding: all general ones (asm/perf_regs.h). */
#if defined(__x86_64__)
#define REGS_USER 0xff0fffull
#elif defined(__aarch64__)
#define REGS_USER 0x1ffffffffull
#elif defined(__riscv)
#define REGS_USER 0xffffffffull
#else
#define REGS_USER 0ull
#endif

struct setting {
	struct pev_parsed_own *e;
	struct perf_event_attr *a;
	const char *field;         /* from the row */
	const char *value;         /* NULL: none */
	uint64_t number;           /* for rows that need a number */
};

/* All return 0 or -EINVAL. */

static int on_field(struct setting *s)
{
	return pev_attr_set(&s->e->buf, s->field, s->number) ? -EINVAL : 0;
}

static int off_field(struct setting *s)
{
	return pev_attr_set(&s->e->buf, s->field, !s->number);
}

static int on_period(struct setting *s)
{
	if (!s->number)
		return -EINVAL;   /* the kernel takes it for counting only: there would be no samples, and no error */
	pev_attr_sample_period(s->a, s->number);
	return 0;
}

static int on_freq(struct setting *s)
{
	long long max;

	if (!strcmp(s->value, "max")) {
		if (pev_sysctl_("perf_event_max_sample_rate", &max) || max <= 0)
			return -EINVAL;
		pev_attr_sample_freq(s->a, (uint64_t)max);
		return 0;
	}
	if (!pev_parse_u64_(s->value, &s->number) || !s->number)
		return -EINVAL;
	pev_attr_sample_freq(s->a, s->number);
	return 0;
}

static int on_name(struct setting *s)
{
	free(s->e->label);
	s->e->label = strdup(s->value);
	s->e->named = true;
	return s->e->label ? 0 : -ENOMEM;
}

static int on_time(struct setting *s)
{
	if (s->number > 1)
		return -EINVAL;
	s->a->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	s->a->sample_type |= s->number ? PERF_SAMPLE_TIME : 0;
	return 0;
}

static int on_percore(struct setting *s)
{
	s->e->pub.percore = true;
	return 0;
}

static int on_metric_id(struct setting *s)
{
	(void)s;   /* bookkeeping of perf; ignored */
	return 0;
}

static int on_callgraph(struct setting *s)
{
	struct perf_event_attr *a = s->a;

	if (!strcmp(s->value, "no")) {
		a->sample_type &= ~(uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
					      PERF_SAMPLE_STACK_USER);
		return 0;
	}
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!strcmp(s->value, "fp"))
		return 0;
	if (!strcmp(s->value, "dwarf") && REGS_USER != 0) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = REGS_USER;
		a->sample_stack_user = a->sample_stack_user ? a->sample_stack_user : DEFAULT_STACK;
		a->exclude_callchain_user = 1;
		return 0;
	}
	if (!strcmp(s->value, "lbr")) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
		a->exclude_callchain_user = 1;
		return 0;
	}
	return -EINVAL;
}

static const struct {
	const char *name;
	uint64_t bits;
} branches[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER }, { "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV }, { "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL }, { "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL }, { "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX }, { "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "cond", PERF_SAMPLE_BRANCH_COND }, { "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL }, { "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS }, { "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE }, { "hw_index", PERF_SAMPLE_BRANCH_HW_INDEX },
	{ "priv", 1ull << 18 }, { "counter", 1ull << 19 },
};

static uint64_t branch_bit(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
		if (strlen(branches[i].name) == len && !strncmp(branches[i].name, word, len))
			return branches[i].bits;
	return 0;
}

/* "any|u": commas separate terms already. */
static int on_branches(struct setting *s)
{
	uint64_t all = 0;

	for (const char *p = s->value; ; p++) {
		size_t len = strcspn(p, "|");
		uint64_t bit = branch_bit(p, len);

		if (!bit)
			return -EINVAL;
		all |= bit;
		p += len;
		if (!*p)
			break;
	}
	/* privilege levels alone do not select a kind of branch */
	if (!(all & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		all |= PERF_SAMPLE_BRANCH_ANY;
	s->a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	s->a->branch_sample_type = all;
	return 0;
}

static int on_aux_action(struct setting *s)
{
	static const struct {
		const char *name;
		uint32_t action;
	} actions[] = {
		{ "start-paused", PEV_AUX_START_PAUSED }, { "pause", PEV_AUX_PAUSE },
		{ "resume", PEV_AUX_RESUME },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, s->value)) {
			pev_attr_set_aux_action(s->a, actions[i].action);
			return 0;
		}
	return -EINVAL;
}

enum want { NUMBER, SWITCH, TEXT };   /* SWITCH: a number, 1 if not given */

static const struct row {
	const char *name;
	enum want want;
	int (*set)(struct setting *s);
	const char *field;
	const char *expected;
} rows[] = {
	{ "config", NUMBER, on_field, "config", "a number" },
	{ "config1", NUMBER, on_field, "config1", "a number" },
	{ "config2", NUMBER, on_field, "config2", "a number" },
	{ "config3", NUMBER, on_field, "config3", "a number" },
	{ "config4", NUMBER, on_field, "config4", "a number" },
	{ "name", TEXT, on_name, NULL, "a name" },
	{ "period", NUMBER, on_period, NULL, "events per sample, 1 or more, such as 1000000" },
	{ "freq", TEXT, on_freq, NULL, "samples a second, 1 or more, or max" },
	{ "time", SWITCH, on_time, NULL, "0 or 1" },
	{ "call-graph", TEXT, on_callgraph, NULL, "fp, dwarf, lbr or no" },
	{ "stack-size", NUMBER, on_field, "sample_stack_user", "bytes" },
	{ "max-stack", NUMBER, on_field, "sample_max_stack", "frames, at most 65535" },
	{ "branch_type", TEXT, on_branches, NULL, "any, any_call, any_ret, ind_call, cond, u, k, "
	  "... with | between" },
	{ "inherit", SWITCH, on_field, "inherit", "0 or 1" },
	{ "no-inherit", SWITCH, off_field, "inherit", "0 or 1" },
	{ "overwrite", SWITCH, on_field, "write_backward", "0 or 1" },
	{ "no-overwrite", SWITCH, off_field, "write_backward", "0 or 1" },
	{ "percore", SWITCH, on_percore, NULL, "nothing" },
	{ "aux-output", SWITCH, on_field, "aux_output", "0 or 1" },
	{ "aux-action", TEXT, on_aux_action, NULL, "start-paused, pause or resume" },
	{ "aux-sample-size", NUMBER, on_field, "aux_sample_size", "bytes" },
	{ "metric-id", TEXT, on_metric_id, NULL, "a name" },
};
enum { NROWS = sizeof(rows) / sizeof(*rows) };

static int apply(struct pev_parser *p, struct pev_parsed_own *e, const struct row *row,
		 const struct pev_term *term)
{
	struct setting s = {
		.e = e, .a = &e->buf.attr, .field = row->field, .value = term->value, .number = 1,
	};
	int rc = !term->value && row->want != SWITCH ? -EINVAL : 0;

	if (!rc && row->want != TEXT && term->value && !pev_parse_u64_(term->value, &s.number))
		rc = -EINVAL;
	if (!rc)
		rc = row->set(&s);
	if (rc == -EINVAL)
		return pev_parse_fail_(p, term->at, EINVAL, row->expected, "%s%s%.60s is not valid",
				       row->name, term->value ? "=" : "",
				       term->value ? term->value : "");
	return rc ? pev_parse_fail_(p, term->at, -rc, NULL, "out of memory") : 0;
}

/* The earlier term of the pair period and freq, if there is one. */
static const struct pev_term *rival_of(const struct pev_parser *p, const struct pev_term *term)
{
	const char *other = !strcmp(term->name, "freq") ? "period" : !strcmp(term->name, "period") ? "freq" : NULL;

	for (const struct pev_term *t = p->terms; other && t < term; t++)
		if (!strcmp(t->name, other))
			return t;
	return NULL;
}

int pev_parse_term_(struct pev_parser *p, struct pev_parsed_own *e, const struct pev_term *term)
{
	const struct pev_term *rival = rival_of(p, term);

	if (rival)
		return pev_parse_fail_(p, term->at, EINVAL, "one of them", "%s=%.40s and %s=%.40s: one sets the "
				       "events between samples, the other the samples per second", rival->name,
				       rival->value ? rival->value : "", term->name, term->value ? term->value : "");
	for (size_t i = 0; i < NROWS; i++)
		if (!strcmp(rows[i].name, term->name))
			return apply(p, e, &rows[i], term);
	return -ENOENT;
}

static int unknown(struct pev_parser *p, const struct pev_term *term)
{
	char known[400];
	size_t n = 0;

	for (size_t i = 0; i < NROWS && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "", rows[i].name);
	return pev_parse_fail_(p, term->at, EINVAL, known, "there is no term \"%.60s\" of this event",
			       term->name);
}

int pev_parse_own_terms_(struct pev_parser *p, struct pev_parsed_own *e)
{
	int rc = 0;

	for (size_t i = 0; i < p->nterms && !rc; i++) {
		rc = pev_parse_term_(p, e, &p->terms[i]);
		if (rc == -ENOENT)
			rc = unknown(p, &p->terms[i]);
	}
	return rc;
}
