/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callstacks.h"

#include "base/hash.h"
#include "base/options.h"
#include "engine/pyframes.h"
#include "symbols/version.h"
#include "tasks/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callers that are left out of stacks: those of a function that nobody asks about, such as what runs a notebook's cells. */

static bool ends_in(const char *asked, const char *name, size_t len)
{
	const size_t n = strlen(asked);

	return len >= n && !strncmp(name + len - n, asked, n) && (len == n || (len > n + 2 && !strncmp(name + len - n - 2, "::", 2)));
}

static bool has_name(const char *asked, const char *name)
{
	return ends_in(asked, name, strlen(name)) || ends_in(asked, name, unversioned(name));
}

static bool is_of(const struct opt_strings *functions, const char *name)
{
	for (size_t i = 0; name && i < functions->n; i++)
		if (has_name(functions->v[i], name))
			return true;
	return false;
}

/* The number of frames below the innermost one of these functions (NULL: of none): without it and its callers; 1
 * if it is itself the innermost. n if there is no such frame; else *found is set. "Cart::add" and "add" are shop::Cart::add, too,
 * and clock_gettime is clock_gettime@@GLIBC_2.17. */
static size_t callers_cut(const struct frame *const *frames, size_t n, const struct opt_strings *functions, bool *found)
{
	for (size_t i = 0; functions && i < n; i++)
		if (is_of(functions, frames[i]->symbol)) {
			*found = true;
			return i ? i : 1;
		}
	return n;
}

enum { MAX_WORDS = 1024, SCRIPT = 15, FIRST_DSO = 16, ANSWERS_SHIFT = 44 };
#define MAX_BYTES ((size_t)256 << 20)
#define MAX_RECENT ((size_t)4 << 20)

/* The place of a frame. The same code in all processes is one frame. */
struct frame_key {
	uint64_t where, at;      /* SCRIPT: at is the number of the function */
	uint64_t table;          /* serial of the kernel's symbol table; 0: an address in user space; SCRIPT: the line */
};

struct entry {
	struct frame frame;      /* first member: a frame is cast to its entry */
	struct frame_key key;
	struct dso *dso;         /* for an address in user space; or NULL */
	struct frame *inner;     /* the frame and the calls inlined into it, innermost first */
	uint32_t ninner;
	bool late;               /* its name is not known yet */
	uint8_t back;            /* bytes before the frame's address, where its name is looked up */
	bool expanded;
	bool marked;             /* in callstacks_rest(): a stack has it */
	UT_hash_handle hh;
};

struct text {
	UT_hash_handle hh;
	bool marked;             /* in callstacks_rest(): a frame has it */
	char text[];
};

/* A call chain. Processes with the same frames share it. */
struct chain {
	struct callstack stack;
	const struct frame **more;   /* with inlined calls; NULL: the frames as sampled */
	bool expanded;
	bool user, cut;          /* it has a part in user space, which is incomplete */
	bool kept;               /* by callstacks_keep() */
	uint32_t interval;       /* the last interval with this chain */
	size_t n, nmore;         /* number of `frames`; room of `more`; stack.n can be the number of these */
	UT_hash_handle hh;
	const struct frame *frames[];
};

/* A call chain as sampled, and its struct chain. */
struct seen {
	struct chain *chain;
	UT_hash_handle hh;
	uint64_t key[];          /* version, then the sampled chain */
};

struct callstacks {
	struct names *names;
	bool inlines, python;    /* python: callstacks_merge_python() */
	const struct opt_strings *below;   /* callstacks_begin_below(); or NULL */
	bool tried_below, found_below;     /* a stack was expanded; one has such a function */
	struct chain *chains;
	/* Versions are different for each process, so these are not bounded. When `recent` is too large, it replaces
	 * `earlier`, whose chains were not seen since the last time. */
	struct seen *recent, *earlier;
	size_t recent_bytes;
	struct entry *frames;
	struct text *texts;
	size_t bytes, max_bytes;
	uint32_t interval;
	uint64_t refused;
	uint64_t users, cut;     /* samples with a part in user space, and with an incomplete one */
	uint64_t key[MAX_WORDS + 1];
	struct chain_address addresses[MAX_WORDS];
	const struct frame *found[MAX_WORDS];
};

