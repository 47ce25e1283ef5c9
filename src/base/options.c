/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include "base/nearest.h"
#include "base/room.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row that an option matched. */
struct match {
	const struct opt *opt;
	char *field;
	bool negated;
};

static bool is_name(const char *own, const char *name, size_t len)
{
	return own && strlen(own) == len && !strncmp(own, name, len);
}

/* name: without dashes; NULL: the option is a letter, key. */
static bool matches(const struct opt *o, const char *name, size_t len, char key, bool *negated)
{
	*negated = false;
	if (!name)
		return o->key && o->key == key;
	if (is_name(o->name, name, len) || is_name(o->alias, name, len))
		return true;
	return *negated = o->negatable && len > 3 && !strncmp(name, "no-", 3) && is_name(o->name, name + 3, len - 3);
}

static bool find_own(const struct opt_parser *p, const char *name, size_t len, char key, struct match *m)
{
	for (size_t g = 0; g < p->ngroups; g++)
		for (size_t i = 0; i < p->groups[g].nopts; i++) {
			const struct opt *o = &p->groups[g].opts[i];

			if (!matches(o, name, len, key, &m->negated))
				continue;
			m->opt = o;
			m->field = (char *)p->config + p->groups[g].offset + o->offset;
			return true;
		}
	return false;
}

/* Options of perf that are accepted. commands: with a space behind each; NULL: all. own: the option here; "": none is needed. */
static const struct {
	const char *option, *commands, *own;
} of_perf[] = {
	{ "-i", "report script ", "--input" },
	{ "-s", "report profile ", "--sort" },
	{ "--percent-limit", "report diff ", "--than" },
	{ "-c", "report ", "--comms" },
	{ "-d", "report ", "--dsos" },
	{ "--max-events", "script trace ", "--exit-N" },
	{ "--pid", NULL, "--pids" },
	{ "--tid", NULL, "--tids" },
	{ "--cpu", NULL, "--cpus" },
	{ "--all-user", NULL, "--exclude-kernel" },
	{ "--all-kernel", NULL, "--exclude-user" },
	{ "--stdio", "report diff profile ", "" },       /* tables are text */
	{ "--no-children", "report ", "" },              /* rows are sorted by self */
	{ "-f", "report script diff record ", "" },      /* recordings of other users are read, and older ones renamed */
	{ "--force", "report script diff record ", "" },
	{ "-T", "record ", "" },                         /* samples have their time, and their period */
	{ "--timestamp", "record ", "" },
	{ "-P", "record ", "" },
	{ "-R", "record ", "" },                         /* samples of tracepoints have raw data */
	{ "--group", "report ", "" },                    /* groups are shown */
	{ "--exclude-perf", "record ", "" },             /* perf-prof leaves itself out */
	{ "--per-thread", "record ", "" },
	{ "--buildid-mmap", "record ", "" },             /* build ids are in the records of mappings */
};

static bool has_word(const char *words, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && at[len] == ' ')
			return true;
	return false;
}

/* An option of perf that has another name here, or is not needed. */
static bool find_of_perf(const struct opt_parser *p, const char *name, size_t len, char key, struct match *m)
{
	static const struct opt not_needed = { .kind = OPT_FLAG };
	static bool nowhere;
	char option[64];

	if (name)
		snprintf(option, sizeof(option), "--%.*s", (int)len, name);
	else
		snprintf(option, sizeof(option), "-%c", key);
	for (size_t i = 0; i < sizeof(of_perf) / sizeof(*of_perf) && !p->listed; i++) {
		const char *own = of_perf[i].own;

		if (strcmp(of_perf[i].option, option) || (of_perf[i].commands && !has_word(of_perf[i].commands, p->command)))
			continue;
		*m = (struct match){ &not_needed, (char *)&nowhere, false };
		return !*own || find_own(p, own + 2, strlen(own + 2), 0, m);
	}
	return false;
}

