/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dump_merge.h"

#include "base/hash.h"
#include "base/room.h"
#include "engine/pyframes.h"
#include "tasks/resolve.h"
#include "tasks/unwinder.h"

enum { MAX_FRAMES = 4096, ALWAYS = 1 };   /* ALWAYS: a time; the mappings do not change any more */

struct place_key {
	uint64_t ip, caller;     /* caller: 1: the address is where a call returns to */
};

/* The functions at an address. */
struct place {
	struct place_key key;
	UT_hash_handle hh;
	size_t n;
	struct frame frames[];   /* innermost first; their texts are malloc'ed */
};

struct dump_native {
	pid_t pid;
	struct symbolizer *symbolizer;
	struct maps *maps;
	struct unwinder *unwinder;
	struct place *places;
	uint64_t ips[MAX_FRAMES];
	struct chain_address addresses[MAX_FRAMES];
};

struct dump_native *dump_native_new(pid_t pid)
{
	const struct symbolizer_opts opts = { .parse = PARSER_AUTO };
	struct dump_native *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->pid = pid;
	d->symbolizer = symbolizer_new(&opts);
	if (d->symbolizer)
		d->maps = maps_new(&(struct maps_opts){ .dsos = symbolizer_dsos(d->symbolizer), .opener = &opener_direct });
	if (d->maps)
		d->unwinder = unwinder_new(d->maps, symbolizer_dsos(d->symbolizer));
	if (d->unwinder)
		return d;
	dump_native_free(d);
	return NULL;
}

static void free_place(struct place *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free((char *)(uintptr_t)p->frames[i].symbol);
		free((char *)(uintptr_t)p->frames[i].dso);
		free((char *)(uintptr_t)p->frames[i].file);
	}
	free(p);
}

void dump_native_free(struct dump_native *d)
{
	struct place *p, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->places, p, next) {
		HASH_DEL(d->places, p);
		free_place(p);
	}
	unwinder_free(d->unwinder);
	maps_free(d->maps);
	symbolizer_free(d->symbolizer);
	free(d);
}

void dump_native_map(struct dump_native *d)
{
	maps_version(d->maps, d->pid, ALWAYS);
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* A frame like `whole`, with texts of its own. in: the function or an inlined call, as DWARF has it; or NULL. */
static struct frame frame_of(struct dump_native *d, struct dso *dso, const struct frame *whole, const struct inline_frame *in)
{
	struct frame frame = *whole;
	const char *name = whole->symbol;

	if (in && in->inlined) {
		frame.inlined = true;
		frame.offset = 0;
		name = dso_shown_name(symbolizer_dsos(d->symbolizer), dso, in->name);
	}
	frame.file = copy_of(in ? in->file : NULL);
	frame.line = in ? in->line : 0;
	frame.symbol = copy_of(name);
	frame.dso = copy_of(whole->dso);
	return frame;
}

static struct place *look_up(struct dump_native *d, const struct place_key *key)
{
	const struct chain_address a = { .ip = key->ip, .at = key->ip - key->caller, .place = PLACE_USER };
	const struct resolve_site site = resolve_site(d->maps, &a, d->pid, ALWAYS);
	struct inline_frame in[INLINES_MAX_DEPTH];
	struct resolve_words words;
	struct place *p;
	char *symbol, *dso;
	size_t n;

	resolve_words(d->symbolizer, &a, &site, &words);
	symbol = copy_of(words.symbol);
	dso = copy_of(words.dso);
	n = site.dso ? dso_inlines(symbolizer_dsos(d->symbolizer), site.dso, site.at, in, INLINES_MAX_DEPTH) : 0;
	p = calloc(1, sizeof(*p) + (n ? n : 1) * sizeof(*p->frames));
	if (p) {
		const struct frame whole = { .addr = key->ip, .symbol = symbol, .dso = dso, .at = site.at, .object = site.dso,
					     .offset = words.offset };

		p->key = *key;
		for (size_t i = 0; i < n || !i; i++)
			p->frames[p->n++] = frame_of(d, site.dso, &whole, n ? &in[i] : NULL);
	}
	free(symbol);
	free(dso);
	return p;
}

static const struct place *place_at(struct dump_native *d, uint64_t ip, bool caller)
{
	const struct place_key key = { ip, caller };
	struct place *p = NULL;

	HASH_FIND(hh, d->places, &key, sizeof(key), p);
	if (p || !(p = look_up(d, &key)))
		return p;
	HASH_ADD(hh, d->places, key, sizeof(key), p);
	if (!HASH_LOST(p))
		return p;
	free_place(p);
	return NULL;
}

void dump_native_stack(struct dump_native *d, const struct stopped_thread *t, struct dump_frames *out)
{
	struct unwinder_sample sample = { .pid = d->pid, .time = ALWAYS };
	struct unwind_last last = { .end = UNWIND_OUTERMOST };
	size_t n = 0;

	if (stopped_sample(t, &sample.stack))
		n = unwinder_walk(d->unwinder, &sample, d->ips, MAX_FRAMES, &last);
	out->cut = n == MAX_FRAMES || last.end != UNWIND_OUTERMOST;
	n = chain_addresses(d->ips, n, d->addresses);
	for (size_t i = 0; i < n; i++) {
		const struct place *p = place_at(d, d->addresses[i].ip, d->addresses[i].ip != d->addresses[i].at);

		out->lost |= !p || !ROOM_FOR(out->v, out->room, out->n, p->n);
		for (size_t k = 0; !out->lost && k < p->n; k++)
			out->v[out->n++] = &p->frames[k];
	}
}

#define LOOP "_PyEval_EvalFrameDefault"

/* A part of the function that the compiler has moved is "LOOP.cold". */
static bool is_loop(const struct frame *frame)
{
	const size_t len = strlen(LOOP);

	return frame->symbol && !frame->inlined && !strncmp(frame->symbol, LOOP, len) &&
	       (!frame->symbol[len] || frame->symbol[len] == '.');
}

unsigned int dump_loops(const struct dump_frames *native)
{
	unsigned int n = 0;

	for (size_t i = 0; i < native->n; i++)
		n += is_loop(native->v[i]);
	return n;
}

/* Whether that function is the loop, or was inlined into it there. */
static bool is_in_loop(const struct dump_frames *native, size_t i)
{
	while (native->v[i]->inlined && i + 1 < native->n)
		i++;
	return is_loop(native->v[i]);
}

/* With -X perf, CPython calls each Python function through code of that function's name. */
static bool is_trampoline(const struct frame *frame)
{
	char name[PYFRAMES_NAME];
	const char *file;

	return frame->symbol && pyframes_parse(frame->symbol, name, &file);
}

/* Appends the functions that a call of the loop runs; returns the next one. */
static size_t append_call(struct dump_frames *out, const struct dump_script *scripts, size_t next, size_t n, unsigned int call)
{
	for (; next < n && scripts[next].call == call; next++)
		out->v[out->n++] = &scripts[next].frame;
	return next;
}

bool dump_merge(struct dump_frames *out, const struct dump_frames *native, const struct dump_script *scripts, size_t n,
		unsigned int calls)
{
	unsigned int call = 0;
	size_t next = 0;

	if (dump_loops(native) != calls)
		return false;
	out->lost |= !ROOM_FOR(out->v, out->room, out->n, native->n + n);
	for (size_t i = 0; i < native->n && !out->lost; i++)
		if (is_loop(native->v[i]))
			next = append_call(out, scripts, next, n, call++);
		else if (!is_in_loop(native, i) && !is_trampoline(native->v[i]))
			out->v[out->n++] = native->v[i];
	return true;
}
