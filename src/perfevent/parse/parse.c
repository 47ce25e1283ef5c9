/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of event lists:
 *
 *   list     = item { "," item }
 *   item     = group | event
 *   group    = [ NAME ":" ] "{" event { "," event } "}" [ ":" MODIFIERS ]
 *   event    = what [ "/" terms "/" ] [ [ ":" ] MODIFIERS ]
 *   what     = NAME | "r" HEX | TYPE ":" CONFIG | SYS ":" NAME
 *            | "mem:" ADDR [ "/" LEN ] [ ":" RWX ]
 *   terms    = [ term { "," term } ]
 *   term     = NAME [ "=" VALUE ]
 *
 * The colon before modifiers is optional after a slash. Items may have spaces around them.
 */
#include "perfevent/parse/parse.h"

#include "base/room.h"
#include "perfevent/attr/complain.h"
#include "perfevent/machine/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- list ------------------------------------------------------------------------------- */

/* The list made by the parser. It owns its events and all that they point to. */

static void free_event(struct pev_parsed_own *e)
{
	free(e->label);
	free(e->unit);
	free(e->group_name);
	free(e->cpus);
	free(e);
}

void pev_attr_list_cut_(struct pev_attr_list *list, size_t n)
{
	while (list->n > n)
		free_event(list->events[--list->n]);
}

void pev_attr_list_free(struct pev_attr_list *list)
{
	if (!list)
		return;
	pev_attr_list_cut_(list, 0);
	free(list->events);
	free(list);
}

size_t pev_attr_list_size(const struct pev_attr_list *list)
{
	return list->n;
}

const struct pev_parsed *pev_attr_list_at(const struct pev_attr_list *list, size_t i)
{
	return i < list->n ? &list->events[i]->pub : NULL;
}

struct pev_parsed_own *pev_parse_add_(struct pev_parser *p, uint32_t type, uint64_t config)
{
	struct pev_attr_list *list = p->list;
	struct pev_parsed_own *e;

	if (list->n >= PARSE_EVENTS_MAX || !ROOM_FOR_ONE(list->events, list->n))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	pev_attr_buf_init(&e->buf, type, config);
	e->pub.attr = &e->buf.attr;
	e->pub.scale = 1;
	e->pub.leader = list->n;
	list->events[list->n++] = e;
	return e;
}

#define WORD_MAX 256
#define NAME_ENDS ",{}/: \t\n"

/* ---- errors ------------------------------------------------------------------------- */

/* The text at this offset, without control characters. */
static void show_place(const struct pev_parser *p, size_t at, char *buf, size_t size)
{
	size_t n = 0;

	for (const char *c = p->text + at; *c && n + 1 < size && n < 40; c++)
		buf[n++] = isprint((unsigned char)*c) ? *c : '?';
	buf[n] = '\0';
}

int pev_parse_fail_(struct pev_parser *p, size_t at, int code, const char *expected,
		    const char *fmt, ...)
{
	char place[48];
	va_list ap;

	if (p->at)
		*p->at = at;
	if (!p->err)
		return -code;
	show_place(p, at, place, sizeof(place));
	pev_ask_(p->err, code, place[0] ? "event list, at byte %zu: \"%s\"" : "event list, at its end",
		 at, place);
	va_start(ap, fmt);
	vsnprintf(p->err->said, sizeof(p->err->said), fmt, ap);
	va_end(ap);
	if (expected)
		pev_advise_(p->err, "expected: %s", expected);
	return -code;
}

int pev_parse_fail_in_(struct pev_parser *p, size_t at, int rc)
{
	char asked[200];

	if (p->at)
		*p->at = at;
	if (!p->err)
		return rc;
	snprintf(asked, sizeof(asked), "%.199s", p->err->asked);
	snprintf(p->err->asked, sizeof(p->err->asked), "event list, at byte %zu: %s", at, asked);
	for (char *c = p->err->asked; *c; c++)
		*c = isprint((unsigned char)*c) ? *c : '?';
	return rc;
}

static int no_memory(struct pev_parser *p)
{
	return pev_parse_fail_(p, p->pos, ENOMEM, NULL, "out of memory, or more events than %d",
			       PARSE_EVENTS_MAX);
}