/* Behind a script, options are the script's own unless they are options here by this name. */
static bool find(const struct opt_parser *p, const char *name, size_t len, char key, struct match *m)
{
	return find_own(p, name, len, key, m) ||
	       ((p->mode != OPT_MODE_SCRIPT || !p->noperands) && find_of_perf(p, name, len, key, m));
}

static int store_u64(const struct opt *o, const char *text, uint64_t *out, struct fault *f)
{
	int rc = units_u64(text, out);

	if (rc == -ERANGE)
		return fault_usage(f, "--%s %s: out of range; expected a number from 0 to %llu",
				   o->name, text, (unsigned long long)UINT64_MAX);
	if (rc)
		return fault_usage(f, "--%s %s: not a number; expected %s", o->name, text, o->arg);
	return 0;
}

/* Milliseconds may have a unit: "2s". */
static int read_milliseconds(const char *text, uint64_t *ms)
{
	const size_t len = strlen(text);
	uint64_t ns;

	if (!len || !isalpha((unsigned char)text[len - 1]) || units_duration(text, &ns) || ns % 1000000)
		return -EINVAL;
	*ms = ns / 1000000;
	return 0;
}

/* A number, or a size with a unit, within the limits of the option. */
static int store_within(const struct opt *o, const char *text, uint64_t *out, struct fault *f)
{
	int has_unit = 1, rc = o->kind == OPT_SIZE ? units_size(text, out, &has_unit) : units_u64(text, out);

	if (rc && o->kind == OPT_U64 && !strcmp(o->arg, "MS"))
		rc = read_milliseconds(text, out);
	if (rc || !has_unit || *out < o->least || (o->most && *out > o->most))
		return fault_usage(f, "--%s %s: expected %s", o->name, text, o->expected);
	return 0;
}

int opt_strings_add(struct opt_strings *s, const char *text, struct fault *f)
{
	if (!ROOM_FOR_ONE(s->v, s->n))
		return fault_set(f, EXIT_FAILED, "out of memory");
	s->v[s->n++] = text;
	return 0;
}

/* -o out.svg: the name is that of a picture, and the output would be a table. */
static int refuse_picture(const struct opt_parser *p, const struct opt *o, const char *text, struct fault *f)
{
	static const char *const suffixes[] = { ".svg", ".html" };
	const size_t len = strlen(text);
	struct match m;

	if (strcmp(o->name, "output") || (!find_own(p, "flame-graph", 11, 0, &m) && !find_own(p, "heatmap", 7, 0, &m)))
		return 0;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (len > strlen(suffixes[i]) && !strcmp(text + len - strlen(suffixes[i]), suffixes[i]))
			return fault_usage(f, "--output %s: that file would contain the printed text; for a picture: --%s %s", text,
					   m.opt->name, text);
	return 0;
}

static int store(struct opt_parser *p, const struct match *m, const char *text, struct fault *f)
{
	if (text && !*text && m->opt->arg && !strncmp(m->opt->arg, "FILE", 4))
		return fault_usage(f, "%s: --%s '': the name of the file is empty; expected %s", p->command, m->opt->name,
				   m->opt->arg);
	if (text && !*text && m->opt->arg && !strcmp(m->opt->arg, "PATH"))
		return fault_usage(f, "--%s '': the path is empty: is the $(...) before it empty?", m->opt->name);
	switch (m->opt->kind) {
	case OPT_FLAG:
		*(bool *)m->field = !m->negated;
		return 0;
	case OPT_COUNT:
		++*(int *)m->field;
		return 0;
	case OPT_TRI:
		*(int *)m->field = m->negated ? -1 : 1;
		return 0;
	case OPT_U64:
	case OPT_SIZE:
		if (m->opt->expected)
			return store_within(m->opt, text, (uint64_t *)m->field, f);
		return store_u64(m->opt, text, (uint64_t *)m->field, f);
	case OPT_STRING:
		*(const char **)m->field = text;
		return 0;
	case OPT_INFILE:
		if (*(const char **)m->field)
			return fault_usage(f, "--%s %s: %s is given already; a run reads one recording", m->opt->name, text,
					   *(const char **)m->field);
		*(const char **)m->field = text;
		return 0;
	case OPT_OUTFILE:
		if (refuse_picture(p, m->opt, text, f))
			return -1;
		*(const char **)m->field = text;
		return opt_strings_add(&p->outputs, text, f);
	case OPT_STRINGS:
		return opt_strings_add((struct opt_strings *)m->field, text, f);
	case OPT_CALL:
	case OPT_CHOICE:
		return m->opt->parse(text, m->field, f);
	}
	return 0;
}

