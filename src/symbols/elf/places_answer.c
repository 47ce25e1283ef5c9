/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the symbols and notes of a file; this runs inside the jail. */
#include "symbols/elf/places.h"

#include "base/nearest.h"
#include "perfevent/parse/elffile.h"
#include "perfevent/parse/usdt.h"
#include "symbols/elf/demangle.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SYMBOL = 8192, MAX_WANTED = MAX_SYMBOL + 1 };   /* the symbol, after the kind */

struct search {
	const char *wanted;
	bool has_params, glob;
	char head[MAX_WANTED];       /* of the wanted name: what stands before its parameters */
	char must[256];              /* a word that the linker's name has, too; "": unknown */
	struct places_head answer;
	struct pev_elf file;         /* whose offsets count */
	struct parser_bytes *out;
	struct nearest nearest;
	bool near_only;              /* second pass: looks for similar names */
	uint32_t nnear;
};

struct names {
	const char *name, *bare, *symbol, *args;
	const char *plain;           /* the bare name without template arguments; NULL: it has none */
	const char *clone_of;        /* of a copy that the compiler made: the bare name of the function; NULL: it is none */
};

static const struct place_head nowhere;   /* of names that resemble the wanted one */

/* ---- answer ------------------------------------------------------------------ */

static int put(struct search *s, const struct place_head *head, const struct names *n)
{
	const char *const strings[PLACE_STRINGS] = { n->name, n->bare, n->symbol, n->args };
	int rc = parser_put(s->out, head, sizeof(*head));

	for (int i = 0; i < PLACE_STRINGS && !rc; i++)
		rc = parser_put(s->out, strings[i], strlen(strings[i]) + 1);
	return rc;
}

/* What matches better replaces what was found before. */
static int put_match(struct search *s, enum places_match match, const struct place_head *head, const struct names *n)
{
	if (match < s->answer.match)
		return 0;
	if (match > s->answer.match)
		s->out->size = sizeof(s->answer);
	s->answer.match = match;
	return put(s, head, n);
}

/* ---- functions --------------------------------------------------------------- */

/* Parts of functions that GCC made of them: no call gets to the cold ones. */
static bool is_cold(const char *symbol)
{
	return strstr(symbol, ".cold");
}

static bool is_clone(const char *symbol)
{
	return strstr(symbol, ".part.") || strstr(symbol, ".constprop.") || strstr(symbol, ".isra.");
}

/* The suffix of a whole copy of a function, which some of its callers call instead (".part." is a piece of it); NULL: none. */
static char *copy_suffix(char *symbol)
{
	char *isra = strstr(symbol, ".isra."), *constprop = strstr(symbol, ".constprop.");

	return strstr(symbol, ".part.") ? NULL : isra && (!constprop || isra < constprop) ? isra : constprop;
}

static enum places_match match_of(const struct search *s, const struct names *n, char buf[DEMANGLE_MAX])
{
	if (!s->glob && place_name_is(s->wanted, n->name))
		return PLACES_FULL;
	if (!s->glob && place_name_is(s->wanted, n->bare))
		return PLACES_BARE;
	if (s->has_params && n->symbol != n->name && !demangle_as_nm(n->symbol, buf) && place_name_is(s->wanted, buf))
		return PLACES_FULL;
	if (!s->glob && n->plain && place_name_is(s->wanted, n->plain))
		return PLACES_PLAIN;
	if (s->glob && place_glob_matches(s->wanted, s->has_params ? n->name : n->bare))
		return PLACES_GLOB;
	return PLACES_NONE;
}

/* Similar names: another scope or other parameters first, then the nearest spelling. */
static int offer(struct search *s, const struct names *n)
{
	const char *plain = n->clone_of ? n->clone_of : n->plain ? n->plain : n->bare;
	const bool ends = place_name_ends(n->clone_of ? n->clone_of : n->bare, s->head);

	if (s->nnear < PLACES_NEAR && (ends || place_name_ends(plain, s->head))) {
		s->nnear++;
		return put(s, &nowhere, ends ? n : &(struct names){ plain, plain, plain, "" });
	}
	if (!n->clone_of)   /* there may be only pieces of it */
		nearest_offer(&s->nearest, plain);
	return 0;
}

