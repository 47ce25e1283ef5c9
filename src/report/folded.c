/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are interned: a name has a number per kind. A stack is an array of these numbers, root
 * first, which is also its hash key. No tree is built: sorted by name, stacks with a common
 * beginning are adjacent, which is sufficient for pictures.
 */
#include "report/folded.h"

#include "base/escape.h"
#include "base/hash.h"
#include "base/room.h"
#include "report/lambdas.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_DEPTH = 1024,                /* frames of a stack; "[...]" replaces the rest */
	LOST = 0,                        /* the frame used if memory ran out */
};
static const size_t default_limit = 64u << 20;
static const char unknown[] = "[unknown]", cut[] = "[...]";

struct name {
	UT_hash_handle hh;
	char *shown;                     /* escaped; may be the key itself */
	uint32_t frames[FOLDED_KINDS];   /* 0: none */
	char key[];
};

struct frame {
	const struct name *name;
	enum folded_kind kind;
};

struct stack {
	UT_hash_handle hh;
	uint64_t weight, before;
	uint32_t n;
	uint32_t frames[];
};

/* The build of a file whose functions have no names. */
struct build {
	UT_hash_handle hh;
	char build[FOLDED_BUILD_SIZE];   /* "": not known, or several */
	char file[];
};

struct folded {
	struct name *names;
	struct frame *frames;
	size_t nframes, room;
	struct stack *stacks;
	size_t count, bytes, limit;      /* bytes: of names and stacks */
	uint64_t total, overflow;
	uint64_t before, before_overflow;
	uint32_t interval;               /* LOST: none */
	struct {
		char event[128];
		uint64_t n, weight;
		double squares;
		bool mixed;              /* several events */
	} sampled;
	uint64_t timed;                  /* weight of stacks that are times */
	uint64_t of_command, ncommands;  /* weight of samples of whole commands, and how many these are */
	struct build *builds;
	uint64_t built;                  /* weight of stacks of files that say of which builds they are */
	bool is_text;                    /* stacks came from a file, which shows few kinds */
	bool has_inlined, lacks_inlined; /* what files say of their inlined frames */
};

struct folded *folded_new(void)
{
	struct folded *f = calloc(1, sizeof(*f));

	if (f)
		f->limit = default_limit;
	return f;
}

void folded_free(struct folded *f)
{
	struct name *name, *next_name;

	if (!f)
		return;
	HASH_ITER(hh, f->names, name, next_name) {
		HASH_DEL(f->names, name);
		if (name->shown != name->key)
			free(name->shown);
		free(name);
	}
	HASH_FREE(f->stacks);
	HASH_FREE(f->builds);
	free(f->frames);
	free(f);
}

/* ---- frames -------------------------------------------------------------------------- */

/* The name without control characters and without the separator of frames. */
static char *shown_of(char *key, size_t len)
{
	char *text = malloc(4 * len + 1);

	if (!text)
		return NULL;
	escape_terminal(key, len, text, 4 * len + 1);
	for (char *p = strchr(text, ';'); p; p = strchr(p, ';'))
		*p = ':';
	if (strcmp(text, key))
		return text;
	free(text);
	return key;
}

static struct name *add_name(struct folded *f, const char *text, size_t len)
{
	size_t size = sizeof(struct name) + len + 1;
	struct name *name = f->bytes + size > f->limit ? NULL : calloc(1, size);

	if (!name)
		return NULL;
	memcpy(name->key, text, len);
	name->shown = shown_of(name->key, len);
	if (name->shown)
		HASH_ADD_KEYPTR(hh, f->names, name->key, len, name);
	if (name->shown && !HASH_LOST(name)) {
		f->bytes += size;
		return name;
	}
	if (name->shown != name->key)
		free(name->shown);
	free(name);
	return NULL;
}

static struct name *find_name(struct folded *f, const char *text)
{
	size_t len = strlen(text);
	struct name *name;

	HASH_FIND(hh, f->names, text, len, name);
	return name ? name : add_name(f, text, len);
}