static void offer(struct nearest *n, const struct opt *o, bool no)
{
	if (o->name && (!no || o->negatable))
		nearest_offer(n, o->name);
	if (o->alias && !no)
		nearest_offer(n, o->alias);
}

/* An unknown letter whose other case is an option: -I for -i. */
static bool other_case(const struct opt_parser *p, const char *word, struct match *m)
{
	char key = word[0] == '-' && isalpha((unsigned char)word[1]) ? (char)(word[1] ^ 0x20) : 0;

	return key && word[1] != 'h' && !find_own(p, NULL, 0, word[1], m) && find_own(p, NULL, 0, key, m) && m->opt->name;
}

/* An unknown option without a similar name. */
static int unknown(const struct opt_parser *p, const char *dashes, const char *word, struct fault *f)
{
	struct match m;

	if (!*dashes && !p->listed && other_case(p, word, &m))
		return fault_usage(f, "%s: unknown option %s; did you mean -%c (--%s)?", p->command, word, m.opt->key, m.opt->name);
	if (p->listed)
		return fault_usage(f, "%s: unknown option %s%s; %s", p->command, dashes, word, p->listed);
	return fault_usage(f, "%s: unknown option %s%s; `perf-prof %s --help-all` lists them", p->command, dashes, word,
			   p->command);
}

static int complain_unknown(struct opt_parser *p, const char *word, size_t len, struct fault *f)
{
	bool no = !strncmp(word, "no-", 3) && len > 3;
	struct nearest n;
	char name[64];
	const char *near;

	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	nearest_begin(&n, name + (no ? 3 : 0));
	for (size_t g = 0; g < p->ngroups; g++)
		for (size_t i = 0; i < p->groups[g].nopts; i++)
			offer(&n, &p->groups[g].opts[i], no);
	near = nearest_get(&n);
	if (near)
		return fault_usage(f, "%s: unknown option --%s; did you mean --%s%s?", p->command,
				   name, no ? "no-" : "", near);
	return unknown(p, "--", name, f);
}

static int missing_value(struct opt_parser *p, const struct opt *o, const char *as_written, struct fault *f)
{
	return fault_usage(f, "%s: %s needs a value: %s", p->command, as_written, o->arg);
}

/* Whether a word follows that can be the value: "--" ends the options. */
static bool is_value(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--") != 0;
}

/* A choice ends at a comma: "dwarf,4096" is one of "fp|dwarf[,SIZE]", "dwarfs" is not. */
static bool is_choice(const char *arg, const char *word)
{
	size_t len = strcspn(word, ",");

	for (; *arg; arg += strcspn(arg, "|"), arg += *arg == '|')
		if (len && strcspn(arg, "|[,") == len && !strncmp(arg, word, len))
			return true;
	return false;
}

/* For short options: the value is the rest of the word, or the next word. */
static bool takes_value(const struct opt *o)
{
	return o->arg && o->kind != OPT_CHOICE;
}

/* For short options: the last letter of a cluster may be followed by a choice. */
static bool takes_choice(const struct opt *o, const char *rest, int argc, char **argv)
{
	return o->kind == OPT_CHOICE && !*rest && argc > 1 && is_choice(o->arg, argv[1]);
}

