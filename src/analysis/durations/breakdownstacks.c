/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/breakdownstacks.h"

#include "analysis/durations/breakdownparts.h"
#include "base/escape.h"
#include "base/units.h"
#include "engine/framefold.h"
#include "report/json.h"

#include <stdio.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------- */

/* Waits with the same stack on the same object, whoever ended them; or, without stacks, those on the same object. */
struct merged {
	const struct breakdown_wait *longest;
	bool others;                 /* who ended them, too */
	uint64_t times, ns;
};

static struct merged *find(struct merged *all, size_t n, const struct breakdown_wait *wait, bool by_stack)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].longest->part == wait->part && all[i].longest->on == wait->on &&
		    (!by_stack || all[i].longest->stack == wait->stack))
			return &all[i];
	return NULL;
}

static void merge(struct merged *m, const struct breakdown_wait *wait)
{
	m->others |= m->longest && m->longest->waker != wait->waker;
	if (!m->longest || wait->ns > m->longest->ns)
		m->longest = wait;
	m->times += wait->times;
	m->ns += wait->ns;
}

static int longer(const void *x, const void *y)
{
	const struct merged *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Longest first, to be freed. NULL: none, or out of memory. */
static struct merged *merge_all(const struct breakdown_sums *sums, bool by_stack, size_t *count)
{
	struct merged *all = sums->nwaits ? calloc(sums->nwaits, sizeof(*all)) : NULL;
	size_t n = 0;

	for (size_t i = 0; all && i < sums->nwaits; i++) {
		struct merged *m = find(all, n, &sums->waits[i], by_stack);

		merge(m ? m : &all[n++], &sums->waits[i]);
	}
	if (n)
		qsort(all, n, sizeof(*all), longer);
	*count = n;
	return all;
}

size_t breakdown_put_objects(const struct breakdown *b, const struct breakdown_sums *sums, enum breakdown_part part, char *buf,
			     size_t size)
{
	enum { NAMED = 3 };
	size_t n, len = 0, seen = 0;
	struct merged *all = merge_all(sums, false, &n);

	*buf = '\0';
	for (size_t i = 0; i < n; i++) {
		if (all[i].longest->part != part || !all[i].longest->on)
			continue;
		if (seen++ < NAMED && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s %.3f", seen > 1 ? ", " : "",
						words_text(&b->words, all[i].longest->on), (double)all[i].ns / 1e3);
	}
	if (seen > NAMED && len < size)
		len += (size_t)snprintf(buf + len, size - len, " and %zu more", seen - NAMED);
	free(all);
	return len;
}

/* ---- kinds ------------------------------------------------------------------------------ */

/* What the stack says; if it says nothing, what the call does. */
static waitkinds_set kinds_of(const struct breakdown *b, const struct breakdown_wait *wait)
{
	waitkinds_set kinds = 0;

	if (wait->stack) {
		callstacks_expand(b->states.question.a->stacks, wait->stack);
		kinds = waitkind_of_stack(wait->stack);
	}
	return kinds ? kinds : waitkinds_get(&b->kinds, wait->on);
}

struct kind {
	waitkinds_set kinds;
	uint64_t ns;
};

static int longer_kind(const void *x, const void *y)
{
	const struct kind *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* The longest one first; `all` has room for all waits. Returns how many there are. */
static size_t add_kinds(const struct breakdown *b, const struct breakdown_sums *sums, struct kind *all)
{
	size_t n = 0;

	for (size_t i = 0; i < sums->nwaits; i++) {
		const waitkinds_set kinds = kinds_of(b, &sums->waits[i]);
		size_t k = 0;

		while (k < n && all[k].kinds != kinds)
			k++;
		n += k == n;
		all[k].kinds = kinds;
		all[k].ns += sums->waits[i].ns;
	}
	qsort(all, n, sizeof(*all), longer_kind);
	return n;
}

void breakdown_kinds_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose)
{
	struct kind *all = b->shows_on && sums->nwaits ? calloc(sums->nwaits, sizeof(*all)) : NULL;
	const size_t n = all ? add_kinds(b, sums, all) : 0;
	char buf[WAITKIND_SIZE];

	if (n)
		printf("waited%s on: ", whose);
	for (size_t i = 0; i < n; i++) {
		const char *kind = waitkind_text(all[i].kinds, buf, sizeof(buf));

		printf("%s%s %.3f ms (%.2f%%)", i ? ", " : "", kind ? kind : "other", (double)all[i].ns / 1e6,
		       sums->total ? 100 * (double)all[i].ns / (double)sums->total : 0.0);
	}
	if (n)
		putchar('\n');
	free(all);
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* A stack has up to 20 lines. */
static bool is_worth(uint64_t ns, uint64_t total)
{
	return (double)ns * 1000 >= (double)total;
}

static const char *shown(const struct breakdown *b, uint64_t number, char *buf, size_t size)
{
	const char *text = words_text(&b->words, number);

	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

/* " 14.86%  asleep (S) in futex queue (/tmp/server), 8 times, 148.382 ms, woken by housekeeper" */
static void print_merged(const struct breakdown *b, const struct merged *m, uint64_t total)
{
	const uint64_t on = m->longest->on;
	char waker[4 * WORD_SIZE], object[4 * WORD_SIZE];

	printf("%6.2f%%  %s%s%s, %llu time%s, %.3f ms, woken by %s%s\n", total ? 100 * (double)m->ns / (double)total : 0.0,
	       breakdown_part_words(m->longest->part), on ? " in " : "", on ? shown(b, on, object, sizeof(object)) : "",
	       (unsigned long long)m->times, units_plural(m->times), (double)m->ns / 1e6,
	       shown(b, m->longest->waker, waker, sizeof(waker)), m->others ? " and others" : "");
	if (!m->longest->stack)
		puts("    (the stack is not known)");
	analysis_print_stack(b->states.question.a, m->longest->stack);
}

void breakdown_stacks_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose)
{
	enum { MOST = 10 };
	const bool full = b->states.question.a->opts->full;
	size_t n, printed = 0;
	struct merged *all = merge_all(sums, true, &n);

	if (n)
		printf("\nstacks that slept or were blocked in %s (%% of their %.3f ms)\n", whose, (double)sums->total / 1e6);
	for (; printed < n && (full || (printed < MOST && is_worth(all[printed].ns, sums->total))); printed++)
		print_merged(b, &all[printed], sums->total);
	if (n > printed)
		printf("... %zu more (--full shows all)\n", n - printed);
	free(all);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static bool put_stack(const struct breakdown *b, struct callstack *stack, struct json_object *to)
{
	char *text;
	bool good;

	if (!stack)
		return true;
	callstacks_expand(b->states.question.a->stacks, stack);
	text = framefold_text(stack);
	good = text && json_put_text(to, "stack", text);
	free(text);
	return good;
}

static bool put_wait(const struct breakdown *b, const struct breakdown_wait *wait, struct json_object *all)
{
	struct json_object *one = json_object_new_object();
	char kind[WAITKIND_SIZE];

	return json_append(all, one) && json_put_text(one, "state", breakdown_part_name(wait->part)) &&
	       json_put_text(one, "waker", words_text(&b->words, wait->waker)) &&
	       json_put_text(one, "on", wait->on ? words_text(&b->words, wait->on) : NULL) &&
	       json_put_text(one, "kind", b->shows_on ? waitkind_text(kinds_of(b, wait), kind, sizeof(kind)) : NULL) &&
	       json_put_unsigned(one, "times", wait->times) && json_put_unsigned(one, "total", wait->ns) && put_stack(b, wait->stack, one);
}

static int longest_first(const void *x, const void *y)
{
	const struct breakdown_wait *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

struct json_object *breakdown_stacks_json(const struct breakdown *b, const struct breakdown_sums *sums)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	if (sums->nwaits)
		qsort(sums->waits, sums->nwaits, sizeof(*sums->waits), longest_first);
	for (size_t i = 0; i < sums->nwaits && good; i++)
		good = put_wait(b, &sums->waits[i], all);
	if (good)
		return all;
	json_object_put(all);
	return NULL;
}