/* Events that perf-prof takes, and that are no events of a list. */
static const struct {
	const char *word;
	const char *attr;
} probes[] = {
	{ "kprobe:", "a perf_event_attr of the PMU kprobe with kprobe_func (C: pev_attr_kprobe())" },
	{ "kretprobe:", "a perf_event_attr of the PMU kprobe with kprobe_func (C: pev_attr_kprobe())" },
	{ "uprobe:", "a perf_event_attr of the PMU uprobe with uprobe_path and probe_offset (C: pev_attr_uprobe_symbol())" },
	{ "uretprobe:", "a perf_event_attr of the PMU uprobe with uprobe_path and probe_offset (C: pev_attr_uprobe_symbol())" },
	{ "usdt:", "a perf_event_attr of the PMU uprobe with uprobe_path and probe_offset (C: pev_attr_usdt())" },
};

/* A list that cannot be parsed: says so if an event is a probe, whatever became of its path and its colons. */
static void blame_probe(struct pev_parser *p)
{
	char place[48];

	for (size_t at = strspn(p->text, ",{ "); p->text[at]; at += strspn(p->text + at, ",{ ")) {
		for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
			if (strncmp(p->text + at, probes[i].word, strlen(probes[i].word)))
				continue;
			if (p->at)
				*p->at = at;
			show_place(p, at, place, sizeof(place));
			pev_ask_(p->err, p->err ? p->err->code : 0, "event list, at byte %zu: \"%s\"", at, place);
			pev_say_(p->err, "%s is a probe of perf-prof, and no event of libperfevent and pyperf", probes[i].word);
			pev_advise_(p->err, "perf-prof trace -e, perf-prof top -e and perf_prof.Session() take it; here, open %s",
				    probes[i].attr);
			return;
		}
		at += strcspn(p->text + at, ",{ ");
	}
}

/* ---- words --------------------------------------------------------------------------- */

static char here(const struct pev_parser *p)
{
	return p->text[p->pos];
}

static void skip_blanks(struct pev_parser *p)
{
	p->pos += strspn(p->text + p->pos, " \t\n");
}

/* Copies the text before any of `ends`. */
static int take_word(struct pev_parser *p, const char *ends, char *word)
{
	size_t len = strcspn(p->text + p->pos, ends);

	if (len >= WORD_MAX)
		return pev_parse_fail_(p, p->pos, EINVAL, NULL, "no name is longer than %d bytes",
				       WORD_MAX - 1);
	memcpy(word, p->text + p->pos, len);
	word[len] = '\0';
	p->pos += len;
	return 0;
}

/* As in perf, a leading 0 does not make a number octal. */
bool pev_parse_u64_(const char *text, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	char *end;

	if (!isxdigit((unsigned char)text[hex ? 2 : 0]) || (!hex && !isdigit((unsigned char)text[0])))
		return false;
	errno = 0;
	*value = strtoull(text, &end, hex ? 16 : 10);
	return !*end && !errno;
}

/* ---- terms ----------------------------------------------------------------------------- */

static void free_terms(struct pev_parser *p)
{
	while (p->nterms) {
		p->nterms--;
		free(p->terms[p->nterms].name);
		free(p->terms[p->nterms].value);
	}
	p->has_terms = false;
}

/* VALUE, or 'VALUE' with any characters in it. */
static int take_value(struct pev_parser *p, struct pev_term *term)
{
	const char *start = p->text + p->pos;
	size_t len;

	if (*start == '\'') {
		const char *end = strchr(start + 1, '\'');

		if (!end)
			return pev_parse_fail_(p, p->pos, EINVAL, "a closing '", "the quote is not closed");
		term->value = strndup(start + 1, (size_t)(end - start - 1));
		p->pos += (size_t)(end - start) + 1;
	} else {
		len = strcspn(start, ",/ {}");
		term->value = strndup(start, len);
		p->pos += len;
	}
	if (!term->value)
		return no_memory(p);
	if (!term->value[0])
		return pev_parse_fail_(p, p->pos, EINVAL, "a value after =", "the value is missing");
	return 0;
}

static int take_term(struct pev_parser *p)
{
	struct pev_term *term = &p->terms[p->nterms];
	size_t len = strcspn(p->text + p->pos, "=,/{} ");

	if (!len)
		return pev_parse_fail_(p, p->pos, EINVAL, "TERM or TERM=VALUE, and / after the last",
				       "a term is missing");
	if (p->nterms == PARSE_TERMS_MAX)
		return pev_parse_fail_(p, p->pos, EINVAL, NULL, "more than %d terms", PARSE_TERMS_MAX);
	*term = (struct pev_term){ .at = p->pos };
	term->name = strndup(p->text + p->pos, len);
	p->nterms++;
	if (!term->name)
		return no_memory(p);
	p->pos += len;
	if (here(p) != '=')
		return 0;
	p->pos++;
	return take_value(p, term);
}