/* --name, --name=value, --name value. Returns words used, 0 = unknown, -1 = fault. */
static int parse_long(struct opt_parser *p, int argc, char **argv, struct fault *f)
{
	const char *name = argv[0] + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	struct match m;

	if ((len == 4 && !strncmp(name, "help", 4)) || (len == 8 && !strncmp(name, "help-all", 8))) {
		p->help = true;
		p->help_all |= len == 8;
		return 1;
	}
	if (!find(p, name, len, 0, &m)) {
		if (p->mode == OPT_MODE_SCRIPT && p->noperands)
			return 0;
		return complain_unknown(p, name, len, f);
	}
	if (!m.opt->arg) {
		if (eq)
			return fault_usage(f, "%s: --%.*s takes no value, but has \"%s\"", p->command,
					   (int)len, name, eq + 1);
		return store(p, &m, NULL, f) ? -1 : 1;
	}
	if (eq)
		return store(p, &m, eq + 1, f) ? -1 : 1;
	if (m.opt->kind == OPT_CHOICE && (argc < 2 || !is_choice(m.opt->arg, argv[1])))
		return store(p, &m, NULL, f) ? -1 : 1;
	if (!is_value(argc, argv))
		return missing_value(p, m.opt, argv[0], f);
	return store(p, &m, argv[1], f) ? -1 : 2;
}

/* Whether every letter of a cluster like -vq is an option (or the rest is a value). */
static bool cluster_is_ours(struct opt_parser *p, const char *word)
{
	struct match m;

	for (const char *c = word + 1; *c; c++) {
		if (*c == 'h')
			continue;
		if (!find(p, NULL, 0, *c, &m))
			return false;
		if (takes_value(m.opt))
			return true;
	}
	return true;
}

/* -k, -kvalue, -k value, -vq. Same return as parse_long(). */
static int parse_short(struct opt_parser *p, int argc, char **argv, struct fault *f)
{
	struct match m;

	if (!cluster_is_ours(p, argv[0])) {
		if (p->mode == OPT_MODE_SCRIPT && p->noperands)
			return 0;
		return unknown(p, "", argv[0], f);
	}
	for (const char *c = argv[0] + 1; *c; c++) {
		if (!find(p, NULL, 0, *c, &m)) {
			p->help = true;   /* cluster_is_ours() let only 'h' through */
			continue;
		}
		if (takes_choice(m.opt, c + 1, argc, argv))
			return store(p, &m, argv[1], f) ? -1 : 2;
		if (!takes_value(m.opt)) {
			if (store(p, &m, NULL, f))
				return -1;
			continue;
		}
		if (c[1])
			return store(p, &m, c + 1, f) ? -1 : 1;
		if (!is_value(argc, argv))
			return missing_value(p, m.opt, (char[]){ '-', *c, '\0' }, f);
		return store(p, &m, argv[1], f) ? -1 : 2;
	}
	return 1;
}

/* ---- the option as typed --------------------------------------------------------------- */

/* How an option was written: with its dashes; text NULL: its letter, key. */
struct spelling {
	const char *text;
	size_t len;
	char key;
};

static bool is_typed_long(const struct opt_parser *p, const char *word, const struct opt *o, struct spelling *s, int *values)
{
	const size_t len = strcspn(word + 2, "=");
	struct match m;

	if (!find(p, word + 2, len, 0, &m))
		return false;
	*values = m.opt->arg && m.opt->kind != OPT_CHOICE && !word[2 + len];
	*s = (struct spelling){ word, len + 2, 0 };
	return m.opt == o && !m.negated;
}

static bool is_typed_short(const struct opt_parser *p, const char *word, const struct opt *o, struct spelling *s, int *values)
{
	struct match m;

	for (const char *c = word + 1; *c && find(p, NULL, 0, *c, &m); c++) {
		*s = (struct spelling){ NULL, 2, *c };
		*values = takes_value(m.opt) && !c[1];
		if (m.opt == o)
			return true;
		if (takes_value(m.opt))
			return false;
	}
	return false;
}

