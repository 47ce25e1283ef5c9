/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/hotspots_private.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HOTSPOTS = 1 << 21, MAX_FRAMES = 1024 };

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))
#define AT(member) offsetof(struct analysis_opts, member)

static int parse_rows(const char *text, void *field, struct fault *f)
{
	uint64_t *rows = field;
	char *end;

	*rows = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && *rows && *rows <= UINT32_MAX)
		return 0;
	return fault_usage(f, "--rows %s: expected a number of rows, 1 or more", text);
}

static int parse_sort(const char *text, void *field, struct fault *f)
{
	static const char *const words[] = { "comm", "pid", "cpu", "symbol", "line", "dso" };
	uint64_t *by = field;

	*by = 0;
	for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		const size_t len = strcspn(word, ",");
		size_t i = 0;

		while (i < ARRAY(words) && (strlen(words[i]) != len || memcmp(words[i], word, len)))
			i++;
		if (i == ARRAY(words))
			return fault_usage(f, "--sort %s: \"%.*s\" makes no rows; expected some of comm, pid, cpu, symbol, line, dso, "
					   "with commas between", text, (int)len, word);
		*by |= 1u << i;
	}
	return 0;
}

const struct opt hotspots_opts[] = {
	{ "rows", 0, NULL, OPT_CALL, AT(rows), "N", "Show the N hottest rows. Default: 30; JSON has all.", false, parse_rows },
	{ "sort", 0, NULL, OPT_CALL, AT(sort), "KEY[,KEY...]",
	  "Make a row for each combination of these: comm (task name), pid, cpu, symbol (function), line (of source), dso "
	  "(program or library). Default: symbol,dso.", false, parse_sort },
	{ "inline-rows", 0, NULL, OPT_FLAG, AT(inline_rows), NULL,
	  "Give inlined functions rows of their own. Default: list them below the function that contains them, as "
	  "part of it.", false, NULL },
};

struct task_name {
	UT_hash_handle hh;
	uint64_t measured;           /* ns: hotspots_measure() */
	uint64_t sampled;            /* weight of its samples */
	char text[];
};

void hotspots_free(struct hotspots *h)
{
	HASH_FREE(h->all);
	HASH_FREE(h->names);
	*h = (struct hotspots){ .nmore = h->nmore };
}

/* The entry for a task's name. NULL: out of memory. */
static struct task_name *keep(struct hotspots *h, const char *comm)
{
	size_t len = strlen(comm);
	struct task_name *name;

	if (h->recent && !strcmp(h->recent->text, comm))
		return h->recent;
	HASH_FIND(hh, h->names, comm, len, name);
	if (name)
		return h->recent = name;
	name = calloc(1, sizeof(*name) + len + 1);
	if (!name)
		return NULL;
	memcpy(name->text, comm, len);
	HASH_ADD(hh, h->names, text, len, name);
	return HASH_KEPT(name);
}

static struct hotspot *spot_of(struct hotspots *h, const struct hotspot_key *key)
{
	struct hotspot *spot = NULL;

	HASH_FIND(hh, h->all, key, sizeof(*key), spot);
	if (spot || HASH_COUNT(h->all) >= MAX_HOTSPOTS)
		return spot;
	spot = calloc(1, sizeof(*spot) + h->nmore * sizeof(*spot->more));
	if (!spot)
		return NULL;
	spot->key = *key;
	HASH_ADD(hh, h->all, key, sizeof(*key), spot);
	return HASH_KEPT(spot);
}

static void refuse(struct hotspots *h, uint64_t weight, bool blocked)
{
	h->refused += weight;
	h->refused_blocked += blocked ? weight : 0;
}

/* NULL: the weight is counted as refused. */
static struct hotspot *add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight, bool blocked)
{
	struct task_name *name = keep(h, comm);
	struct hotspot_key key = { name ? name->text : "", stack, blocked, h->pid, h->cpu };
	struct hotspot *spot = stack ? spot_of(h, &key) : NULL;

	h->weight += weight;
	h->squares += (double)weight * (double)weight;
	if (blocked)
		h->blocked += weight;
	else if (name)
		name->sampled += weight;
	if (spot)
		spot->weight += weight;
	else
		refuse(h, weight, blocked);
	return spot;
}

void hotspots_see(struct hotspots *h, const struct analysis_sample *s, const struct analysis_opts *o)
{
	h->pid = o->sort & SORT_PID ? s->pid : 0;
	h->cpu = o->sort & SORT_CPU ? s->cpu : 0;
}

void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked)
{
	struct hotspot *spot = add(h, comm, stack, weight, blocked);

	h->samples++;
	if (spot)
		spot->samples++;
}