static bool more_frames(struct folded *f)
{
	if (f->nframes > UINT32_MAX / 2 || !ROOM_FOR(f->frames, f->room, f->nframes, 1))
		return false;
	if (!f->nframes)
		f->frames[f->nframes++] = (struct frame){ NULL, FOLDED_UNKNOWN };   /* LOST */
	return true;
}

uint32_t folded_frame(struct folded *f, const char *text, enum folded_kind kind)
{
	struct name *name = find_name(f, text && *text ? text : unknown);

	if (!name)
		return LOST;
	if (name->frames[kind])
		return name->frames[kind];
	if (f->nframes == f->room && !more_frames(f))
		return LOST;
	f->frames[f->nframes] = (struct frame){ name, kind };
	name->frames[kind] = (uint32_t)f->nframes++;
	return name->frames[kind];
}

size_t folded_frames(const struct folded *f)
{
	return f->nframes;
}

const char *folded_frame_name(const struct folded *f, uint32_t frame)
{
	return frame < f->nframes && f->frames[frame].name ? f->frames[frame].name->shown : "[lost]";
}

enum folded_kind folded_frame_kind(const struct folded *f, uint32_t frame)
{
	return frame < f->nframes ? f->frames[frame].kind : FOLDED_UNKNOWN;
}

/* ---- stacks ---------------------------------------------------------------------------- */

static struct stack *add_stack(struct folded *f, const uint32_t *frames, size_t n)
{
	size_t size = sizeof(struct stack) + n * sizeof(*frames);
	struct stack *stack = f->bytes + size > f->limit ? NULL : malloc(size);

	if (!stack)
		return NULL;
	*stack = (struct stack){ .n = (uint32_t)n };
	memcpy(stack->frames, frames, n * sizeof(*frames));
	HASH_ADD_KEYPTR(hh, f->stacks, stack->frames, n * sizeof(*frames), stack);
	if (HASH_LOST(stack)) {
		free(stack);
		return NULL;
	}
	f->bytes += size;
	f->count++;
	return stack;
}

/* The stack of these frames, which is created if it is new; NULL: out of memory, or over the limit. */
static struct stack *stack_of(struct folded *f, const uint32_t *frames, size_t n)
{
	struct stack *stack;

	HASH_FIND(hh, f->stacks, frames, n * sizeof(*frames), stack);
	return stack ? stack : add_stack(f, frames, n);
}

void folded_add(struct folded *f, const uint32_t *frames, size_t n, enum folded_order order,
		uint64_t weight)
{
	uint32_t root_first[MAX_DEPTH + 2];
	size_t used = 0, taken = n < MAX_DEPTH ? n : MAX_DEPTH;
	struct stack *stack;

	if (f->interval)
		root_first[used++] = f->interval;
	for (size_t i = 0; i < taken; i++)
		root_first[used++] = frames[order == FOLDED_ROOT_FIRST ? i : n - 1 - i];
	if (taken < n)
		root_first[used++] = folded_frame(f, cut, FOLDED_UNKNOWN);
	if (!n)
		root_first[used++] = folded_frame(f, unknown, FOLDED_UNKNOWN);
	stack = stack_of(f, root_first, used);
	if (weight > UINT64_MAX - f->total)   /* sums saturate at UINT64_MAX */
		weight = UINT64_MAX - f->total;
	*(stack ? &stack->weight : &f->overflow) += weight;
	f->total += weight;
}

/* ---- two measurements ------------------------------------------------------------------ */

/* The frame with this name, of the first kind that there is; LOST: none. */
static uint32_t frame_of_any_kind(const struct folded *f, const char *text)
{
	uint32_t frame = LOST;
	struct name *name;

	HASH_FIND(hh, f->names, text, strlen(text), name);
	for (int kind = 0; name && !frame && kind < FOLDED_KINDS; kind++)
		frame = name->frames[kind];
	return frame;
}