static int take(struct search *s, const struct pev_elf_symbol *sym, const struct names *n, enum places_match match)
{
	struct place_head head = { .address = sym->value, .size = sym->size, .chooses = sym->type == STT_GNU_IFUNC };

	if (s->near_only)
		return offer(s, n);
	if (match == PLACES_NONE || pev_elf_offset_(&s->file, sym->value, &head.offset))
		return 0;
	return put_match(s, match, &head, n);
}

/* The bare name of the function of which it is a copy. */
static const char *original(const char *clone, char buf[DEMANGLE_MAX])
{
	const bool mangled = is_mangled(clone) && !demangle(clone, buf);
	char *end;

	if (!mangled)
		snprintf(buf, DEMANGLE_MAX, "%.*s", DEMANGLE_MAX - 1, clone);
	end = mangled ? strstr(buf, " [clone ") : strchr(buf, '.');
	if (end)
		*end = '\0';
	return buf;
}

/* of: its symbol, or that of the function of which it is a copy. */
static int take_function(struct search *s, const struct pev_elf_symbol *sym, const char *symbol, const char *of)
{
	char name[DEMANGLE_MAX], bare[DEMANGLE_MAX], plain[DEMANGLE_MAX], more[DEMANGLE_MAX];
	struct names n = { of, of, symbol, "" };

	if (is_mangled(of)) {
		if (s->must[0] && !s->near_only && !strstr(of, s->must))
			return 0;
		if (!demangle_signature(of, name))
			n.name = n.bare = name;
		if (!is_clone(of) && !demangle(of, bare))
			n.bare = bare;
		if (n.bare != of && strchr(n.bare, '<')) {
			place_name_plain(n.bare, plain);
			n.plain = plain;
		}
	}
	if (is_clone(of) && s->near_only)
		n.clone_of = original(of, bare);
	return take(s, sym, &n, match_of(s, &n, more));
}

/* The name without a version: memcpy@@GLIBC_2.14. */
static int take_symbol(const struct pev_elf_symbol *sym, const char *text, void *ctx)
{
	struct search *s = ctx;
	char symbol[MAX_SYMBOL], of[MAX_SYMBOL], *copy;
	size_t len = strcspn(text, "@");

	if (!len || len >= sizeof(symbol))
		return 0;
	memcpy(symbol, text, len);
	symbol[len] = '\0';
	memcpy(of, symbol, len + 1);
	copy = strchr(s->wanted, '.') ? NULL : copy_suffix(of);
	if (copy)
		*copy = '\0';
	if (!s->near_only && (!strcmp(s->wanted, of) || !strcmp(s->wanted, text))) {
		char name[DEMANGLE_MAX], bare[DEMANGLE_MAX];
		bool mangled = is_mangled(of) && !demangle_signature(of, name) && !demangle(of, bare);

		return take(s, sym, &(struct names){ mangled ? name : of, mangled ? bare : of, symbol, "" }, PLACES_SYMBOL);
	}
	if (sym->type == STT_NOTYPE || is_cold(symbol))
		return 0;
	s->answer.seen += !s->near_only;
	return s->answer.match == PLACES_SYMBOL ? 0 : take_function(s, sym, symbol, of);
}

static int search_tables(struct search *s, const struct pev_elf *elf)
{
	int rc = pev_elf_each_symbol_(elf, SHT_SYMTAB, take_symbol, s);

	return rc ? rc : pev_elf_each_symbol_(elf, SHT_DYNSYM, take_symbol, s);
}

static int search_functions(struct search *s, const struct parser_question *q)
{
	struct pev_elf debug;
	int rc = pev_elf_begin_(&s->file, q->fds[0]);
	bool two = !rc && q->nfds > 1 && !pev_elf_begin_(&debug, q->fds[1]);

	if (!rc)
		rc = search_tables(s, &s->file);
	if (!rc && two)
		rc = search_tables(s, &debug);
	if (rc || s->answer.match != PLACES_NONE)
		return rc;
	s->near_only = true;
	rc = search_tables(s, &s->file);
	return !rc && two ? search_tables(s, &debug) : rc;
}

/* ---- USDT probes ------------------------------------------------------------- */