/* Parses "/terms/", if present. */
static int take_terms(struct pev_parser *p)
{
	int rc = 0;

	free_terms(p);
	if (here(p) != '/')
		return 0;
	p->pos++;
	p->has_terms = true;
	while (!rc && here(p) != '/') {
		rc = take_term(p);
		if (rc || here(p) == '/')
			break;
		if (here(p) != ',')
			return pev_parse_fail_(p, p->pos, EINVAL, ", or / after a term",
					       "the terms are not closed");
		p->pos++;
	}
	if (!rc)
		p->pos++;
	return rc;
}

/* ---- breakpoints -------------------------------------------------------------------------- */

static const struct {
	char letter;
	uint32_t type;
} accesses[] = {
	{ 'r', HW_BREAKPOINT_R }, { 'w', HW_BREAKPOINT_W }, { 'x', HW_BREAKPOINT_X },
};

/* Access letters such as "rw"; 0 if the word has others. */
static uint32_t parse_access(const char *word)
{
	uint32_t type = 0;

	for (; *word; word++) {
		uint32_t found = 0;

		for (size_t i = 0; i < 3; i++)
			if (accesses[i].letter == *word)
				found = accesses[i].type;
		if (!found)
			return 0;
		type |= found;
	}
	return type;
}

/* Parses ":rw", if present; else the letters are modifiers. */
static uint32_t take_access(struct pev_parser *p)
{
	size_t start = p->pos;
	char word[WORD_MAX];
	uint32_t type = 0;

	if (here(p) == ':') {
		p->pos++;
		if (!take_word(p, NAME_ENDS, word))
			type = parse_access(word);
	}
	if (!type)
		p->pos = start;
	return type ? type : HW_BREAKPOINT_R | HW_BREAKPOINT_W;
}

/* Parses the text after "mem:". */
static int parse_breakpoint(struct pev_parser *p)
{
	size_t at = p->pos, access_at;
	struct pev_parsed_own *e;
	struct perf_event_attr attr;
	uint64_t addr, len = 0;
	uint32_t access;
	char word[WORD_MAX];
	int rc = take_word(p, NAME_ENDS, word);

	if (rc)
		return rc;
	if (!pev_parse_u64_(word, &addr))
		return pev_parse_fail_(p, at, EINVAL, "an address: mem:0x1234[/LEN][:rwx]",
				       "there is no address");
	if (here(p) == '/') {
		at = ++p->pos;
		rc = take_word(p, NAME_ENDS, word);
		if (rc)
			return rc;
		if (!pev_parse_u64_(word, &len) || !len)
			return pev_parse_fail_(p, at, EINVAL, "a length of 1 to 8 bytes",
					       "there is no length");
	}
	access_at = p->pos + 1;
	access = take_access(p);
	rc = pev_attr_breakpoint(&attr, access, addr, len, p->err);
	if (rc)
		return pev_parse_fail_in_(p, len > HW_BREAKPOINT_LEN_8 ? at : access_at, rc);
	e = pev_parse_add_(p, attr.type, 0);
	if (!e)
		return no_memory(p);
	memcpy(&e->buf, &attr, attr.size);
	return 0;
}

/* ---- events --------------------------------------------------------------------------------- */

/* TYPE:CONFIG, both numbers. */
static bool is_number_pair(const struct pev_parser *p, const char *word, uint64_t *type)
{
	return here(p) == ':' && isdigit((unsigned char)p->text[p->pos + 1]) &&
	       pev_parse_u64_(word, type) && *type <= UINT32_MAX;
}

static int parse_number_pair(struct pev_parser *p, uint32_t type)
{
	size_t at = ++p->pos;
	char word[WORD_MAX];
	uint64_t config;
	int rc = take_word(p, NAME_ENDS, word);

	if (!rc && !pev_parse_u64_(word, &config))
		rc = pev_parse_fail_(p, at, EINVAL, "TYPE:CONFIG", "the config is not a number");
	if (!rc)
		rc = take_terms(p);
	return rc ? rc : pev_parse_number_(p, type, config);
}