static void join_stack(struct folded *f, struct stack *stack)
{
	struct stack *joined;

	for (size_t i = 0; i < stack->n; i++)
		stack->frames[i] = frame_of_any_kind(f, f->frames[stack->frames[i]].name ?
						     f->frames[stack->frames[i]].name->key : "");
	joined = stack_of(f, stack->frames, stack->n);
	*(joined ? &joined->weight : &f->overflow) += stack->weight;
}

/* Stacks that differ only in the kinds of frames become one, such as those of a function that is inlined in one place. */
static void join_kinds(struct folded *f)
{
	struct stack *all = f->stacks, *stack, *next;

	f->stacks = NULL;
	f->count = 0;
	HASH_ITER(hh, all, stack, next) {
		HASH_DEL(all, stack);
		f->bytes -= sizeof(*stack) + stack->n * sizeof(*stack->frames);
		join_stack(f, stack);
		free(stack);
	}
}

/* How the frames of an earlier measurement are matched. */
struct matching {
	bool by_name;
	struct lambda *before, *after;
	size_t nbefore;
};

/* Without memory, they stay unmatched. */
static size_t lambdas_of(const struct folded *f, struct lambda **out)
{
	size_t n = 0;

	*out = calloc(HASH_COUNT(f->names) + 1, sizeof(**out));
	for (const struct name *name = *out ? f->names : NULL; name; name = name->hh.next)
		if (lambda_has_place(name->shown))
			(*out)[n++] = (struct lambda){ .name = name->shown, .file = "" };
	return n;
}

static struct matching match(const struct folded *f, const struct folded *old)
{
	struct matching m = { .by_name = f->is_text || old->is_text };
	const size_t nafter = lambdas_of(f, &m.after);

	m.nbefore = lambdas_of(old, &m.before);
	lambdas_pair(m.before, m.nbefore, m.after, nafter);
	return m;
}

static uint32_t frame_now(struct folded *f, const struct folded *old, uint32_t frame, const struct matching *m)
{
	const char *name = folded_frame_name(old, frame), *now = lambda_now(m->before, m->nbefore, name);
	uint32_t same;

	name = now ? now : name;
	same = m->by_name ? frame_of_any_kind(f, name) : LOST;
	return same ? same : folded_frame(f, name, folded_frame_kind(old, frame));
}

static void add_before(struct folded *f, const struct folded *old, const struct folded_renamed *root, const struct matching *m)
{
	for (const struct stack *s = old->stacks; s; s = s->hh.next) {
		uint32_t frames[MAX_DEPTH + 2];
		struct stack *stack;

		for (size_t i = 0; i < s->n; i++)
			frames[i] = frame_now(f, old, s->frames[i], m);
		if (root && root->after && s->frames[0] == root->before)
			frames[0] = root->after;
		stack = stack_of(f, frames, s->n);
		*(stack ? &stack->before : &f->before_overflow) += s->weight;
	}
}

void folded_compare(struct folded *f, const struct folded *old, const struct folded_renamed *root)
{
	struct matching m = match(f, old);

	if (m.by_name)
		join_kinds(f);
	add_before(f, old, root, &m);
	f->before_overflow += old->overflow;
	f->before += old->total;
	free(m.before);
	free(m.after);
}

/* The root with the most weight; LOST: there are no stacks, or memory ran out. */
static uint32_t main_root(const struct folded *f)
{
	uint64_t *weights = calloc(f->nframes + 1, sizeof(*weights)), most = 0;
	uint32_t root = LOST;

	for (const struct stack *s = weights ? f->stacks : NULL; s; s = s->hh.next) {
		uint64_t weight = weights[s->frames[0]] += s->weight;

		if (weight > most) {
			most = weight;
			root = s->frames[0];
		}
	}
	free(weights);
	return root;
}

static bool has_root(const struct folded *f, const char *name)
{
	for (const struct stack *s = f->stacks; s; s = s->hh.next)
		if (!strcmp(folded_frame_name(f, s->frames[0]), name))
			return true;
	return false;
}

