/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/breakdownstacks.h"

#include "base/escape.h"
#include "base/units.h"
#include "engine/framefold.h"
#include "report/json.h"

#include <stdio.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------- */

/* Waits with the same stack, whoever ended them. */
struct merged {
	const struct breakdown_wait *longest;
	bool others;                 /* who ended them, too */
	uint64_t times, ns;
};

static struct merged *find(struct merged *all, size_t n, const struct breakdown_wait *wait)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].longest->part == wait->part && all[i].longest->stack == wait->stack)
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

/* all: room for each wait. */
static size_t merge_all(const struct breakdown_sums *sums, struct merged *all)
{
	size_t n = 0;

	for (size_t i = 0; i < sums->nwaits; i++) {
		struct merged *m = find(all, n, &sums->waits[i]);

		merge(m ? m : &all[n++], &sums->waits[i]);
	}
	return n;
}

static int longer(const void *x, const void *y)
{
	const struct merged *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* A stack has up to 20 lines. */
static bool is_worth(uint64_t ns, uint64_t total)
{
	return (double)ns * 1000 >= (double)total;
}

/* " 14.86%  asleep (S), 8 times, 148.382 ms, woken by housekeeper" */
static void print_merged(const struct breakdown *b, const struct merged *m, uint64_t total)
{
	const char *waker = words_text(&b->words, m->longest->waker);
	char safe[4 * WORD_SIZE];

	escape_terminal(waker, strlen(waker), safe, sizeof(safe));
	printf("%6.2f%%  %s, %llu time%s, %.3f ms, woken by %s%s\n", total ? 100 * (double)m->ns / (double)total : 0.0,
	       breakdown_part_words(m->longest->part), (unsigned long long)m->times, units_plural(m->times), (double)m->ns / 1e6, safe,
	       m->others ? " and others" : "");
	if (!m->longest->stack)
		puts("    (the stack is not known)");
	analysis_print_stack(b->states.question.a, m->longest->stack);
}

void breakdown_stacks_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose)
{
	enum { MOST = 10 };
	struct merged *all = sums->nwaits ? calloc(sums->nwaits, sizeof(*all)) : NULL;
	const bool full = b->states.question.a->opts->full;
	const size_t n = all ? merge_all(sums, all) : 0;
	size_t shown = 0;

	if (n) {
		qsort(all, n, sizeof(*all), longer);
		printf("\nstacks that slept or were blocked in %s (%% of their %.3f ms)\n", whose, (double)sums->total / 1e6);
	}
	for (; shown < n && (full || (shown < MOST && is_worth(all[shown].ns, sums->total))); shown++)
		print_merged(b, &all[shown], sums->total);
	if (n > shown)
		printf("... %zu more (--full shows all)\n", n - shown);
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

	return json_append(all, one) && json_put_text(one, "state", breakdown_part_name(wait->part)) &&
	       json_put_text(one, "waker", words_text(&b->words, wait->waker)) && json_put_unsigned(one, "times", wait->times) &&
	       json_put_unsigned(one, "total", wait->ns) && put_stack(b, wait->stack, one);
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