/* The last spelling with which the option was given. */
static bool typed(const struct opt_parser *p, const struct opt *o, struct spelling *last)
{
	bool any = false;

	for (size_t i = 0; i < p->nwords && strcmp(p->words[i], "--"); i++) {
		const char *word = p->words[i];
		struct spelling s;
		int values = 0;

		if (p->mode == OPT_MODE_COMMAND && p->noperands && word == p->operands[0])
			break;
		if (word[0] != '-' || !word[1])
			continue;
		if (word[1] == '-' ? is_typed_long(p, word, o, &s, &values) : is_typed_short(p, word, o, &s, &values)) {
			*last = s;
			any = true;
		}
		i += (size_t)values;
	}
	return any;
}

/* The option whose name begins the text; len: that of the name with its dashes. */
static const struct opt *named_in(const struct opt_parser *p, const char *text, size_t *len)
{
	const bool is_long = !strncmp(text, "--", 2);
	struct match m;

	*len = strcspn(text, " :");
	if (text[0] != '-' || !text[*len] || *len < 2 || (!is_long && *len != 2))
		return NULL;
	return find(p, is_long ? text + 2 : NULL, *len - 2, is_long ? 0 : text[1], &m) && !m.negated ? m.opt : NULL;
}

void opt_name_as_typed(const struct opt_parser *p, struct fault *f)
{
	struct spelling s = { NULL, 0, 0 };
	size_t len, rest;
	const struct opt *o = f->exit_code ? named_in(p, f->text, &len) : NULL;

	if (!o || !typed(p, o, &s))
		return;
	rest = strlen(f->text + len);
	if (s.len + rest >= sizeof(f->text))
		rest = sizeof(f->text) - s.len - 1;
	memmove(f->text + s.len, f->text + len, rest);
	f->text[s.len + rest] = '\0';
	memcpy(f->text, s.text ? s.text : (char[]){ '-', s.key }, s.len);
}

/* ---- all words ------------------------------------------------------------------------- */

static int parse_word(struct opt_parser *p, int argc, char **argv, struct fault *f)
{
	int used = 0;

	if (!strncmp(argv[0], "--", 2))
		used = parse_long(p, argc, argv, f);
	else if (argv[0][0] == '-' && argv[0][1])
		used = parse_short(p, argc, argv, f);
	if (used == 0) {
		p->operands[p->noperands++] = argv[0];
		return 1;
	}
	return used;
}

static int parse_all(struct opt_parser *p, int argc, char **argv, struct fault *f)
{
	p->words = argv;
	p->nwords = (size_t)argc;
	p->noperands = 0;
	p->after_dashes = -1;
	p->operands = calloc((size_t)argc + 1, sizeof(*p->operands));
	if (!p->operands)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (int i = 0; i < argc;) {
		int used;

		if (p->mode == OPT_MODE_COMMAND && p->noperands) {
			p->operands[p->noperands++] = argv[i++];
			continue;
		}
		if (!strcmp(argv[i], "--")) {
			p->after_dashes = p->noperands;
			while (++i < argc)
				p->operands[p->noperands++] = argv[i];
			if (p->mode == OPT_MODE_COMMAND && !p->noperands)
				return fault_usage(f, "%s: no command after --: expected COMMAND [ARGUMENT...]", p->command);
			break;
		}
		used = parse_word(p, argc - i, argv + i, f);
		if (used < 0) {
			p->nwords = (size_t)i + 1;   /* the message is about this word */
			return -1;
		}
		i += used;
	}
	return 0;
}

int opt_parse(struct opt_parser *p, int argc, char **argv, struct fault *f)
{
	const int rc = parse_all(p, argc, argv, f);

	if (rc)
		opt_name_as_typed(p, f);
	return rc;
}

void opt_strings_free(struct opt_strings *s)
{
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

int opt_percent(const char *text, const char *option, double low, double high, double *percent, struct fault *f)
{
	char *rest;

	*percent = strtod(text, &rest);
	if (rest == text || (*rest && strcmp(rest, "%")) || !(*percent >= low && *percent <= high))
		return fault_usage(f, "%s %s: expected a percentage, %g to %g", option, text, low, high);
	return 0;
}