static int take_usdt(struct search *s, const struct pev_usdt_probe *p)
{
	char name[1024];
	struct names n = { name, name, "", p->args };
	struct place_head head = { .offset = p->offset, .counter = p->ref_ctr_offset, .address = p->address };

	if ((size_t)snprintf(name, sizeof(name), "%s:%s", p->provider, p->name) >= sizeof(name))
		return 0;
	if (s->near_only) {
		bool same_end = s->nnear < PLACES_NEAR && !strcmp(p->name, s->wanted + strcspn(s->wanted, ":") +
								  (strchr(s->wanted, ':') ? 1 : 0));

		if (!same_end) {
			nearest_offer(&s->nearest, name);
			return 0;
		}
		s->nnear++;
		return put(s, &nowhere, &n);
	}
	s->answer.seen++;
	if (!strcmp(name, s->wanted))
		return put_match(s, PLACES_FULL, &head, &n);
	return s->glob && place_glob_matches(s->wanted, name) ? put_match(s, PLACES_GLOB, &head, &n) : 0;
}

static int search_usdt(struct search *s, const struct parser_question *q)
{
	const struct pev_usdt_probe *p;
	struct pev_usdt *usdt;
	int rc = pev_usdt_begin_(&usdt, q->fds[0]);

	if (rc)
		return rc;
	for (size_t i = 0; (p = pev_usdt_at(usdt, i)) && !rc; i++)
		rc = take_usdt(s, p);
	s->near_only = s->answer.match == PLACES_NONE;
	for (size_t i = 0; s->near_only && (p = pev_usdt_at(usdt, i)) && !rc; i++)
		rc = take_usdt(s, p);
	pev_usdt_close(usdt);
	return rc;
}

/* ---- the question ------------------------------------------------------------ */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Mangled names have the words of a name as they are, with these exceptions; so a name without the longest of its words is
 * not demangled. */
static bool is_abbreviated(const char *word, size_t len)
{
	static const char *const words[] = { "std", "operator", "allocator", "basic_string", "string", "istream", "ostream",
					     "iostream", "basic_istream", "basic_ostream", "basic_iostream" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == len && !memcmp(word, words[i], len))
			return true;
	return false;
}

static void find_must(struct search *s)
{
	size_t end = strcspn(s->head, "<{");

	if (memchr(s->head, ' ', end))
		return;   /* a return type */
	for (size_t from = 0, len; from < end; from += len) {
		len = 1;
		if (!is_word(s->head[from]))
			continue;
		while (from + len < end && is_word(s->head[from + len]))
			len++;
		if (len < sizeof(s->must) && len > strlen(s->must) && !is_abbreviated(s->head + from, len)) {
			memcpy(s->must, s->head + from, len);
			s->must[len] = '\0';
		}
	}
}

static void begin(struct search *s, const char *wanted)
{
	size_t len = strcspn(wanted, "(");

	s->wanted = wanted;
	s->has_params = wanted[len];
	s->glob = place_is_glob(wanted);
	while (len && wanted[len - 1] == ' ')
		len--;
	memcpy(s->head, wanted, len);
	s->head[len] = '\0';
	if (!s->glob)
		find_must(s);
	nearest_begin(&s->nearest, s->head);
}

/* A glob may be the name of a function, too: add(char*). */
static int search_all(struct search *s, enum places_kind kind, const struct parser_question *q)
{
	int (*const search)(struct search *, const struct parser_question *) =
		kind == PLACES_USDT ? search_usdt : search_functions;
	const char *near;
	bool glob = s->glob;
	int rc;

	if (glob && s->has_params) {
		s->glob = false;
		rc = search(s, q);
		if (rc || s->answer.match != PLACES_NONE)
			return rc;
		s->glob = true;
		s->near_only = false;
		s->nnear = 0;
		s->answer.seen = 0;
		s->out->size = sizeof(s->answer);
	}
	rc = search(s, q);
	near = nearest_get(&s->nearest);
	if (!rc && s->answer.match == PLACES_NONE && !s->nnear && near)
		rc = put(s, &nowhere, &(struct names){ near, near, near, "" });
	return rc;
}

int places_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	const char *text = q->bytes;
	struct search s = { .out = out };
	int rc;

	if (!q->nfds || q->nfds > 2 || q->size < 2 || q->size > MAX_WANTED || text[q->size - 1])
		return -EINVAL;
	begin(&s, text + 1);
	rc = parser_put(out, &s.answer, sizeof(s.answer));
	if (!rc)
		rc = search_all(&s, text[0] ? PLACES_USDT : PLACES_FUNCTIONS, q);
	if (!rc)
		memcpy(out->data, &s.answer, sizeof(s.answer));
	return rc;
}
