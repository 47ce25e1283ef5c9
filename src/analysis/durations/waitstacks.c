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
	*w = (struct waitstacks){ .because_of = w->because_of };
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

void waitstacks_find_kinds(struct analysis *a, struct waitstacks *w, struct waitkinds *kinds)
{
	prepare(a, w);
	w->kinds = kinds;
	for (const struct waitstack *one = w->all; one; one = one->hh.next)
		if (one->key.on)
			waitkinds_add(kinds, one->key.on, &(struct waitkinds_of){ .stacks = waitkind_of_stack(one->key.waits) });
}

static const char *shown(const struct words *words, uint64_t number, char *buf, size_t size)
{
	const char *text = words_text(words, number);

	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

/* Waits with the same stacks on the same object, whatever their tasks are called. If it is not known, tasks tell waits apart: short
 * stacks (read() of the C library) are the same in all programs. */
struct merged {
	struct waitstacks_key key;   /* with the object, without tasks */
	uint64_t waiter, waker;      /* those with the longest wait */
	bool waiters, wakers;        /* there are others */
	uint64_t ns, waits;
	UT_hash_handle hh;
};

/* A timer ended the wait, so that there is no task to look for. */
static bool is_sleep(const struct waitstack *one)
{
	enum { INNERMOST = 12 };
	const struct callstack *s = one->key.waits;

	for (uint32_t i = 0; s && i < s->n && i < INNERMOST; i++)
		if (s->frames[i]->symbol && strstr(s->frames[i]->symbol, "nanosleep"))
			return true;
	return false;
}

/* NULL: out of memory. */
static struct merged *merge(struct merged **all, const struct waitstack *one)
{
	const struct waitstacks_key of_object = { .on = one->key.on, .object = 1, .waits = one->key.waits, .wakes = one->key.wakes };
	const struct waitstacks_key key = one->key.object ? of_object : one->key;
	struct merged *m;

	HASH_FIND(hh, *all, &key, sizeof(key), m);
	if (!m && (m = calloc(1, sizeof(*m)))) {
		m->key = key;
		m->waiter = one->key.waiter;
		m->waker = one->key.waker;
		HASH_ADD(hh, *all, key, sizeof(m->key), m);
		m = HASH_KEPT(m);
	}
	if (!m)
		return NULL;
	m->waiters |= m->waiter != one->key.waiter;
	m->wakers |= m->waker != one->key.waker;
	m->ns += one->ns;
	m->waits += one->waits;
	return m;
}

/* A stack without callers, as by frame pointers in a library that has none, does not tell; then what is waited on may. */
static const char *kind_of(const struct waitstacks *w, const struct callstack *waits, uint64_t on, char *buf, size_t size)
{
	const waitkinds_set kinds = waitkind_of_stack(waits);

	return waitkind_text(kinds || !on || !w->kinds ? kinds : waitkinds_get(w->kinds, on), buf, size);
}

static int longer(const struct merged *a, const struct merged *b)
{
	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* of: of this time. A pair of an object has no number: waits are divided among pairs. */
static void print_merged(struct analysis *a, const struct waitstacks *w, const struct words *words, const struct merged *m, uint64_t of)
{
	char waiter[4 * WORD_SIZE], waker[4 * WORD_SIZE], on[4 * WORD_SIZE], buf[WAITKIND_SIZE];
	const char *kind = kind_of(w, m->key.waits, m->key.on, buf, sizeof(buf));

	printf("%6.2f%%  %s%s%s%s", 100 * (double)m->ns / (double)of, shown(words, m->waiter, waiter, sizeof(waiter)),
	       m->waiters ? " and others wait" : " waits", m->key.on ? " in " : "",
	       m->key.on ? shown(words, m->key.on, on, sizeof(on)) : "");
	if (kind)
		printf(" [%s]", kind);
	printf(", ");
	if (!m->key.object)
		printf("%llu time%s, ", (unsigned long long)m->waits, units_plural(m->waits));
	printf("%.3f ms\n", (double)m->ns / 1e6);
	if (!m->key.waits)
		puts("    (the stack is not known)");
	analysis_print_stack(a, m->key.waits);
	printf("         %s %s%s\n", w->because_of ? "because of" : "until woken by", shown(words, m->waker, waker, sizeof(waker)),
	       m->wakers ? " and others" : "");
	analysis_print_stack(a, m->key.wakes);
}

/* Those that are not printed. */
struct left_out {
	uint64_t stacks, sleeps, ns;
};

static struct merged *merge_all(struct analysis *a, struct waitstacks *w, struct left_out *out)
{
	struct merged *all = NULL;

	for (const struct waitstack *one = w->all; one; one = one->hh.next)
		if (is_sleep(one) && !a->opts->full) {
			out->sleeps += one->waits;
			out->ns += one->ns;
		} else if (!merge(&all, one)) {
			w->refused += one->ns;
		}
	HASH_SORT(all, longer);
	return all;
}

void waitstacks_print(struct analysis *a, struct waitstacks *w, const struct words *words, unsigned int n)
{
	struct left_out out = { 0 };
	struct merged *all;

	prepare(a, w);
	all = merge_all(a, w, &out);
	if (w->all)
		printf("\nlongest waits, by stack\n");
	for (const struct merged *m = all; m; m = m->hh.next)
		if (n || a->opts->full) {
			print_merged(a, w, words, m, w->total - out.ns);
			n -= n > 0;
		} else {
			out.stacks++;
		}
	if (out.sleeps)
		printf("sleeps are left out, also of the percentages: %llu, %.3f ms (--full shows them)\n",
		       (unsigned long long)out.sleeps, (double)out.ns / 1e6);
	if (out.stacks)
		printf("... %llu more (--full shows all)\n", (unsigned long long)out.stacks);
	HASH_FREE(all);
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
		{ "waiter", TABLE_TEXT }, { "waker", TABLE_TEXT }, { "on", TABLE_TEXT }, { "kind", TABLE_TEXT },
		{ "calls", TABLE_INTEGER }, { "total", TABLE_DURATION },
		{ "waits", TABLE_TEXT }, { "wakes", TABLE_TEXT },
	};
	char kind[WAITKIND_SIZE];
	struct table t;

	prepare(a, w);
	table_init(&t, "wait stacks", columns, sizeof(columns) / sizeof(*columns));
	for (const struct waitstack *one = w->all; one; one = one->hh.next) {
		table_row(&t);
		table_text(&t, words_text(words, one->key.waiter));
		table_text(&t, words_text(words, one->key.waker));
		table_text(&t, one->key.on ? words_text(words, one->key.on) : NULL);
		table_text(&t, kind_of(w, one->key.waits, one->key.on, kind, sizeof(kind)));
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

static void fold(const struct waitstacks *w, const struct waitstack *one, const struct words *words, bool by_object, struct folded *f)
{
	const struct callstack *waits = one->key.waits, *wakes = one->key.wakes;
	uint32_t frames[2 * MAX_FRAMES + 3];
	char text[WORD_SIZE + 32];
	size_t n = 0;

	if (by_object)
		frames[n++] = folded_frame(f, words_text(words, one->key.on), FOLDED_BLOCKED);
	frames[n++] = folded_frame(f, words_text(words, one->key.waiter), FOLDED_TASK);
	for (uint32_t i = waits ? waits->n < MAX_FRAMES ? waits->n : MAX_FRAMES : 0; i--;)
		frames[n++] = framefold(f, waits->frames[i]);
	if (one->key.on && !by_object)
		frames[n++] = folded_frame(f, words_text(words, one->key.on), FOLDED_BLOCKED);
	snprintf(text, sizeof(text), "[%s %s]", w->because_of ? "because of" : "woken by", words_text(words, one->key.waker));
	frames[n++] = folded_frame(f, text, FOLDED_BLOCKED);
	for (uint32_t i = 0; wakes && i < wakes->n && i < MAX_FRAMES; i++)
		frames[n++] = framefold(f, wakes->frames[i]);
	folded_add(f, frames, n, FOLDED_ROOT_FIRST, one->ns);
}

void waitstacks_fold(struct analysis *a, struct waitstacks *w, const struct words *words, bool by_object, struct folded *f)
{
	prepare(a, w);
	for (const struct waitstack *one = w->all; one; one = one->hh.next)
		if (!by_object || !is_sleep(one))
			fold(w, one, words, by_object, f);
}