/* Parses the text after "SYS:". */
static int parse_tracepoint(struct pev_parser *p, const char *sys, size_t at)
{
	char word[WORD_MAX];
	size_t colon = p->pos++;
	int rc = take_word(p, NAME_ENDS, word);

	if (rc)
		return rc;
	if (pev_parse_are_modifiers_(word) && word[0] && pev_parse_is_pmu_event_(p, sys)) {
		p->pos = colon;
		return pev_parse_name_(p, sys, at);
	}
	if (!word[0])
		return pev_parse_fail_(p, p->pos, here(p) == ':' ? ENOENT : EINVAL,
				       "modifiers after an event, or a tracepoint as "
				       "SYSTEM:NAME", "there is nothing after the colon");
	rc = take_terms(p);
	return rc ? rc : pev_parse_tracepoint_(p, sys, word, at);
}

static int parse_what(struct pev_parser *p)
{
	size_t at = p->pos;
	char word[WORD_MAX];
	uint64_t type;
	int rc = take_word(p, NAME_ENDS, word);

	if (rc)
		return rc;
	if (!word[0])
		return pev_parse_fail_(p, at, EINVAL, "an event: a name, rHEX, pmu/terms/, system:name or "
				       "mem:address", here(p) ? "this does not begin an event"
							      : "an event is missing");
	if (!strcmp(word, "mem") && here(p) == ':') {
		p->pos++;
		return parse_breakpoint(p);
	}
	if (is_number_pair(p, word, &type))
		return parse_number_pair(p, (uint32_t)type);
	if (here(p) == ':' && !pev_parse_is_generic_(word) && p->text[p->pos + 1] != '{')
		return parse_tracepoint(p, word, at);
	rc = take_terms(p);
	if (rc)
		return rc;
	if (p->has_terms && !pev_parse_is_generic_(word) && !pev_parse_is_pmu_event_(p, word))
		return pev_parse_pmu_(p, word, at);
	return pev_parse_name_(p, word, at);
}

/* Parses ":u", or "u" after a slash, for the events from `first` on. */
static int take_modifiers(struct pev_parser *p, size_t first, bool bare, bool group)
{
	char word[WORD_MAX];
	size_t at;
	int rc;

	if (here(p) == ':')
		p->pos++;
	else if (!bare || !here(p) || strchr(",} \t\n", here(p)))
		return 0;
	at = p->pos;
	rc = take_word(p, NAME_ENDS, word);
	for (size_t i = first; i < p->list->n && !rc; i++)
		rc = pev_parse_modifiers_(p, p->list->events[i], word, at, !group || i == first);
	return rc;
}

/* Cuts ":u:k" off the end of a vendor's name: set_label() adds the levels from the attr. */
static void cut_levels(char *name)
{
	for (size_t len = strlen(name); len > 2 && name[len - 2] == ':' && strchr("ukh", name[len - 1]);
	     len -= 2)
		name[len - 2] = '\0';
}

/* An unknown name may be the vendor's name for an event of this CPU, which may have colons. If it
 * is not, returns the first error. */
static int parse_vendor(struct pev_parser *p, size_t start, int failed)
{
	struct pev_parsed_own *e;
	union pev_attr_buf buf;
	char word[WORD_MAX];
	size_t len = strcspn(p->text + start, ",{} \t\n");

	if (len >= sizeof(word))
		return failed;
	memcpy(word, p->text + start, len);
	word[len] = '\0';
	if (pev_pfm_encode_(word, &buf))
		return failed;
	p->pos = start + len;
	pev_attr_list_cut_(p->list, p->first);
	e = pev_parse_add_(p, 0, 0);
	if (!e)
		return no_memory(p);
	e->buf = buf;
	cut_levels(word);
	e->label = strdup(word);
	return e->label ? 0 : no_memory(p);
}

static int parse_event(struct pev_parser *p)
{
	size_t start, first = p->list->n;
	int rc;

	skip_blanks(p);
	start = p->pos;
	p->first = first;
	free_terms(p);
	rc = parse_what(p);
	if (rc == -ENOENT || rc == -EACCES)
		rc = parse_vendor(p, start, rc);
	if (!rc)
		rc = take_modifiers(p, first, p->has_terms, false);
	for (size_t i = first; i < p->list->n; i++) {
		p->list->events[i]->pub.at = start;
		p->list->events[i]->pub.length = p->pos - start;
	}
	skip_blanks(p);
	return rc;
}

/* ---- groups ------------------------------------------------------------------------------------ */