struct callstacks *callstacks_new(struct names *names, bool inlines, size_t max_bytes)
{
	struct callstacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->names = names;
	s->inlines = inlines;
	s->max_bytes = max_bytes;
	return s;
}

void callstacks_merge_python(struct callstacks *s)
{
	s->python = true;
}

bool callstacks_lack_below(const struct callstacks *s)
{
	return s->tried_below && !s->found_below;
}

void callstacks_begin_below(struct callstacks *s, const struct opt_strings *functions)
{
	s->below = functions;
}

static size_t more_bytes(size_t n)
{
	return (n + 1) * sizeof(const struct frame *);
}

static void drop_chain(struct callstacks *s, struct chain *c)
{
	HASH_DEL(s->chains, c);
	s->bytes -= sizeof(*c) + c->n * sizeof(*c->frames) + (c->more ? more_bytes(c->nmore) : 0);
	free(c->more);
	free(c);
}

static void drop_frame(struct callstacks *s, struct entry *e)
{
	HASH_DEL(s->frames, e);
	s->bytes -= sizeof(*e) + e->ninner * sizeof(*e->inner);
	if (e->dso)
		dso_put(symbolizer_dsos(s->names->symbolizer), e->dso);
	free(e->inner);
	free(e);
}

static void drop_text(struct callstacks *s, struct text *t)
{
	HASH_DEL(s->texts, t);
	s->bytes -= sizeof(*t) + strlen(t->text) + 1;
	free(t);
}

void callstacks_free(struct callstacks *s)
{
	struct chain *c, *next_c;
	struct entry *e, *next_e;
	struct text *t, *next_t;

	if (!s)
		return;
	HASH_FREE(s->recent);
	HASH_FREE(s->earlier);
	HASH_ITER(hh, s->chains, c, next_c)
		drop_chain(s, c);
	HASH_ITER(hh, s->frames, e, next_e)
		drop_frame(s, e);
	HASH_ITER(hh, s->texts, t, next_t)
		drop_text(s, t);
	free(s);
}

static const char unknown[] = "[unknown]";

/* Allocates; NULL: out of memory, or above MAX_BYTES. */
static void *take(struct callstacks *s, size_t size)
{
	void *p = s->bytes + size <= MAX_BYTES ? calloc(1, size) : NULL;

	if (p)
		s->bytes += size;
	else
		s->refused++;
	return p;
}

/* ---- frames ----------------------------------------------------------------------- */

/* A shared copy of the text; NULL for NULL. */
static const char *keep(struct callstacks *s, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct text *t = NULL;

	if (!text)
		return NULL;
	HASH_FIND(hh, s->texts, text, len, t);
	if (t)
		return t->text;
	t = take(s, sizeof(*t) + len + 1);
	if (!t)
		return NULL;
	memcpy(t->text, text, len);
	HASH_ADD(hh, s->texts, text, len, t);
	return t->text;
}

/* Of the name of a file: `unknown` itself for that text, so that frames of no file are all of one. */
static const char *keep_dso(struct callstacks *s, const char *text)
{
	return text && !strcmp(text, unknown) ? unknown : keep(s, text);
}

static uint64_t start_of(const struct resolve_words *words, const struct chain_address *a, const struct resolve_site *site)
{
	const bool is_file = site->dso && !dso_is_jit(site->dso);

	/* the offset is that of the ip, and the site that of the call before it */
	return words->symbol && (is_file || words->kernel) ? site->at + (a->ip - a->at) - words->offset : 0;
}