bool folded_root_renamed(const struct folded *f, const struct folded *old, struct folded_renamed *root)
{
	*root = (struct folded_renamed){ main_root(old), main_root(f) };
	return root->before && root->after && !f->interval && !has_root(f, folded_frame_name(old, root->before)) &&
	       !has_root(old, folded_frame_name(f, root->after));
}

static bool has_inlined(const struct folded *f)
{
	for (size_t i = 0; i < f->nframes; i++)
		if (f->frames[i].kind == FOLDED_INLINED)
			return true;
	return false;
}

enum folded_inlined folded_inlined(const struct folded *f)
{
	if (f->has_inlined || has_inlined(f))
		return FOLDED_HAS_INLINED;
	return f->is_text && !f->lacks_inlined ? FOLDED_INLINED_UNKNOWN : FOLDED_NO_INLINED;
}

void folded_set_inlined(struct folded *f, bool has)
{
	*(has ? &f->has_inlined : &f->lacks_inlined) = true;
}

void folded_mark_text(struct folded *f)
{
	f->is_text = true;
}

void folded_interval(struct folded *f, const char *time)
{
	f->interval = time ? folded_frame(f, time, FOLDED_TIME) : LOST;
}

void folded_limit(struct folded *f, size_t bytes)
{
	f->limit = bytes;
}

uint64_t folded_total(const struct folded *f)
{
	return f->total;
}

uint64_t folded_before(const struct folded *f)
{
	return f->before;
}

uint64_t folded_overflow(const struct folded *f)
{
	return f->overflow;
}

void folded_sampled(struct folded *f, const char *event, uint64_t n, uint64_t weight, double squares)
{
	if (!n)
		return;
	f->sampled.mixed |= f->sampled.n && strcmp(f->sampled.event, event);
	snprintf(f->sampled.event, sizeof(f->sampled.event), "%s", event);
	f->sampled.n += n;
	f->sampled.weight += weight;
	f->sampled.squares += squares;
}

bool folded_samples(const struct folded *f, struct folded_samples *out)
{
	double weight = (double)f->total;

	if (!f->sampled.n || f->sampled.mixed || f->sampled.weight != f->total || !(f->sampled.squares > 0))
		return false;
	*out = (struct folded_samples){ .n = f->sampled.n, .alike = weight * weight / f->sampled.squares };
	snprintf(out->event, sizeof(out->event), "%s", f->sampled.event);
	return true;
}

void folded_timed(struct folded *f, uint64_t weight)
{
	f->timed += weight;
}

bool folded_is_time(const struct folded *f)
{
	return f->total && f->timed == f->total;
}

void folded_of_command(struct folded *f, uint64_t weight)
{
	f->of_command += weight;
	f->ncommands++;
}

bool folded_is_of_command(const struct folded *f)
{
	return f->total && f->ncommands == 1 && f->of_command == f->total;
}

/* ---- builds ----------------------------------------------------------------------------- */

enum { FILE_SIZE = 1024 };

/* The file of "gzip+0x4290", escaped, as a word without the separators of builds. Returns its length; 0: there is none. */
static size_t file_of(const char *function, char file[FILE_SIZE])
{
	const char *at = strrchr(function, '+');
	size_t len = at ? (size_t)(at - function) : 0;

	if (4 * len >= FILE_SIZE)
		return 0;
	len = escape_terminal(function, len, file, FILE_SIZE);
	for (size_t i = 0; i < len; i++)
		if (strchr(" ,:;", file[i]))
			file[i] = '_';
	return len;
}