static int close_group(struct pev_parser *p, size_t first, const char *name)
{
	p->pos++;
	for (size_t i = first; i < p->list->n; i++) {
		struct pev_parsed_own *e = p->list->events[i];

		e->pub.leader = first;
		if (!name[0])
			continue;
		e->pub.group_name = e->group_name = strdup(name);
		if (!e->group_name)
			return no_memory(p);
	}
	return take_modifiers(p, first, false, true);
}

static int parse_group(struct pev_parser *p, const char *name)
{
	size_t first = p->list->n;
	int rc;

	do {
		p->pos++;
		rc = parse_event(p);
	} while (!rc && here(p) == ',');
	if (rc)
		return rc;
	if (here(p) != '}')
		return pev_parse_fail_(p, p->pos, EINVAL, ", or } after an event of a group",
				       here(p) ? "this does not belong in a group"
					       : "the group is not closed");
	return close_group(p, first, name);
}

/* "NAME:{" or "{": moves to the brace. */
static bool at_group(struct pev_parser *p, char *name)
{
	size_t len = strcspn(p->text + p->pos, NAME_ENDS);

	name[0] = '\0';
	if (here(p) == '{')
		return true;
	if (len >= WORD_MAX || strncmp(p->text + p->pos + len, ":{", 2))
		return false;
	memcpy(name, p->text + p->pos, len);
	name[len] = '\0';
	p->pos += len + 1;
	return true;
}

/* ---- lists ------------------------------------------------------------------------------------- */

static int parse_item(struct pev_parser *p)
{
	char name[WORD_MAX];
	int rc;

	skip_blanks(p);
	rc = at_group(p, name) ? parse_group(p, name) : parse_event(p);
	skip_blanks(p);
	if (!rc && here(p) && here(p) != ',')
		rc = pev_parse_fail_(p, p->pos, EINVAL, "a comma or the end", "unexpected text");
	return rc;
}

/* A label from name= is kept; other names get their modifiers appended. */
static int set_label(struct pev_parsed_own *e)
{
	char label[768], mods[PEV_MODIFIERS_SIZE_];
	union pev_attr_buf buf = e->buf;
	const char *name = e->label;
	size_t len;

	if (e->named)
		return 0;
	if (e->pub.precise_max) {   /* print P, not the ppp that is tried first */
		buf.attr.precise_ip = 0;
	}
	pev_label_modifiers_(&buf.attr, mods);
	if (name) {
		len = strlen(name);
		snprintf(label, sizeof(label), "%s%s%s", name,
			 mods[0] && name[len - 1] != '/' ? ":" : "", mods);
	} else {
		pev_label_at_(&buf.attr, NULL, label, sizeof(label));
	}
	if (e->pub.precise_max) {
		len = strlen(label);
		snprintf(label + len, sizeof(label) - len, "%sP",
			 mods[0] || (len && label[len - 1] == '/') ? "" : ":");
	}
	free(e->label);
	e->label = strdup(label);
	return e->label ? 0 : -ENOMEM;
}

static int set_labels(struct pev_parser *p)
{
	for (size_t i = 0; i < p->list->n; i++) {
		struct pev_parsed_own *e = p->list->events[i];

		if (set_label(e))
			return no_memory(p);
		e->pub.label = e->label;
		e->pub.unit = e->unit;
		e->pub.cpus = e->cpus;
	}
	return 0;
}

static int parse_list(struct pev_parser *p)
{
	int rc = parse_item(p);

	while (!rc && here(p) == ',') {
		p->pos++;
		rc = parse_item(p);
	}
	return rc ? rc : set_labels(p);
}

int pev_attr_parse_at_(struct pev_attr_list **out, const char *text,
		       const struct pev_parse_env *env, size_t *at, struct pev_error *err)
{
	struct pev_parser p = { .text = text, .env = env, .err = err, .at = at };
	int rc;

	*out = NULL;
	if (strnlen(text, PARSE_TEXT_MAX) == PARSE_TEXT_MAX)
		return pev_parse_fail_(&p, 0, E2BIG, NULL, "the list is longer than 1 MiB");
	p.list = calloc(1, sizeof(*p.list));
	if (!p.list)
		return no_memory(&p);
	rc = parse_list(&p);
	free_terms(&p);
	if (rc) {
		blame_probe(&p);
		pev_attr_list_free(p.list);
		return rc;
	}
	*out = p.list;
	return 0;
}

int pev_attr_parse(struct pev_attr_list **out, const char *text, size_t *at,
		   struct pev_error *err)
{
	static const struct pev_parse_env env = { .pmus = PEV_PMU_ROOT_ };

	return pev_attr_parse_at_(out, text, &env, at, err);
}