static void name(struct callstacks *s, struct entry *e, const struct chain_address *a,
		 const struct resolve_site *site)
{
	struct resolve_words words;

	resolve_words(s->names->symbolizer, a, site, &words);
	e->frame = (struct frame){
		.addr = a->ip, .symbol = keep(s, words.symbol), .dso = keep_dso(s, words.dso),
		.offset = words.offset, .kernel = words.kernel, .guest = words.guest, .at = site->at,
		.object = e->dso, .start = start_of(&words, a, site),
	};
	e->late = words.late;
	if (!e->frame.dso)
		e->frame.dso = unknown;
}

static void name_again(struct callstacks *s, struct entry *e)
{
	const struct resolve_site site = { e->dso, e->key.at };
	const struct chain_address a = { .ip = e->frame.addr, .at = e->frame.addr - e->back, .place = PLACE_USER };

	name(s, e, &a, &site);
}

/* On: do not wait for names, since rings have to be read. */
static void hurry(struct callstacks *s, bool on)
{
	if (s->names->symbolizer)
		dsos_hurry(symbolizer_dsos(s->names->symbolizer), on);
}

static uint64_t kernel_serial(const struct callstacks *s)
{
	return s->names->symbolizer ? symbolizer_kernel_serial(s->names->symbolizer) : 0;
}

static const struct frame *frame_at(struct callstacks *s, const struct chain_address *a, pid_t pid,
				    uint64_t time)
{
	struct resolve_site site = resolve_site(s->names->maps, a, pid, time);
	struct frame_key key = { site.dso ? FIRST_DSO + dso_serial(site.dso) : a->place, site.at,
				 a->place == PLACE_KERNEL ? kernel_serial(s) : 0 };
	struct entry *e = NULL;

	HASH_FIND(hh, s->frames, &key, sizeof(key), e);
	if (e)
		return &e->frame;
	e = take(s, sizeof(*e));
	if (!e)
		return NULL;
	e->key = key;
	e->dso = site.dso && s->names->symbolizer ? dso_ref(site.dso) : NULL;
	e->back = (uint8_t)(a->ip - a->at);
	hurry(s, true);
	name(s, e, a, &site);
	hurry(s, false);
	HASH_ADD(hh, s->frames, key, sizeof(key), e);
	return &e->frame;
}

/* ---- chains ----------------------------------------------------------------------- */

/* The version of the process's mappings; 1 if the chain has no part in user space. */
static uint64_t mapped_version(struct callstacks *s, const uint64_t *ips, uint64_t nr, pid_t pid,
			   uint64_t time)
{
	bool user = false;

	for (uint64_t i = 0; i < nr && !user; i++)
		user = ips[i] == (uint64_t)PERF_CONTEXT_USER || !(ips[i] >> 63);
	if (!user || !s->names->maps)
		return 1;
	return maps_version(s->names->maps, pid, time);
}

/* Equal versions: the same mappings and the same names. */
static uint64_t version_of(struct callstacks *s, const uint64_t *ips, uint64_t nr, pid_t pid,
			   uint64_t time)
{
	uint64_t version = mapped_version(s, ips, nr, pid, time);

	if (!version || !s->names->symbolizer)
		return version;
	return version ^ symbolizer_answers(s->names->symbolizer) << ANSWERS_SHIFT;
}

const struct frame *callstacks_broken(void)
{
	static const struct frame broken = { .symbol = "[broken]", .dso = unknown };

	return &broken;
}

static const struct frame *nameless(void)
{
	static const struct frame none = { .dso = unknown };

	return &none;
}

/* Frame pointers that a program uses for something else lead to addresses where nothing is mapped, different ones each
 * time. Of those at the end of a chain, behind a frame that is known, one frame is left. */
static size_t cut_broken(struct callstacks *s, size_t n)
{
	size_t known = n;

	while (known && s->addresses[known - 1].place == PLACE_USER && !s->found[known - 1]->object)
		known--;
	if (known == n || !known || s->addresses[known - 1].place != PLACE_USER || !s->names->maps)
		return n;
	s->found[known] = callstacks_broken();
	return known + 1;
}