void hotspots_add_counts(struct hotspots *h, const char *comm, struct callstack *stack, const uint64_t *counts)
{
	struct hotspot *spot = add(h, comm, stack, counts[0], false);

	h->samples += counts[0] > 0;
	if (!spot)
		return;
	spot->samples += counts[0] > 0;
	for (size_t i = 0; i < h->nmore; i++)
		spot->more[i] += counts[i + 1];
}

void hotspots_add_asleep(struct hotspots *h, const char *comm, uint64_t ns)
{
	struct task_name *name = keep(h, comm);
	const struct hotspot_key key = { name ? name->text : "", NULL, true };
	struct hotspot *spot = name ? spot_of(h, &key) : NULL;

	h->weight += ns;
	h->blocked += ns;
	if (spot)
		spot->weight += ns;
	else
		refuse(h, ns, true);
}

/* ---- measured time -------------------------------------------------------------------- */

void hotspots_measure(struct hotspots *h, const char *comm, uint64_t ns)
{
	struct task_name *name = ns ? keep(h, comm) : NULL;

	if (name)
		name->measured += ns;
}

static void name_unsampled(struct hotspots *h, const struct task_name *name)
{
	const struct hotspot_key key = { name->text, NULL, false };
	struct hotspot *spot = name->measured && !name->sampled ? spot_of(h, &key) : NULL;

	if (spot)
		spot->weight = name->measured;
}

/* The measured time per weight, over all names that have both. */
static double usual_rate(const struct hotspots *h)
{
	double measured = 0, sampled = 0;

	for (const struct task_name *name = h->names; name; name = name->hh.next)
		if (name->measured && name->sampled) {
			measured += (double)name->measured;
			sampled += (double)name->sampled;
		}
	return sampled > 0 ? measured / sampled : 1;
}

static double rate_of(const struct hotspots *h, const char *comm, double usual)
{
	struct task_name *name;

	HASH_FIND(hh, h->names, comm, strlen(comm), name);
	return name && name->measured && name->sampled ? (double)name->measured / (double)name->sampled : usual;
}

void hotspots_spread(struct hotspots *h)
{
	double usual = usual_rate(h);

	h->weight = h->refused_blocked;
	for (struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		if (!spot->key.blocked)
			spot->weight = (uint64_t)((double)spot->weight * rate_of(h, spot->key.comm, usual) + 0.5);
	h->refused = h->refused_blocked;
	for (const struct task_name *name = h->names; name; name = name->hh.next)
		name_unsampled(h, name);
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		h->weight += spot->weight;
}

/* ---- stacks --------------------------------------------------------------------------- */

static const struct frame not_sampled = { .symbol = "[not sampled]", .dso = "" };
static const struct frame asleep = { .symbol = "[asleep throughout]", .dso = "" };
static const struct frame *const no_frames[] = { &not_sampled, &asleep };
static struct callstack nowhere[] = { { 1, &no_frames[0], NULL }, { 1, &no_frames[1], NULL } };

const struct callstack *hotspot_stack(const struct hotspot *spot)
{
	return spot->key.stack ? spot->key.stack : &nowhere[spot->key.blocked];
}

void hotspots_expand(struct analysis *a, struct hotspots *h)
{
	for (struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		if (spot->key.stack)
			callstacks_expand(a->stacks, spot->key.stack);
}

/* ---- folded stacks -------------------------------------------------------------------- */

static enum folded_kind kind_of(const struct frame *frame)
{
	if (!frame->symbol || frame == &not_sampled)
		return FOLDED_UNKNOWN;
	return frame->kernel ? FOLDED_KERNEL : frame->inlined ? FOLDED_INLINED : FOLDED_USER;
}

static void fold(const struct hotspot *spot, struct folded *f)
{
	const struct callstack *stack = hotspot_stack(spot);
	uint32_t frames[MAX_FRAMES + 2];
	size_t n = 0;

	if (spot->key.blocked)
		frames[n++] = folded_frame(f, "[blocked]", FOLDED_BLOCKED);
	for (uint32_t i = 0; i < stack->n && i < MAX_FRAMES; i++) {
		const struct frame *frame = stack->frames[i];

		frames[n++] = folded_frame(f, frame->symbol, kind_of(frame));
	}
	frames[n++] = folded_frame(f, spot->key.comm, FOLDED_TASK);
	folded_add(f, frames, n, FOLDED_LEAF_FIRST, spot->weight);
}

void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f, const char *event)
{
	hotspots_expand(a, h);
	for (const struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		fold(spot, f);
	if (event)
		folded_sampled(f, event, h->samples, h->weight - h->refused, h->squares);
}

void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx)
{
	hotspots_expand(a, h);
	for (struct hotspot *spot = h->all; spot; spot = spot->hh.next)
		fn(ctx, hotspot_stack(spot), spot->weight);
}
