/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitstacks.h"

#include "analysis/durations/words.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/units.h"
#include "engine/framefold.h"
#include "report/table.h"

#include <errno.h>

enum { MAX_STACKS = 1 << 17, MAX_FRAMES = 256 };

struct waitstack {
	struct waitstacks_key key;
	uint64_t ns, waits;
	UT_hash_handle hh;
};

void waitstacks_add(struct waitstacks *w, const struct waitstacks_key *key, uint64_t ns)
{
	struct waitstack *one;

	w->total += ns;
	HASH_FIND(hh, w->all, key, sizeof(*key), one);
	if (!one && HASH_COUNT(w->all) < MAX_STACKS && (one = calloc(1, sizeof(*one)))) {
		one->key = *key;
		HASH_ADD(hh, w->all, key, sizeof(one->key), one);
		one = HASH_KEPT(one);
	}
	if (!one) {
		w->refused += ns;
		return;
	}
	one->ns += ns;
	one->waits++;
}

void waitstacks_free(struct waitstacks *w)
{
	HASH_FREE(w->all);
	*w = (struct waitstacks){ 0 };
}

static int heavier(const struct waitstack *a, const struct waitstack *b)
{
	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Heaviest first, with the names that came late. */
static void prepare(struct analysis *a, struct waitstacks *w)
{
	HASH_SORT(w->all, heavier);
	for (struct waitstack *one = w->all; one; one = one->hh.next) {
		if (one->key.waits)
			callstacks_expand(a->stacks, one->key.waits);
		if (one->key.wakes)
			callstacks_expand(a->stacks, one->key.wakes);
	}
}

static const char *shown(const struct words *words, uint64_t number, char *buf, size_t size)
{
	const char *text = words_text(words, number);

	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

void waitstacks_print(struct analysis *a, struct waitstacks *w, const struct words *words, unsigned int n)
{
	char waiter[4 * WORD_SIZE], waker[4 * WORD_SIZE];

	prepare(a, w);
	if (w->all)
		printf("\nlongest waits, by stack\n");
	for (const struct waitstack *one = w->all; one && n--; one = one->hh.next) {
		printf("%6.2f%%  %s waits, %llu time%s, %.3f ms\n", 100 * (double)one->ns / (double)w->total,
		       shown(words, one->key.waiter, waiter, sizeof(waiter)), (unsigned long long)one->waits,
		       units_plural(one->waits), (double)one->ns / 1e6);
		analysis_print_stack(a, one->key.waits);
		printf("         until woken by %s\n", shown(words, one->key.waker, waker, sizeof(waker)));
		analysis_print_stack(a, one->key.wakes);
	}
	if (w->refused)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the time is missing from the stacks: too many different stacks\n",
			a->ops->name, 100 * (double)w->refused / (double)w->total);
}

/* ---- for programs ------------------------------------------------------------------------ */

static void put_folded(struct table *t, const struct callstack *stack)
{
	char *text = framefold_text(stack);

	table_text(t, text);
	free(text);
}

void waitstacks_json(struct analysis *a, struct waitstacks *w, const struct words *words)
{
	static const struct table_column columns[] = {
		{ "waiter", TABLE_TEXT }, { "waker", TABLE_TEXT }, { "calls", TABLE_INTEGER }, { "total", TABLE_DURATION },
		{ "waits", TABLE_TEXT }, { "wakes", TABLE_TEXT },
	};
	struct table t;

	prepare(a, w);
	table_init(&t, "wait stacks", columns, sizeof(columns) / sizeof(*columns));
	for (const struct waitstack *one = w->all; one; one = one->hh.next) {
		table_row(&t);
		table_text(&t, words_text(words, one->key.waiter));
		table_text(&t, words_text(words, one->key.waker));
		table_unsigned(&t, one->waits);
		table_unsigned(&t, one->ns);
		put_folded(&t, one->key.waits);
		put_folded(&t, one->key.wakes);
	}
	if (table_json(&t, NULL, stdout) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table of stacks\n", a->ops->name);
	table_free(&t);
}

/* ---- the picture ------------------------------------------------------------------------- */

static void fold(const struct waitstack *one, const struct words *words, struct folded *f)
{
	const struct callstack *waits = one->key.waits, *wakes = one->key.wakes;
	uint32_t frames[2 * MAX_FRAMES + 2];
	char text[WORD_SIZE + 32];
	size_t n = 0;

	frames[n++] = folded_frame(f, words_text(words, one->key.waiter), FOLDED_TASK);
	for (uint32_t i = waits ? waits->n < MAX_FRAMES ? waits->n : MAX_FRAMES : 0; i--;)
		frames[n++] = framefold(f, waits->frames[i]);
	snprintf(text, sizeof(text), "[woken by %s]", words_text(words, one->key.waker));
	frames[n++] = folded_frame(f, text, FOLDED_BLOCKED);
	for (uint32_t i = 0; wakes && i < wakes->n && i < MAX_FRAMES; i++)
		frames[n++] = framefold(f, wakes->frames[i]);
	folded_add(f, frames, n, FOLDED_ROOT_FIRST, one->ns);
}

void waitstacks_fold(struct analysis *a, struct waitstacks *w, const struct words *words, struct folded *f)
{
	prepare(a, w);
	for (const struct waitstack *one = w->all; one; one = one->hh.next)
		fold(one, words, f);
}