/* The user's part (outermost) is incomplete if it is one frame, or ends where nothing is mapped. */
static void judge(struct callstacks *s, struct chain *c)
{
	uint32_t n = c->stack.n, users = 0;

	while (users < n && s->addresses[n - 1 - users].place == PLACE_USER)
		users++;
	c->user = users && s->names->maps;
	c->cut = c->user && (users == 1 || !c->stack.frames[n - 1]->object);
}

static struct chain *make(struct callstacks *s, size_t n)
{
	struct chain *c = take(s, sizeof(*c) + n * sizeof(*c->frames));

	if (!c)
		return NULL;
	memcpy(c->frames, s->found, n * sizeof(*c->frames));
	c->n = n;
	c->stack.n = (uint32_t)n;
	c->stack.frames = c->frames;
	HASH_ADD_KEYPTR(hh, s->chains, c->frames, n * sizeof(*c->frames), c);
	if (!HASH_LOST(c))
		return c;
	s->bytes -= sizeof(*c) + n * sizeof(*c->frames);
	free(c);
	return NULL;
}

static struct chain *chain_of(struct callstacks *s, size_t words, pid_t pid, uint64_t time)
{
	size_t n = chain_addresses(s->key + 1, words - 1, s->addresses);
	struct chain *c = NULL;

	for (size_t i = 0; i < n; i++) {
		s->found[i] = frame_at(s, &s->addresses[i], pid, time);
		if (!s->found[i])
			s->found[i] = nameless();
	}
	n = cut_broken(s, n);
	HASH_FIND(hh, s->chains, s->found, n * sizeof(*s->found), c);
	if (c)
		return c;
	c = make(s, n);
	if (c)
		judge(s, c);
	return c;
}

static void add_recent(struct callstacks *s, struct seen *k, size_t words)
{
	s->recent_bytes += sizeof(*k) + words * sizeof(*k->key);
	HASH_ADD(hh, s->recent, key, words * sizeof(*k->key), k);
	if (HASH_LOST(k))
		free(k);
	if (s->recent_bytes <= MAX_RECENT)
		return;
	HASH_FREE(s->earlier);
	s->earlier = s->recent;
	s->recent = NULL;
	s->recent_bytes = 0;
}

static struct chain *remember(struct callstacks *s, size_t words, struct chain *c)
{
	struct seen *k = c ? malloc(sizeof(*k) + words * sizeof(*k->key)) : NULL;

	if (!k)
		return c;
	k->chain = c;
	memcpy(k->key, s->key, words * sizeof(*k->key));
	add_recent(s, k, words);
	return c;
}

/* The chain for s->key, if it is in `recent` or `earlier`. */
static struct chain *recall(struct callstacks *s, size_t words)
{
	struct seen *k = NULL;
	struct chain *c;

	HASH_FIND(hh, s->recent, s->key, words * sizeof(*s->key), k);
	if (k || !s->earlier)
		return k ? k->chain : NULL;
	HASH_FIND(hh, s->earlier, s->key, words * sizeof(*s->key), k);
	if (!k)
		return NULL;
	c = k->chain;
	HASH_DEL(s->earlier, k);
	add_recent(s, k, words);
	return c;
}

struct callstack *callstacks_get(struct callstacks *s, const uint64_t *ips, uint64_t nr, pid_t pid,
			 uint64_t time)
{
	struct chain *c;
	size_t words;

	if (nr > MAX_WORDS)
		nr = MAX_WORDS;
	words = 1 + (size_t)nr;
	s->key[0] = version_of(s, ips, nr, pid, time);
	/* a time before the last change has no version: process and time are used instead */
	if (!s->key[0])
		s->key[0] = time ^ (uint64_t)pid << 48;
	memcpy(s->key + 1, ips, (size_t)nr * sizeof(*ips));
	c = recall(s, words);
	if (!c)
		c = remember(s, words, chain_of(s, words, pid, time));
	if (c)
		c->interval = s->interval;
	s->users += c && c->user;
	s->cut += c && c->cut;
	return c ? &c->stack : NULL;
}