void folded_set_build(struct folded *f, const char *function, const char *build)
{
	char file[FILE_SIZE];
	const size_t len = file_of(function, file);
	struct build *b;

	if (!len)
		return;
	HASH_FIND(hh, f->builds, file, len, b);
	if (b) {
		if (strcmp(b->build, build))
			*b->build = '\0';
		return;
	}
	b = f->bytes + sizeof(*b) + len < f->limit ? calloc(1, sizeof(*b) + len + 1) : NULL;
	if (!b)
		return;
	f->bytes += sizeof(*b) + len;
	memcpy(b->file, file, len);
	snprintf(b->build, sizeof(b->build), "%s", build);
	HASH_ADD(hh, f->builds, file, len, b);
	if (HASH_LOST(b)) {
		f->bytes -= sizeof(*b) + len;
		free(b);
	}
}

/* Stacks from several files, or without the line that belongs to them, may be of several builds. */
static bool has_builds(const struct folded *f)
{
	return f->builds && (!f->is_text || f->built == f->total);
}

const char *folded_build(const struct folded *f, const char *function)
{
	char file[FILE_SIZE];
	const size_t len = has_builds(f) ? file_of(function, file) : 0;
	struct build *b = NULL;

	if (len)
		HASH_FIND(hh, f->builds, file, len, b);
	return b ? b->build : "";
}

void folded_print_builds(const struct folded *f, FILE *out)
{
	const char *before = " builds=";

	for (const struct build *b = has_builds(f) ? f->builds : NULL; b; b = b->hh.next) {
		if (!*b->build)
			continue;
		fprintf(out, "%s%s:%s", before, b->file, b->build);
		before = ",";
	}
}

void folded_take_builds(struct folded *f, const char *text, uint64_t weight)
{
	char one[FILE_SIZE + 1], build[FOLDED_BUILD_SIZE];

	f->built += weight;
	for (text += strlen(" builds=");; text++) {
		const size_t file = strcspn(text, ":, "), after = text[file] == ':' ? strcspn(text + file + 1, ":, ") : 0;

		if (!file || !after || file >= FILE_SIZE || after >= sizeof(build))
			return;
		snprintf(one, sizeof(one), "%.*s+", (int)file, text);
		snprintf(build, sizeof(build), "%.*s", (int)after, text + file + 1);
		folded_set_build(f, one, build);
		text += file + 1 + after;
		if (*text != ',')
			return;
	}
}

/* ---- in order --------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y, void *arg)
{
	const struct folded *f = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(folded_frame_name(f, a), folded_frame_name(f, b));

	return order ? order : a < b ? -1 : a > b;
}

/* For each frame number, its position in the order of names. */
static uint32_t *rank_names(const struct folded *f)
{
	uint32_t *sorted = calloc(f->nframes + 1, sizeof(*sorted));
	uint32_t *ranks = calloc(f->nframes + 1, sizeof(*ranks));

	for (size_t i = 0; sorted && i < f->nframes; i++)
		sorted[i] = (uint32_t)i;
	if (sorted && ranks && f->nframes)
		qsort_r(sorted, f->nframes, sizeof(*sorted), by_name, (void *)f);
	for (size_t i = 0; sorted && ranks && i < f->nframes; i++)
		ranks[sorted[i]] = (uint32_t)i;
	free(sorted);
	return ranks;
}

static int by_ranks(const void *x, const void *y, void *arg)
{
	const struct folded_stack *a = x, *b = y;
	const uint32_t *ranks = arg;

	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (a->frames[i] != b->frames[i])
			return ranks[a->frames[i]] < ranks[b->frames[i]] ? -1 : 1;
	return a->n < b->n ? -1 : a->n > b->n;
}

struct folded_stack *folded_stacks(const struct folded *f, size_t *n)
{
	struct folded_stack *stacks = calloc(f->count + 1, sizeof(*stacks));
	uint32_t *ranks = rank_names(f);

	*n = 0;
	if (!stacks || !ranks) {
		free(stacks);
		free(ranks);
		return NULL;
	}
	for (const struct stack *s = f->stacks; s; s = s->hh.next)
		stacks[(*n)++] = (struct folded_stack){ s->frames, s->n, s->weight, s->before };
	if (*n)
		qsort_r(stacks, *n, sizeof(*stacks), by_ranks, ranks);
	free(ranks);
	return stacks;
}