/* Index of the first address that is not a PERF_CONTEXT_* marker; nr: there is none. */
static uint64_t innermost(const uint64_t *ips, uint64_t nr)
{
	uint64_t i = 0;

	while (i < nr && ips[i] >= (uint64_t)PERF_CONTEXT_MAX)
		i++;
	return i;
}

/* The frame, with its name if it is available now. */
static const struct frame *named_at(struct callstacks *s, const struct chain_address *a, pid_t pid, uint64_t time)
{
	const struct frame *frame = frame_at(s, a, pid, time);
	struct entry *e = (struct entry *)(uintptr_t)frame;

	if (e && e->late)
		name_again(s, e);
	return frame;
}

static bool is_same_function(struct callstacks *s, uint64_t ip, enum chain_place place, uint64_t leaf, pid_t pid, uint64_t time)
{
	const struct frame *a = named_at(s, &(struct chain_address){ ip, ip, place }, pid, time);
	const struct frame *b = named_at(s, &(struct chain_address){ leaf, leaf, place }, pid, time);

	return a && b && a->symbol == b->symbol && a->dso == b->dso;
}

struct callstack *callstacks_get_at(struct callstacks *s, uint64_t ip, enum chain_place place, const uint64_t *ips, uint64_t nr,
				    pid_t pid, uint64_t time)
{
	uint64_t words[MAX_WORDS + 2] = { chain_marker(place), ip };
	uint64_t n = nr < MAX_WORDS ? nr : MAX_WORDS, leaf = innermost(ips, n);
	size_t more = 2;

	if (leaf < n && ips[leaf] == ip)
		return callstacks_get(s, ips, nr, pid, time);
	if (leaf < n && is_same_function(s, ip, place, ips[leaf], pid, time))
		more = 0;
	memcpy(words + more, ips, (size_t)n * sizeof(*ips));
	if (!more)
		words[leaf] = ip;
	return callstacks_get(s, words, n + more, pid, time);
}

/* ---- stacks of interpreters ----------------------------------------------------------- */

static const struct frame *script_frame_at(struct callstacks *s, const struct script_frame *f)
{
	struct frame_key key = { SCRIPT, f->function, (uint64_t)f->line };
	struct entry *e = NULL;
	char *dso = NULL;

	HASH_FIND(hh, s->frames, &key, sizeof(key), e);
	if (e)
		return &e->frame;
	e = f->file && asprintf(&dso, "%s:%d", f->file, f->first_line) < 0 ? NULL : take(s, sizeof(*e));
	if (e) {
		e->key = key;
		e->expanded = true;
		e->frame = (struct frame){ .symbol = keep(s, f->name), .dso = keep(s, dso ? dso : ""), .script = true,
					   .file = keep(s, f->file), .line = (unsigned int)f->line };
		if (!e->frame.dso)
			e->frame.dso = unknown;
		HASH_ADD(hh, s->frames, key, sizeof(key), e);
	}
	free(dso);
	return e ? &e->frame : NULL;
}

struct callstack *callstacks_script(struct callstacks *s, const struct script_frame *frames, size_t n)
{
	struct chain *c = NULL;

	if (n > MAX_WORDS)
		n = MAX_WORDS;
	for (size_t i = 0; i < n; i++) {
		s->found[i] = script_frame_at(s, &frames[i]);
		if (!s->found[i])
			s->found[i] = nameless();
	}
	HASH_FIND(hh, s->chains, s->found, n * sizeof(*s->found), c);
	if (!c)
		c = make(s, n);
	if (c)
		c->interval = s->interval;
	return c ? &c->stack : NULL;
}

/* ---- inlined calls ---------------------------------------------------------------- */

/* The symbol of a lambda has a number, DWARF its place; inlined ones have only the place. */
static bool is_lambda(const char *name)
{
	return name && strstr(name, "{lambda at ");
}

static void add_inner(struct callstacks *s, struct entry *e, const struct inline_frame *in)
{
	struct frame *frame = &e->inner[e->ninner++];

	*frame = e->frame;
	frame->file = keep(s, in->file);
	frame->line = in->line;
	frame->inlined = in->inlined;
	if (in->inlined || is_lambda(in->name))
		frame->symbol = keep(s, dso_shown_name(symbolizer_dsos(s->names->symbolizer), e->dso,
						       in->name));
	if (in->inlined)
		frame->offset = frame->start = 0;
}

static void forget_inner(struct callstacks *s, struct entry *e)
{
	s->bytes -= e->ninner * sizeof(*e->inner);
	free(e->inner);
	e->inner = NULL;
	e->ninner = 0;
}

/* A trampoline of Python becomes the function that it calls. The map does not know the line. */
static void name_script(struct callstacks *s, struct frame *frame)
{
	char name[PYFRAMES_NAME];
	const char *file;

	if (!s->python || !frame->symbol || frame->script || !pyframes_parse(frame->symbol, name, &file))
		return;
	frame->symbol = keep(s, name);
	frame->file = frame->dso = keep(s, file);
	frame->script = true;
	frame->offset = frame->start = 0;
	if (!frame->dso)
		frame->dso = unknown;
}

/* If the file takes too long to read, the next call tries again. */
static void expand_entry(struct callstacks *s, struct entry *e)
{
	struct inline_frame in[INLINES_MAX_DEPTH];
	size_t n = 0;

	if (e->late)
		name_again(s, e);
	name_script(s, &e->frame);
	if (e->expanded || e->late || !s->inlines)
		return;
	e->expanded = true;
	if (e->dso)
		n = dso_inlines(symbolizer_dsos(s->names->symbolizer), e->dso, e->key.at, in,
				INLINES_MAX_DEPTH);
	e->inner = n ? calloc(n, sizeof(*e->inner)) : NULL;
	s->bytes += e->inner ? n * sizeof(*e->inner) : 0;
	for (size_t i = 0; e->inner && i < n; i++)
		add_inner(s, e, &in[i]);
	if (!e->dso || !dso_is_late(e->dso))
		return;
	e->expanded = false;
	forget_inner(s, e);
}

static bool is_entry(const struct frame *frame)
{
	return frame != nameless() && frame != callstacks_broken();
}

/* The number of frames with inlined calls, counted at the end: a function may be there several times, and be read meanwhile. */
static size_t expand_entries(struct callstacks *s, struct chain *c)
{
	size_t n = 0;

	c->expanded = true;
	for (size_t i = 0; i < c->n; i++) {
		struct entry *e = (struct entry *)(uintptr_t)c->frames[i];

		if (!is_entry(c->frames[i]))
			continue;
		expand_entry(s, e);
		c->expanded &= (e->expanded || !s->inlines) && !e->late;
	}
	for (size_t i = 0; i < c->n; i++)
		n += is_entry(c->frames[i]) && ((const struct entry *)c->frames[i])->ninner ? ((const struct entry *)c->frames[i])->ninner : 1;
	return n;
}

static void put_more(struct callstacks *s, struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct entry *e = (const struct entry *)c->frames[i];

		if (!is_entry(c->frames[i]) || !e->ninner)
			c->more[n++] = c->frames[i];
		for (uint32_t k = 0; is_entry(c->frames[i]) && k < e->ninner; k++)
			c->more[n++] = &e->inner[k];
	}
	c->stack.frames = c->more;
	n = s->python ? pyframes_merge(c->more, n) : n;
	c->stack.n = (uint32_t)callers_cut(c->more, n, s->below, &s->found_below);
	s->tried_below |= s->below != NULL;
}

static void forget_more(struct callstacks *s, struct chain *c)
{
	s->bytes -= c->more ? more_bytes(c->nmore) : 0;
	free(c->more);
	c->more = NULL;
	c->stack.frames = c->frames;
	c->stack.n = (uint32_t)c->n;
}

bool callstacks_expand(struct callstacks *s, struct callstack *stack)
{
	struct chain *c = (struct chain *)stack;
	size_t n;

	if (c->expanded)
		return true;
	forget_more(s, c);
	n = expand_entries(s, c);
	c->more = s->inlines || s->python || s->below ? calloc(1, more_bytes(n)) : NULL;
	if (c->more) {
		c->nmore = n;
		s->bytes += more_bytes(n);
		put_more(s, c);
	}
	return c->expanded;
}

/* ---- late names --------------------------------------------------------------------- */

void callstacks_name_late(struct callstacks *s)
{
	if (!s || !s->names->symbolizer)
		return;
	dsos_look_again(symbolizer_dsos(s->names->symbolizer));
	for (struct entry *e = s->frames; e; e = e->hh.next)
		if (e->late || (!e->frame.symbol && e->dso && dso_is_jit(e->dso)))
			name_again(s, e);
	for (struct chain *c = s->python ? s->chains : NULL; c; c = c->hh.next)
		c->expanded = false;
}

/* ---- limits ----------------------------------------------------------------------- */

static void mark_text(const char *text)
{
	if (text)
		((struct text *)(uintptr_t)(text - offsetof(struct text, text)))->marked = true;
}

static void mark_frame(const struct frame *frame)
{
	mark_text(frame->symbol);
	if (frame->dso != unknown)
		mark_text(frame->dso);
	mark_text(frame->file);
}

static void mark_entry(struct entry *e)
{
	if (e->marked)
		return;
	e->marked = true;
	mark_frame(&e->frame);
	for (uint32_t i = 0; i < e->ninner; i++)
		mark_frame(&e->inner[i]);
}

/* Drops frames that are in no stack, and names that are in no frame. */
static void sweep(struct callstacks *s)
{
	struct entry *e, *next_e;
	struct text *t, *next_t;

	for (struct chain *c = s->chains; c; c = c->hh.next)
		for (size_t i = 0; i < c->n; i++)
			if (is_entry(c->frames[i]))
				mark_entry((struct entry *)(uintptr_t)c->frames[i]);
	HASH_ITER(hh, s->frames, e, next_e) {
		if (!e->marked)
			drop_frame(s, e);
		else
			e->marked = false;
	}
	HASH_ITER(hh, s->texts, t, next_t) {
		if (!t->marked)
			drop_text(s, t);
		else
			t->marked = false;
	}
}

/* Drops chains that were not in the last `intervals`, unless they are kept. */
static void drop_older(struct callstacks *s, uint32_t intervals)
{
	struct chain *c, *next;

	HASH_FREE(s->recent);
	HASH_FREE(s->earlier);
	s->recent_bytes = 0;
	HASH_ITER(hh, s->chains, c, next)
		if (!c->kept && s->interval - c->interval >= intervals)
			drop_chain(s, c);
	sweep(s);
}

void callstacks_keep(struct callstack *stack)
{
	((struct chain *)stack)->kept = true;
}

void callstacks_rest(struct callstacks *s, void (*keep_some)(void *ctx), void *ctx)
{
	if (s->bytes > s->max_bytes) {
		if (keep_some)
			keep_some(ctx);
		drop_older(s, 1);
		if (s->bytes > s->max_bytes / 2)
			drop_older(s, 0);
		for (struct chain *c = s->chains; c; c = c->hh.next)
			c->kept = false;
	}
	s->interval++;
}

size_t callstacks_bytes(const struct callstacks *s)
{
	return s->bytes;
}

struct callstack *callstacks_next(struct callstacks *s, const struct callstack *last)
{
	const struct chain *c = (const struct chain *)last;
	struct chain *next = c ? c->hh.next : s->chains;

	return next ? &next->stack : NULL;
}

size_t callstacks_count(const struct callstacks *s)
{
	return HASH_COUNT(s->chains);
}

uint64_t callstacks_cut(const struct callstacks *s, uint64_t *all)
{
	*all = s->users;
	return s->cut;
}

uint64_t callstacks_refused(const struct callstacks *s)
{
	return s->refused;
}
